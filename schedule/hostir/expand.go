package hostir

import "ovgen/schedule"

// Expand returns the posts, waits and copies that a Communication, or a Post or Wait
// that carries a P2PCommunication, stands for, and other nodes as they are.
func Expand(n Node) []Node {
	switch n := n.(type) {
	case Post:
		if n.Comm != nil {
			return n.expand()
		}
	case Wait:
		if n.Comm != nil {
			return n.expand()
		}
	case Communication:
		return n.expand()
	}
	return []Node{n}
}

// copies says whether this side of the exchange is the one that copies.
func (c *P2PCommunication) copies() bool { return c.Send == (c.Protocol == schedule.Put) }

// expand: the side that does not copy says that its buffer is ready; the other
// waits for that, copies and says that it is done.
func (n Post) expand() []Node {
	c := n.Comm
	ready := Post{Origin: n.Origin, Stream: n.Stream, Semaphore: c.Ready, Index: c.Index, Peer: c.Peer, Kernel: n.Kernel}
	if !c.copies() {
		return []Node{ready}
	}
	move := Set{Origin: n.Origin, Stream: n.Stream, Dst: c.Buffer, Src: c.Remote, Kernel: c.CopyKernel}
	if c.Send {
		move.Dst, move.Src = c.Remote, c.Buffer
	}
	return []Node{
		Wait{Origin: n.Origin, Stream: n.Stream, Semaphore: c.Ready, Index: c.Index, Peer: c.Peer, Kernel: n.Kernel},
		move,
		Post{Origin: n.Origin, Stream: n.Stream, Semaphore: c.Done, Index: c.Index, Peer: c.Peer, Kernel: n.Kernel},
	}
}

// expand: the side that does not copy waits until the other is done; stream order
// has waited for the side that copies.
func (n Wait) expand() []Node {
	c := n.Comm
	if c.copies() {
		return nil
	}
	return []Node{Wait{Origin: n.Origin, Stream: n.Stream, Semaphore: c.Done, Index: c.Index, Peer: c.Peer, Kernel: n.Kernel}}
}

// peerIndex is the variable of the loop that a collective expands to.
const peerIndex = "q"

// expand: a collective is a get from every peer, r+1 first, between the posts that
// say that this rank's part may be read and has been. One that names no semaphores is
// the gets alone: the program has seen to the rest.
func (n Communication) expand() []Node {
	q := Var(peerIndex)
	from := Mod(Add(Rank, q), Size)
	part := func(chunk Expr) View {
		if !n.Out.Index.IsZero() && !n.Out.Index.Equal(Const(0)) {
			chunk = Add(n.Out.Index, chunk)
		}
		return View{Buffer: n.Out.Buffer, Index: chunk}
	}
	remote := n.In
	remote.Peer, remote.Alias = from, ""
	nodes := []Node{Set{Origin: n.Origin, Stream: n.Stream, Dst: part(Rank), Src: n.In}}
	get := Set{Origin: n.Origin, Stream: n.Stream, Dst: part(from), Src: remote, Kernel: n.CopyKernel}
	gets := For{Index: peerIndex, From: Const(1), To: Size, Body: []Node{get}}
	if n.Ready != "" {
		nodes = append([]Node{Post{Origin: n.Origin, Stream: n.Stream, Semaphore: n.Ready, Index: n.Index, Kernel: n.Kernel}}, nodes...)
		gets.Body = []Node{Wait{Origin: n.Origin, Stream: n.Stream, Semaphore: n.Ready, Index: n.Index, Peer: from, Kernel: n.Kernel}, get}
	}
	nodes = append(nodes, gets)
	if n.Done != "" {
		nodes = append(nodes, Post{Origin: n.Origin, Stream: n.Stream, Semaphore: n.Done, Index: n.Index, Kernel: n.Kernel})
	}
	return nodes
}

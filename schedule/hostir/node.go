package hostir

import (
	"fmt"

	"ovgen/schedule"
)

// Node is a step of a host program.
type Node interface {
	// Source says where the node comes from.
	Source() Origin
}

// Origin is what a node carries for readers: a remark, and the field of the
// schedule that asked for it.
type Origin struct{ Remark, Field string }

// Source returns the origin itself, so that whatever embeds it is a Node.
func (o Origin) Source() Origin { return o }

// StreamRef names a stream (main, copy), one of a set (work[i]), or a range of a
// set (work[1..D-1]), To being exclusive.
type StreamRef struct {
	Set      string
	Index    Expr // absent for a single stream
	From, To Expr // present for a range
}

// View is a buffer, or Count chunks of it from chunk Index on; this rank's or a peer's.
type View struct {
	Buffer string
	Index  Expr   // absent: the whole buffer
	Count  Expr   // absent: one chunk
	Padded bool   // a chunk with all its room
	Peer   Expr   // absent: this rank's
	Alias  string // name bound by Select, for print
}

// Allocate makes a tensor; it does nothing for one that the caller has bound.
type Allocate struct {
	Origin
	Buffer string
}

// GetCurrentStream names the stream of the caller.
type GetCurrentStream struct {
	Origin
	Name string
}

// For runs Body with Index from From up to, not including, To.
type For struct {
	Origin
	Index    string
	From, To Expr
	Body     []Node
}

// Let names a value for the rest of the body.
type Let struct {
	Origin
	Name  string
	Value Expr
}

// If runs Then where X equals Y, else Else.
type If struct {
	Origin
	X, Y       Expr
	Then, Else []Node
}

// Synchronize makes each of Streams wait for what each of On holds so far.
type Synchronize struct {
	Origin
	Streams, On []StreamRef
}

// ShareMemHandles exchanges IPC handles: of whole buffers (Setup), or of both sides
// of an exchange (in the loop, a cache hit after the first run).
type ShareMemHandles struct {
	Origin
	Buffers    []string
	Send, Recv *P2PCommunication
}

// P2PCommunication is one side of an exchange with a peer. Under the get protocol
// the receiver copies out of the sender's buffer, under put the sender copies into
// the receiver's.
type P2PCommunication struct {
	Send     bool
	Peer     Expr
	Protocol schedule.Protocol
	Buffer   View // what is sent, or where it is received
	Remote   View // for the side that copies: the other's buffer
	// Semaphores: the other side's buffer may be used (get: read, put: written); it
	// has been used. Index is the member of each, where they have several.
	Ready, Done string
	Index       Expr
	CopyKernel  bool // copy by an emitted kernel
}

// Communication is a collective of all ranks: each of them puts chunk r of Out on
// every rank (Allgather), which takes part with In.
type Communication struct {
	Origin
	Stream      StreamRef
	Kind        string // Allgather
	In, Out     View   // In: this rank's part; Out: D chunks from Index on
	Ready, Done string // semaphores as in P2PCommunication, under get; empty where the program signals
	Index       Expr
	CopyKernel  bool
	Kernel      bool // posts and waits by emitted kernels
}

// Post signals. With Comm it starts one side of an exchange, else it sets
// Semaphore at the peers.
type Post struct {
	Origin
	Stream    StreamRef
	Comm      *P2PCommunication
	Semaphore string
	Index     Expr // absent: the only member, or the first
	Peer      Expr // absent: every peer, r+1 first
	Kernel    bool // by an emitted kernel
}

// Wait blocks its stream until the peers have posted, and resets. With Comm it
// ends one side of an exchange.
type Wait struct {
	Origin
	Stream    StreamRef
	Comm      *P2PCommunication
	Semaphore string
	Index     Expr
	Peer      Expr // absent: every peer
	Kernel    bool
}

// Select names a slice of a buffer.
type Select struct {
	Origin
	Name string
	Of   View
}

// Set copies Src to Dst.
type Set struct {
	Origin
	Stream   StreamRef
	Dst, Src View
	Kernel   bool // by an emitted kernel, else by the copy engine
}

// Matmul is C = A * B, or C += A * B.
type Matmul struct {
	Origin
	Stream     StreamRef
	C, A, B    View
	Accumulate bool
}

// Linear is C = A * Bᵀ, plus Bias to each row where it is present, and GELU of
// that where asked for; or C += A * Bᵀ.
type Linear struct {
	Origin
	Stream        StreamRef
	C, A, B, Bias View
	Gelu          bool
	Accumulate    bool
}

// Gradient is C = Aᵀ * B, or C += Aᵀ * B: of a weight, summed over the rows of both.
type Gradient struct {
	Origin
	Stream     StreamRef
	C, A, B    View
	Accumulate bool
}

// Reduce is Dst = the sum of Terms in their order, in fp32 and rounded once, by an
// emitted kernel.
type Reduce struct {
	Origin
	Stream StreamRef
	Dst    View
	Terms  []Terms
}

// Terms is a view for each value of Index from From up to, not including, To; a
// view alone where Index is empty.
type Terms struct {
	View
	Index    string
	From, To Expr
}

// LaunchKernel is one emitted kernel that does what the nodes of Body do, one
// after the other, all on its stream: a post, a wait, one Set or Reduce, a post and a
// wait, each of which may be missing.
type LaunchKernel struct {
	Origin
	Stream StreamRef
	Name   string // get, put, ...: the template
	Body   []Node
}

// Check says that every node is of a kind that this package has. A kind of another's would
// pass through what looks for nodes of its own kinds, so Map, Walk, Streams and On panic
// at one: check first what lower has not made.
func Check(nodes []Node) error {
	for _, n := range nodes {
		var bodies [][]Node
		switch b := n.(type) {
		case For:
			bodies = [][]Node{b.Body}
		case If:
			bodies = [][]Node{b.Then, b.Else}
		case LaunchKernel:
			bodies = [][]Node{b.Body}
		default:
			if !bodiless(n) {
				return fmt.Errorf("there is no node of kind %T", n)
			}
		}
		for _, body := range bodies {
			if err := Check(body); err != nil {
				return err
			}
		}
	}
	return nil
}

// bodiless says that a node is of a kind that holds no others.
func bodiless(n Node) bool {
	switch n.(type) {
	case Allocate, GetCurrentStream, Let, Synchronize, ShareMemHandles, Communication, Post, Wait, Select, Set, Matmul, Linear, Gradient, Reduce:
		return true
	}
	return false
}

// unknown is the panic at a node of a kind that nothing is known of.
func unknown(what string, n Node) string {
	return fmt.Sprintf("hostir: %s of a node of kind %T", what, n)
}

// Map rebuilds a list of nodes: f returns what stands for a node, after its own
// bodies have been rebuilt.
func Map(nodes []Node, f func(Node) []Node) []Node {
	var out []Node
	for _, n := range nodes {
		switch b := n.(type) {
		case For:
			b.Body = Map(b.Body, f)
			n = b
		case If:
			b.Then, b.Else = Map(b.Then, f), Map(b.Else, f)
			n = b
		case LaunchKernel:
			b.Body = Map(b.Body, f)
			n = b
		default:
			if !bodiless(n) {
				panic(unknown("map", n))
			}
		}
		out = append(out, f(n)...)
	}
	return out
}

// Walk calls f for each node, outer nodes first.
func Walk(nodes []Node, f func(Node)) {
	for _, n := range nodes {
		f(n)
		switch b := n.(type) {
		case For:
			Walk(b.Body, f)
		case If:
			Walk(b.Then, f)
			Walk(b.Else, f)
		case LaunchKernel:
			Walk(b.Body, f)
		default:
			if !bodiless(n) {
				panic(unknown("walk", n))
			}
		}
	}
}

// Streams are those that a node itself names, empty for nodes that enqueue nothing.
func Streams(n Node) []StreamRef {
	switch n := n.(type) {
	case Synchronize:
		return append(append([]StreamRef{}, n.Streams...), n.On...)
	case Post:
		return []StreamRef{n.Stream}
	case Wait:
		return []StreamRef{n.Stream}
	case Set:
		return []StreamRef{n.Stream}
	case Matmul:
		return []StreamRef{n.Stream}
	case Linear:
		return []StreamRef{n.Stream}
	case Gradient:
		return []StreamRef{n.Stream}
	case Reduce:
		return []StreamRef{n.Stream}
	case LaunchKernel:
		return []StreamRef{n.Stream}
	case Communication:
		return []StreamRef{n.Stream}
	case For, If, Let, Allocate, GetCurrentStream, ShareMemHandles, Select:
		return nil
	}
	panic(unknown("streams", n))
}

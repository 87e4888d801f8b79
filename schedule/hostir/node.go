package hostir

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

// View is a buffer, a slice of it (chunk Index of its outermost part), or that of a peer.
type View struct {
	Buffer string
	Index  Expr   // absent: the whole buffer
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

// P2PCommunication is one side of an exchange with a peer under the get protocol:
// the receiver copies out of the sender's buffer.
type P2PCommunication struct {
	Send        bool
	Peer        Expr
	Buffer      View   // what is sent, or where it is received
	Remote      View   // for the receiver: the sender's buffer
	Ready, Read string // semaphores: the buffer may be read; it has been read
	CopyKernel  bool   // copy by an emitted kernel
}

// Post signals. With Comm it starts one side of an exchange, else it sets
// Semaphore at the peers.
type Post struct {
	Origin
	Stream    StreamRef
	Comm      *P2PCommunication
	Semaphore string
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

// Matmul is C = A * B.
type Matmul struct {
	Origin
	Stream  StreamRef
	C, A, B View
}

// Linear is C = A * Bᵀ, plus Bias to each row where it is present.
type Linear struct {
	Origin
	Stream        StreamRef
	C, A, B, Bias View
}

// Expand returns the semaphore form of a Post or Wait that carries a
// P2PCommunication, and other nodes as they are. Under get, to post a send is to say
// that the buffer is ready; to post a receive is to wait for that, copy and say that
// it was read; to wait for a send is to wait until it was read; a receive has been
// waited for by stream order.
func Expand(n Node) []Node {
	switch n := n.(type) {
	case Post:
		c := n.Comm
		if c == nil {
			return []Node{n}
		}
		if c.Send {
			return []Node{Post{Origin: n.Origin, Stream: n.Stream, Semaphore: c.Ready, Peer: c.Peer, Kernel: n.Kernel}}
		}
		return []Node{
			Wait{Origin: n.Origin, Stream: n.Stream, Semaphore: c.Ready, Peer: c.Peer, Kernel: n.Kernel},
			Set{Origin: n.Origin, Stream: n.Stream, Dst: c.Buffer, Src: c.Remote, Kernel: c.CopyKernel},
			Post{Origin: n.Origin, Stream: n.Stream, Semaphore: c.Read, Peer: c.Peer, Kernel: n.Kernel},
		}
	case Wait:
		c := n.Comm
		if c == nil {
			return []Node{n}
		}
		if c.Send {
			return []Node{Wait{Origin: n.Origin, Stream: n.Stream, Semaphore: c.Read, Peer: c.Peer, Kernel: n.Kernel}}
		}
		return nil
	}
	return []Node{n}
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
	}
	return nil
}

package hostir

import "slices"

// Node is one statement of a host program: For, If, Let, Synchronize, Share or Step. No other package defines nodes.
type Node interface {
	// Source says where the node comes from.
	Source() Origin
	// With is the node with its parts rewritten.
	With(Parts) Node
	node()
}

// Origin describes a node for readers: a remark, the field of the schedule that asked for the node, and the functions
// that the node applies. In a program of several moves it also has the tensor to whose move a step belongs, or the
// place where a chain gathers the tensor.
type Origin struct {
	Remark, Field, MoveOf string
	Applies               []Function
}

// Function names a function of the schedule: Ops[Op].Then[Then].
type Function struct{ Op, Then int }

// Source returns the origin itself.
func (o Origin) Source() Origin { return o }

// Parts says how to rewrite each part of a node. Parts without a function stay as they are.
// A word, a view or a stream is rewritten first, and then its expressions.
type Parts struct {
	Body   func([]Node) []Node
	Stream func(StreamRef) StreamRef
	Word   func(Word) Word
	View   func(role string, v View) View
	Expr   func(what string, e Expr) Expr // not called for an absent expression
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

// If runs Then where X equals Y, and Else where it does not.
type If struct {
	Origin
	X, Y       Expr
	Then, Else []Node
}

// Synchronize makes each of Streams wait for all work enqueued so far on each of On.
type Synchronize struct {
	Origin
	Streams, On []StreamRef
}

// Share exchanges IPC handles of Buffers between all ranks or, in a loop, with two peers: To gets this rank's handle,
// and From sends its handle (a cache hit after the first run). It enqueues nothing.
type Share struct {
	Origin
	Buffers  []string
	To, From Expr
}

func (For) node()         {}
func (Let) node()         {}
func (If) node()          {}
func (Synchronize) node() {}
func (Share) node()       {}
func (Step) node()        {}

// With rewrites the bounds and the body.
func (n For) With(p Parts) Node {
	n.From, n.To = p.expr("the bound of "+n.Index, n.From), p.expr("the bound of "+n.Index, n.To)
	n.Body = p.body(n.Body)
	return n
}

// With rewrites the value.
func (n Let) With(p Parts) Node {
	n.Value = p.expr(n.Name+" =", n.Value)
	return n
}

// With rewrites the condition and both branches.
func (n If) With(p Parts) Node {
	n.X, n.Y = p.expr("the branch on", n.X), p.expr("the branch on", n.Y)
	n.Then, n.Else = p.body(n.Then), p.body(n.Else)
	return n
}

// With rewrites the streams.
func (n Synchronize) With(p Parts) Node {
	n.Streams, n.On = p.streams(n.Streams), p.streams(n.On)
	return n
}

// With rewrites the peers.
func (n Share) With(p Parts) Node {
	n.To, n.From = p.expr("the peer that gets a handle", n.To), p.expr("the peer that sends a handle", n.From)
	return n
}

// With rewrites the stream, the words and the work.
func (n Step) With(p Parts) Node {
	n.Stream = p.stream(n.Stream)
	n.Pre, n.Post = p.words(n.Pre), p.words(n.Post)
	if n.Do != nil {
		n.Do = n.Do.with(p)
	}
	return n
}

func (p Parts) body(list []Node) []Node {
	if p.Body == nil {
		return list
	}
	return p.Body(list)
}

func (p Parts) expr(what string, e Expr) Expr {
	if p.Expr == nil || e.IsZero() {
		return e
	}
	return p.Expr(what, e)
}

func (p Parts) stream(s StreamRef) StreamRef {
	if p.Stream != nil {
		s = p.Stream(s)
	}
	if p.Expr == nil {
		return s
	}
	what := "stream " + s.Set
	s.Index, s.From, s.To = p.expr(what, s.Index), p.expr(what, s.From), p.expr(what, s.To)
	return s
}

func (p Parts) streams(list []StreamRef) []StreamRef {
	list = slices.Clone(list)
	for i, s := range list {
		list[i] = p.stream(s)
	}
	return list
}

func (p Parts) words(list []Word) []Word {
	list = slices.Clone(list)
	for i, w := range list {
		if p.Word != nil {
			w = p.Word(w)
		}
		if p.Expr != nil {
			w.Peer = p.expr("the peer of "+w.Semaphore, w.Peer)
			w.Index = p.expr("the member of "+w.Semaphore, w.Index)
		}
		list[i] = w
	}
	return list
}

func (p Parts) views(role string, list []View) []View {
	list = slices.Clone(list)
	for i, v := range list {
		list[i] = p.view(role, v)
	}
	return list
}

// view rewrites a view unless it is absent.
func (p Parts) view(role string, v View) View {
	if v.Buffer == "" {
		return v
	}
	if p.View != nil {
		v = p.View(role, v)
	}
	if p.Expr == nil {
		return v
	}
	v.Index = p.expr("the index of "+v.Buffer, v.Index)
	v.Count = p.expr("the number of chunks of "+v.Buffer, v.Count)
	v.Peer = p.expr("the peer of "+v.Buffer, v.Peer)
	v.Each.From = p.expr("the bound of "+v.Each.Index, v.Each.From)
	v.Each.To = p.expr("the bound of "+v.Each.Index, v.Each.To)
	return v
}

// StreamRef names a stream (main, copy), one stream of a set (work[i]), or a range of a set (work[1..D-1]), without To.
type StreamRef struct {
	Set      string
	Index    Expr // absent for a single stream
	From, To Expr // present for a range
}

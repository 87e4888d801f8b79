package ops

import (
	"fmt"
	"maps"

	"ovgen/schedule/hostir"
)

// Case is what a program is unrolled for.
type Case struct {
	Ranks       int   // D
	Rank        int   // r
	M, K, N     int64 // of the whole operation
	ElementSize int64 // bytes of an element
}

// Unroll lists what rank c.Rank enqueues for one run of p, in enqueue order.
func Unroll(p *hostir.Program, c Case) ([]Op, error) {
	u := &unroller{program: p, c: c, env: hostir.Env{
		"r": int64(c.Rank), "D": int64(c.Ranks), "M": c.M, "K": c.K, "N": c.N}}
	maps.Copy(u.env, p.Constants)
	u.add(Op{Kind: After, Stream: mainStream})
	u.nodes(p.Body)
	u.add(Op{Kind: Done, Stream: mainStream})
	if u.err != nil {
		return nil, fmt.Errorf("unroll %s for rank %d of %d: %w", p.Name, c.Rank, c.Ranks, u.err)
	}
	return u.list, nil
}

const mainStream = "main"

// unroller runs a program without doing it. The first error sticks.
type unroller struct {
	program *hostir.Program
	c       Case
	env     hostir.Env
	list    []Op
	events  int
	step    int
	// fresh holds, for each stream, the event that still marks all the stream holds.
	fresh map[string]int
	err   error
}

func (u *unroller) nodes(list []hostir.Node) {
	for _, n := range list {
		if u.err != nil {
			return
		}
		u.node(n)
	}
}

func (u *unroller) node(n hostir.Node) {
	switch n := n.(type) {
	case hostir.For:
		u.loop(n)
	case hostir.Let:
		u.env[n.Name] = u.eval(n.Value)
	case hostir.If:
		if u.eval(n.X) == u.eval(n.Y) {
			u.nodes(n.Then)
		} else {
			u.nodes(n.Else)
		}
	case hostir.Synchronize:
		u.synchronize(n)
	case hostir.Post, hostir.Wait:
		for _, e := range hostir.Expand(n) {
			u.signal(e)
		}
	case hostir.Set:
		u.set(n)
	case hostir.Matmul:
		u.product(n, n.Stream, n.C, n.A, n.B, hostir.View{})
	case hostir.Linear:
		u.product(n, n.Stream, n.C, n.A, n.B, n.Bias)
	case hostir.Allocate, hostir.GetCurrentStream, hostir.Select, hostir.ShareMemHandles:
		// Nothing is enqueued: memory is the plan's, names are inlined, and an
		// exchange in the loop is a cache hit.
	default:
		u.fail(fmt.Errorf("a %T has no operations", n))
	}
}

func (u *unroller) loop(l hostir.For) {
	from, to := u.eval(l.From), u.eval(l.To)
	outer, had := u.env[l.Index]
	for i := from; i < to && u.err == nil; i++ {
		u.env[l.Index] = i
		u.nodes(l.Body)
	}
	if delete(u.env, l.Index); had {
		u.env[l.Index] = outer
	}
}

// synchronize records an event on each stream waited for, unless one already marks
// all it holds, and makes the waiting streams wait.
func (u *unroller) synchronize(n hostir.Synchronize) {
	for _, s := range u.streams(n.Streams) {
		for _, on := range u.streams(n.On) {
			u.step++
			event, ok := u.fresh[on]
			if !ok {
				event = u.events
				u.events++
				u.add(Op{Kind: Record, Stream: on, Event: event, Step: u.step, Node: n})
				if u.fresh == nil {
					u.fresh = map[string]int{}
				}
				u.fresh[on] = event
			}
			u.add(Op{Kind: WaitEvent, Stream: s, Event: event, Step: u.step, Node: n})
		}
	}
}

// signal is a post or wait of words, or the copy between them.
func (u *unroller) signal(n hostir.Node) {
	op := Op{Kind: Signal, Node: n}
	u.step++
	op.Step = u.step
	switch n := n.(type) {
	case hostir.Set:
		u.step--
		u.set(n)
		return
	case hostir.Post:
		op.Stream, op.Kernel = u.stream(n.Stream), kernel(n.Kernel, "post")
		for _, p := range u.peers(n.Peer) {
			op.Words = append(op.Words, Word{Write: true, Value: 1, At: word(p, n.Semaphore, u.c.Rank)})
		}
	case hostir.Wait:
		op.Stream, op.Kernel = u.stream(n.Stream), kernel(n.Kernel, "wait")
		for _, p := range u.peers(n.Peer) {
			at := word(u.c.Rank, n.Semaphore, p)
			op.Words = append(op.Words, Word{At: at, Value: 1}, Word{Write: true, At: at, Value: 0})
		}
		op.Words = append(op.Words, Word{Write: true, At: Loc{Rank: u.c.Rank, Buffer: "step[" + op.Stream + "]"}, Value: uint32(u.step)})
	}
	u.add(op)
}

func (u *unroller) set(n hostir.Set) {
	u.step++
	src, bytes := u.view(n.Src)
	dst, _ := u.view(n.Dst)
	u.add(Op{Kind: Copy, Stream: u.stream(n.Stream), Kernel: kernel(n.Kernel, "copy"), Step: u.step, Node: n,
		Uses: []Use{{At: src, Bytes: bytes}, {Write: true, At: dst, Bytes: bytes}}})
}

func (u *unroller) product(n hostir.Node, s hostir.StreamRef, c, a, b, bias hostir.View) {
	u.step++
	op := Op{Kind: Product, Stream: u.stream(s), Step: u.step, Node: n}
	for _, v := range []hostir.View{a, b, bias} {
		if v.Buffer != "" {
			at, bytes := u.view(v)
			op.Uses = append(op.Uses, Use{At: at, Bytes: bytes})
		}
	}
	at, bytes := u.view(c)
	op.Uses = append(op.Uses, Use{Write: true, At: at, Bytes: bytes},
		Use{Write: true, At: Loc{Rank: u.c.Rank, Buffer: "workspace[" + op.Stream + "]"}})
	u.add(op)
}

// view is where a view lies and how many bytes it has.
func (u *unroller) view(v hostir.View) (Loc, int64) {
	b, ok := u.program.Buffer(v.Buffer)
	if !ok {
		u.fail(fmt.Errorf("no buffer %s", v.Buffer))
		return Loc{}, 0
	}
	at := Loc{Rank: u.c.Rank, Buffer: v.Buffer}
	if !v.Peer.IsZero() {
		at.Rank = int(u.eval(v.Peer))
	}
	if v.Index.IsZero() {
		return at, u.eval(b.Elements) * u.c.ElementSize
	}
	bytes := u.eval(b.Chunk) * u.c.ElementSize
	at.Offset = u.eval(v.Index) * bytes
	return at, bytes
}

// peers is one peer, or all in the order r+1, r+2, ...
func (u *unroller) peers(one hostir.Expr) []int {
	if !one.IsZero() {
		return []int{int(u.eval(one))}
	}
	var all []int
	for i := 1; i < u.c.Ranks; i++ {
		all = append(all, (u.c.Rank+i)%u.c.Ranks)
	}
	return all
}

// word is the semaphore's word in waiter's memory that poster sets.
func word(waiter int, semaphore string, poster int) Loc {
	return Loc{Rank: waiter, Buffer: semaphore, Offset: 4 * int64(poster)}
}

func kernel(by bool, name string) string {
	if by {
		return name
	}
	return ""
}

// streams lists the streams of references, ranges spelled out.
func (u *unroller) streams(refs []hostir.StreamRef) []string {
	var names []string
	for _, r := range refs {
		if r.To.IsZero() {
			names = append(names, u.stream(r))
			continue
		}
		for i, to := u.eval(r.From), u.eval(r.To); i < to; i++ {
			names = append(names, fmt.Sprintf("%s[%d]", r.Set, i))
		}
	}
	return names
}

func (u *unroller) stream(r hostir.StreamRef) string {
	if r.Index.IsZero() {
		return r.Set
	}
	return fmt.Sprintf("%s[%d]", r.Set, u.eval(r.Index))
}

func (u *unroller) eval(e hostir.Expr) int64 {
	if u.err != nil {
		return 0
	}
	v, err := e.Eval(u.env)
	if err != nil {
		u.fail(err)
	}
	return v
}

func (u *unroller) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}

// add appends an operation; whatever a stream is given makes its event stale.
func (u *unroller) add(o Op) {
	if o.Kind != Record {
		delete(u.fresh, o.Stream)
	}
	u.list = append(u.list, o)
}

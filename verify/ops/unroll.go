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
	// Extents of other symbols, and Counts of uneven chunks as Bind is called with.
	Extents map[string]int64
	Counts  []int64
}

// Unroll lists what rank c.Rank enqueues for one run of p, in enqueue order.
func Unroll(p *hostir.Program, c Case) ([]Op, error) {
	u := &unroller{program: p, c: c, env: hostir.Env{
		"r": int64(c.Rank), "D": int64(c.Ranks), "M": c.M, "K": c.K, "N": c.N}}
	maps.Copy(u.env, c.Extents)
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
	launch  string // the kernel that carries out what is being unrolled
	worked  bool   // what the launch works at has been unrolled
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
	case hostir.Post:
		if n.Comm != nil {
			u.nodes(hostir.Expand(n))
			return
		}
		u.post(n)
	case hostir.Wait:
		if n.Comm != nil {
			u.nodes(hostir.Expand(n))
			return
		}
		u.wait(n)
	case hostir.Communication:
		u.nodes(hostir.Expand(n))
	case hostir.LaunchKernel:
		u.step++
		u.launch, u.worked = n.Name, false
		u.nodes(n.Body)
		u.launch = ""
	case hostir.Set:
		u.set(n)
	case hostir.Reduce:
		u.reduce(n)
	case hostir.Matmul:
		u.product(n, n.Stream, "matmul", n.Accumulate, n.C, n.A, n.B, hostir.View{})
	case hostir.Linear:
		form := "linear"
		if n.Gelu {
			form = "linear gelu"
		}
		u.product(n, n.Stream, form, n.Accumulate, n.C, n.A, n.B, n.Bias)
	case hostir.Gradient:
		u.product(n, n.Stream, "gradient", n.Accumulate, n.C, n.A, n.B, hostir.View{})
	case hostir.Allocate, hostir.GetCurrentStream, hostir.Select, hostir.ShareMemHandles:
		// Nothing is enqueued: memory is the plan's, names are inlined, and an
		// exchange in the loop is a cache hit.
	default:
		u.fail(fmt.Errorf("a %T has no operations", n))
	}
}

func (u *unroller) loop(l hostir.For) {
	u.each(l.Index, l.From, l.To, func() { u.nodes(l.Body) })
}

// each calls f with the index bound to each value; once where there is none.
func (u *unroller) each(index string, first, end hostir.Expr, f func()) {
	if index == "" {
		f()
		return
	}
	from, to := u.eval(first), u.eval(end)
	outer, had := u.env[index]
	for i := from; i < to && u.err == nil; i++ {
		u.env[index] = i
		f()
	}
	if delete(u.env, index); had {
		u.env[index] = outer
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

// begin counts the step of a node; those of one launch share one.
func (u *unroller) begin() {
	if u.launch == "" {
		u.step++
	}
}

// kernel is the kernel that carries out a node: the launch around it, or one of that
// name.
func (u *unroller) kernel(by bool, name string) string {
	switch {
	case u.launch != "":
		return u.launch
	case by:
		return name
	}
	return ""
}

// post is the writes of a post.
func (u *unroller) post(n hostir.Post) {
	u.begin()
	op := Op{Kind: Signal, Node: n, Step: u.step, Stream: u.stream(n.Stream), Kernel: u.kernel(n.Kernel, "post")}
	peers := u.peers(n.Peer)
	for _, p := range peers {
		op.Words = append(op.Words, Word{Write: true, Value: 1, At: u.word(p, n.Semaphore, n.Index, u.c.Rank)})
	}
	u.signal(op, n.Kernel, peers)
}

// wait is the words of a wait, each with its reset, and the stream's step word.
func (u *unroller) wait(n hostir.Wait) {
	u.begin()
	op := Op{Kind: Signal, Node: n, Step: u.step, Stream: u.stream(n.Stream), Kernel: u.kernel(n.Kernel, "wait")}
	peers := u.peers(n.Peer)
	for _, p := range peers {
		at := u.word(u.c.Rank, n.Semaphore, n.Index, p)
		op.Words = append(op.Words, Word{At: at, Value: 1}, Word{Write: true, At: at, Value: 0})
	}
	op.Words = append(op.Words, Word{Write: true, At: Loc{Rank: u.c.Rank, Buffer: "step[" + op.Stream + "]"}, Value: uint32(u.step)})
	u.signal(op, n.Kernel, peers)
}

// signal appends a post or a wait. A rank alone signals nobody: then only a kernel of its
// own is enqueued all the same.
func (u *unroller) signal(op Op, kernel bool, peers []int) {
	if len(peers) == 0 && (u.launch != "" || !kernel) {
		delete(u.fresh, op.Stream)
		return
	}
	u.add(op)
}

// set is a copy; one of nothing is a step without an operation.
func (u *unroller) set(n hostir.Set) {
	u.begin()
	src, bytes := u.view(n.Src)
	dst, _ := u.view(n.Dst)
	if bytes == 0 && u.launch == "" {
		return
	}
	op := Op{Kind: Copy, Stream: u.stream(n.Stream), Kernel: u.kernel(n.Kernel, "copy"), Step: u.step, Node: n}
	op.use(Use{At: src, Bytes: bytes}, Use{Write: true, At: dst, Bytes: bytes})
	u.add(op)
}

// reduce is a sum: its terms in order, then its result.
func (u *unroller) reduce(n hostir.Reduce) {
	u.begin()
	op := Op{Kind: Sum, Stream: u.stream(n.Stream), Kernel: u.kernel(true, "reduce"), Step: u.step, Node: n}
	for _, t := range n.Terms {
		u.each(t.Index, t.From, t.To, func() {
			at, bytes := u.view(t.View)
			op.use(Use{At: at, Bytes: bytes})
		})
	}
	at, bytes := u.view(n.Dst)
	op.use(Use{Write: true, At: at, Bytes: bytes})
	u.add(op)
}

// use adds what is read or written; of no bytes there is nothing to use.
func (o *Op) use(list ...Use) {
	for _, u := range list {
		if u.Bytes > 0 {
			o.Uses = append(o.Uses, u)
		}
	}
}

// product reads its operands, and its result where it adds to that. One of no rows is
// a step without an operation.
func (u *unroller) product(n hostir.Node, s hostir.StreamRef, form string, accumulate bool, c, a, b, bias hostir.View) {
	u.begin()
	op := Op{Kind: Product, Form: form, Accumulate: accumulate, Stream: u.stream(s), Step: u.step, Node: n}
	for _, v := range []hostir.View{a, b, bias} {
		if v.Buffer != "" {
			at, bytes := u.view(v)
			op.Uses = append(op.Uses, Use{At: at, Bytes: bytes})
		}
	}
	at, bytes := u.view(c)
	if bytes == 0 {
		return
	}
	if accumulate {
		op.Uses = append(op.Uses, Use{At: at, Bytes: bytes})
	}
	op.Uses = append(op.Uses, Use{Write: true, At: at, Bytes: bytes},
		Use{Write: true, At: Loc{Rank: u.c.Rank, Buffer: "workspace[" + op.Stream + "]"}})
	u.add(op)
}

// view is where a view starts and its bytes.
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
	if v.Index.IsZero() && b.Counts.IsZero() {
		return at, u.eval(b.Elements) * u.c.ElementSize
	}
	first, count := int64(0), int64(1)
	if !v.Index.IsZero() {
		first = u.eval(v.Index)
	}
	if !v.Count.IsZero() {
		count = u.eval(v.Count)
	}
	if !b.Room.IsZero() {
		room := u.eval(b.Room) * u.c.ElementSize
		at.Offset = first * room
		if v.Padded {
			return at, room
		}
		return at, u.chunks(b, at.Rank, first, count)
	}
	at.Offset = u.chunks(b, at.Rank, 0, first)
	return at, u.chunks(b, at.Rank, first, count)
}

// chunks is the bytes of consecutive chunks of a buffer of a rank.
func (u *unroller) chunks(b hostir.Buffer, rank int, first, count int64) int64 {
	bytes := u.eval(b.Chunk) * u.c.ElementSize
	if b.Counts.IsZero() {
		return count * bytes
	}
	env := maps.Clone(u.env)
	var rows int64
	for c := first; c < first+count && u.err == nil; c++ {
		env["q"], env["c"] = int64(rank), c
		i, err := b.Counts.Eval(env)
		if err == nil && (i < 0 || i >= int64(len(u.c.Counts))) {
			err = fmt.Errorf("chunk %d of %s@%d: no count %d", c, b.Name, rank, i)
		}
		if err != nil {
			u.fail(err)
			return 0
		}
		rows += u.c.Counts[i]
	}
	return rows * bytes
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

// word is the word of a semaphore's member that a poster writes.
func (u *unroller) word(waiter int, semaphore string, index hostir.Expr, poster int) Loc {
	member := int64(0)
	if !index.IsZero() {
		member = u.eval(index)
	}
	return Loc{Rank: waiter, Buffer: semaphore, Offset: 4 * (member*int64(u.c.Ranks) + int64(poster))}
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
	if u.launch != "" && !u.worked {
		o.Count = Loc{Rank: u.c.Rank, Buffer: "count[" + o.Stream + "]"}
		u.worked = o.Kind != Signal
	}
	if o.Kind != Record {
		delete(u.fresh, o.Stream)
	}
	u.list = append(u.list, o)
}

package ops

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Unroll lists the operations that rank c.Rank enqueues for one run of p, in enqueue order.
func Unroll(p *hostir.Program, c Case) ([]Op, error) { return unroll(p, c, hostir.Check(p.Body)) }

// unroll is Unroll after the program's check, which is the same for all ranks.
func unroll(p *hostir.Program, c Case, malformed error) ([]Op, error) {
	u := &unroller{program: p, c: c, env: c.Env(p), err: malformed}
	if c.Counts == nil {
		u.c.Counts = p.Counts(u.env)
	}
	u.add(Op{Kind: After, Stream: hostir.MainStream})
	u.nodes(p.Body)
	u.add(Op{Kind: Done, Stream: hostir.MainStream})
	if u.err != nil {
		return nil, fmt.Errorf("unroll %s for rank %d of %d: %w", p.Name, c.Rank, c.Ranks, u.err)
	}
	return u.list, nil
}

// unroller walks a program and lists its operations. The first error sticks.
type unroller struct {
	program *hostir.Program
	c       Case
	env     hostir.Env
	list    []Op
	events  int
	step    int
	// fresh has, for each stream, the event that still marks all work of the stream.
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
	case hostir.Share:
		// Nothing is enqueued: an exchange in the loop is a cache hit.
	case hostir.Step:
		u.enqueue(n)
	default:
		u.fail(fmt.Errorf("a %T has no operations", n))
	}
}

func (u *unroller) loop(l hostir.For) {
	u.each(l.Index, l.From, l.To, func() { u.nodes(l.Body) })
}

// each calls f with the index bound to each value; once if there is no index.
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

// synchronize records an event on each stream to wait for, unless an event already marks all its work, and makes the
// waiting streams wait.
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

// enqueue adds the operations of a step, its signals and its work, which share the step's number. A kernel that signals
// around its work uses its count word from its start until the work is done.
func (u *unroller) enqueue(n hostir.Step) {
	u.step++
	at := Op{Node: n, Step: u.step, Stream: u.stream(n.Stream), Kernel: n.By, ByBlocks: n.ByBlocks, Early: n.Ahead}
	switch x := n.Do.(type) {
	case hostir.Tiles:
		u.tiles(n, x)
		return
	case hostir.Scatter:
		u.scatter(n, x)
		return
	case hostir.Packets:
		u.packets(at, n, x.Sent, x.To, x)
		u.makes(at, n, x.Then)
		return
	case hostir.PacketGather:
		u.packets(at, n, x.Sent, x.To, hostir.Packets{})
		return
	case hostir.PacketSpread:
		u.spread(at, n, x)
		return
	case hostir.PacketRows:
		u.rows(at, n, x)
		return
	case hostir.Collective:
		u.collective(at, x)
		return
	}
	if n.Fused() && !n.ByBlocks {
		at.Count = Loc{Rank: u.c.Rank, Buffer: CountWord(at.Stream)}
	}
	for _, w := range n.Pre {
		u.signal(at, n, w)
	}
	u.does(at, n)
	at.Count = Loc{}
	for _, w := range n.Post {
		u.signal(at, n, w)
	}
}

// does adds the operations of the work between the signals of a step.
func (u *unroller) does(at Op, n hostir.Step) {
	switch x := n.Do.(type) {
	case nil:
	case hostir.Copy:
		u.copy(at, n, x)
	case hostir.Gather:
		u.gather(at, x)
	case hostir.Sum:
		u.sum(at, n, x)
	case hostir.Product:
		u.product(at, n, x)
	case hostir.Apply:
		u.applies(at, n, x)
	case hostir.Call:
		if _, size := u.view(x.To); size == 0 {
			return // of a rank that has no rows
		}
		at.Kind, at.Form, at.Launch = Call, x.Name, u.launch(x.Launch)
		u.use(at, at.results(x.To, x.Scales), x.Operands...)
	default:
		u.fail(fmt.Errorf("work %q has no operations", n.Kind()))
	}
}

// signal adds the words of a post, or of a wait with the resets, and the stream's step word. A single rank signals
// nobody; then only a kernel that does nothing but signal is still enqueued.
func (u *unroller) signal(op Op, n hostir.Step, w hostir.Word) { u.signals(op, n, w, u.peers(w.Peer)) }

// signals is signal for these peers.
func (u *unroller) signals(op Op, n hostir.Step, w hostir.Word, peers []int) {
	op.Kind = Signal
	for _, p := range peers {
		if !w.Wait {
			op.Words = append(op.Words, Word{Write: true, Value: 1, At: u.word(p, w, u.c.Rank)})
			continue
		}
		at := u.word(u.c.Rank, w, p)
		op.Words = append(op.Words, Word{At: at, Value: 1}, Word{Write: true, At: at, Value: 0})
	}
	if w.Wait {
		op.Words = append(op.Words, Word{Write: true, At: Loc{Rank: u.c.Rank, Buffer: StepWord(op.Stream)},
			Value: uint32(u.step)})
	}
	if len(peers) == 0 && (n.By == "" || n.Fused()) {
		delete(u.fresh, op.Stream)
		return
	}
	u.add(op)
}

// copy adds a copy. An empty copy by the copy engine is a step without an operation.
func (u *unroller) copy(op Op, n hostir.Step, x hostir.Copy) {
	src, bytes := u.view(x.From)
	dst, _ := u.view(x.To)
	if bytes == 0 && !n.Fused() {
		return
	}
	op.Kind = Copy
	op.use(Use{At: src, Bytes: bytes, Columns: u.ofColumns(x.From)},
		Use{Write: true, At: dst, Bytes: bytes, Columns: u.ofColumns(x.To)})
	u.add(op)
}

// ofColumns reports whether a view is a part of the columns of its buffer, and not all columns.
func (u *unroller) ofColumns(v hostir.View) bool {
	b, _ := u.program.Buffer(v.Buffer)
	return v.Columns && u.eval(b.Chunk) != u.eval(b.Elements)
}

// collective adds a collective: the view that this rank brings, and the view that it gets.
func (u *unroller) collective(op Op, x hostir.Collective) {
	op.Kind, op.Form, op.Kernel = Collective, string(x.Does), ""
	if x.Does == hostir.Exchange {
		op.To, op.From = int(u.eval(x.Target)), int(u.eval(x.Source))
	}
	u.use(op, []hostir.View{x.To}, x.From)
}

// gather adds a copy for each of its views.
func (u *unroller) gather(op Op, x hostir.Gather) {
	op.Kind = Copy
	to, _ := u.view(x.To)
	for _, v := range x.From {
		u.each(v.Each.Index, v.Each.From, v.Each.To, func() {
			from, bytes := u.view(v)
			one := op
			one.use(Use{At: from, Bytes: bytes}, Use{Write: true, At: to, Bytes: bytes})
			u.add(one)
			to.Offset += bytes
		})
	}
}

// sum adds a sum. Each view of scales stands for as many views as its term.
func (u *unroller) sum(at Op, n hostir.Step, x hostir.Sum) {
	at.Kind = Sum
	_, size := u.view(x.To)
	if size > 0 && len(x.Scales) > 0 {
		at.Scaled = u.eval(x.Columns)
		for _, v := range x.Scales {
			u.each(v.Each.Index, v.Each.From, v.Each.To, func() { at.ScaledTerms++ })
		}
	}
	u.finish(&at, x.Finish)
	reads, _ := n.Views()
	u.use(at, []hostir.View{x.To}, reads...)
}

// finish adds to a sum the formulas with which it ends.
func (u *unroller) finish(op *Op, x hostir.Finish) {
	if len(x.Makes) == 0 {
		return
	}
	nodes := x.Nodes()
	op.Form = schedule.Key(nodes)
	for _, operand := range schedule.Operands(nodes) {
		op.Lies = append(op.Lies, operand.Lies)
	}
	if !x.ByPlace() {
		op.Columns = u.eval(x.Columns)
	}
}

// applies adds formulas and the formulas of their results, each with a separate node.
func (u *unroller) applies(op Op, n hostir.Step, x hostir.Apply) {
	for _, x := range x.Chain() {
		n.Do = x
		op.Node = n
		u.apply(op, x)
	}
}

// apply adds formulas, with the layout of their operands and the numbers of rows and heads that their kernel gets.
func (u *unroller) apply(op Op, x hostir.Apply) {
	nodes := x.Nodes()
	op.Kind, op.Form = Apply, schedule.Key(nodes)
	for _, operand := range schedule.Operands(nodes) {
		op.Lies = append(op.Lies, operand.Lies)
	}
	if !x.Columns.IsZero() {
		op.Columns = u.eval(x.Columns)
	}
	for _, width := range schedule.Heads(nodes) {
		op.Heads = append(op.Heads, u.eval(hostir.Extent(width)))
	}
	u.use(op, op.results(x.To, x.Scales), append([]hostir.View{x.X}, x.Operands...)...)
}

// results lists the views that an operation writes, and notes whether scales are among them.
func (o *Op) results(to, scales hostir.View) []hostir.View {
	if o.LeavesScales = scales.Buffer != ""; o.LeavesScales {
		return []hostir.View{to, scales}
	}
	return []hostir.View{to}
}

// launch describes the launch of a kernel of the caller; it is empty without one.
func (u *unroller) launch(l hostir.Launch) string {
	if l.File == "" {
		return ""
	}
	var args []int64
	for _, a := range l.Args {
		args = append(args, u.eval(a))
	}
	return LaunchOf(u.eval(l.Blocks), int64(l.Threads), args...)
}

// use adds an operation that reads views and writes its results. A view may stand for several reads. For a result of no
// bytes the operation reads no operand that belongs to all rows.
func (u *unroller) use(op Op, results []hostir.View, reads ...hostir.View) {
	_, size := u.view(results[0])
	for i, v := range reads {
		lies := schedule.InPlace
		if k := i - (len(reads) - len(op.Lies)); k >= 0 && k < len(op.Lies) {
			lies = op.Lies[k]
		}
		if forAll := lies == schedule.ByColumn || lies == schedule.ByHead; forAll && size == 0 {
			continue
		}
		u.each(v.Each.Index, v.Each.From, v.Each.To, func() {
			at, bytes := u.view(v)
			op.use(Use{At: at, Bytes: bytes})
		})
	}
	for _, v := range results {
		to, bytes := u.view(v)
		op.use(Use{Write: true, At: to, Bytes: bytes})
	}
	op.LeavesScales = op.LeavesScales && len(op.Uses) > 0
	u.add(op)
}

// use adds reads and writes, but none of no bytes.
func (o *Op) use(list ...Use) {
	for _, u := range list {
		if u.Bytes > 0 {
			o.Uses = append(o.Uses, u)
		}
	}
}

// some lists the views that are set.
func some(views ...hostir.View) []hostir.View {
	return slices.DeleteFunc(views, func(v hostir.View) bool { return v.Buffer == "" })
}

func (u *unroller) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}

// add appends an operation; a stream's event no longer marks all its work.
func (u *unroller) add(o Op) {
	if o.Kind != Record {
		delete(u.fresh, o.Stream)
	}
	u.list = append(u.list, o)
}

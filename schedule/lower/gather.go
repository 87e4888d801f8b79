package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// What the programs of the all-gather have in common.

// gatherTensors declares the tensors, and the one that all shards are gathered in: the
// caller's Gathered where there is one, else memory of the plan. It returns its name.
func (d *draft) gatherTensors() (string, error) {
	if err := d.tensors(); err != nil {
		return "", err
	}
	parts := max(d.schedule.Pipeline.Parts, 1)
	if d.schedule.Pipeline.Direction == schedule.Both {
		parts = 2
	}
	name := "Gathered"
	if _, ok := d.schedule.Tensor(name); !ok {
		name = gathered
		d.program.Buffers = append(d.program.Buffers, d.gatheredBuffer())
	}
	if parts == 1 {
		return name, nil
	}
	for i, b := range d.program.Buffers {
		if b.Name == "A" || b.Name == name || b.Name[:1] == "C" {
			d.program.Buffers[i].Chunk = chunkOf(b.Tensor, parts)
		}
	}
	for i, c := range d.program.Checks {
		if c.By == schedule.D {
			d.program.Checks[i].Times = int64(parts)
		}
	}
	return name, nil
}

// gatheredBuffer has the shards that A has a rank's of.
func (d *draft) gatheredBuffer() hostir.Buffer {
	a, _ := d.program.Buffer("A")
	g := schedule.Tensor{Name: gathered, Axes: slices.Clone(a.Tensor.Axes)}
	outer := slices.Clone(g.Axes[0].Outer)
	for i, s := range outer {
		if s.Kind == schedule.DeviceX {
			outer[i].Kind = schedule.StreamAxis
		}
	}
	if len(outer) > 1 { // the steps are an axis of their own
		for i := range outer {
			outer[i].Kind = schedule.Plain
		}
	}
	g.Axes[0].Outer = outer
	return hostir.Buffer{Name: gathered, Tensor: g, Owner: hostir.Plan, Elements: elements(g, true), Chunk: chunk(g)}
}

// chunkOf counts the elements of one of the parts of a shard.
func chunkOf(t schedule.Tensor, parts int) hostir.Expr {
	axes := slices.Clone(t.Axes)
	axes[0].Outer = append(slices.Clone(axes[0].Outer), schedule.DIDx(decimal(parts)))
	return chunk(schedule.Tensor{Axes: axes})
}

// shards is how shards are cut into the steps of a loop.
type shards struct{ parts int64 }

func (d *draft) shards() shards { return shards{int64(max(d.schedule.Pipeline.Parts, 1))} }

// turn is the shard that a step takes a part of, counted from the own one.
func (s shards) turn() hostir.Expr {
	if s.parts == 1 {
		return step
	}
	return hostir.Div(step, hostir.Const(s.parts))
}

// part is the one that a step takes, absent where shards are whole.
func (s shards) part() hostir.Expr {
	if s.parts == 1 {
		return hostir.Expr{}
	}
	return hostir.Var("p")
}

// chunk is the index of the step's part of a rank's shard where all shards are.
func (s shards) chunk(rank hostir.Expr) hostir.Expr {
	if s.parts == 1 {
		return rank
	}
	return hostir.Add(hostir.Mul(rank, hostir.Const(s.parts)), s.part())
}

// rows are all parts of a rank's shard.
func (s shards) rows(buffer string, rank hostir.Expr) hostir.View {
	if s.parts == 1 {
		return hostir.Chunk(buffer, rank)
	}
	return hostir.View{Buffer: buffer, Index: hostir.Mul(rank, hostir.Const(s.parts)), Count: hostir.Const(s.parts)}
}

// loop is over the parts of the shards from the first-th on, of the ranks behind this one.
func (s shards) loop(first int64, body ...hostir.Node) hostir.For {
	head := []hostir.Node{hostir.Bind("from", hostir.Ahead(s.turn())), hostir.Bind("to", hostir.Behind(s.turn()))}
	if s.parts > 1 {
		head = append(head, hostir.Bind("p", hostir.Mod(step, hostir.Const(s.parts))))
	}
	to := hostir.Mul(hostir.Size, hostir.Const(s.parts))
	return hostir.Loop(stepIndex, hostir.Const(first*s.parts), to, append(head, body...)...)
}

// each is a node for each part.
func (s shards) each(f func(part hostir.Expr) hostir.Node) []hostir.Node {
	if s.parts == 1 {
		return []hostir.Node{f(hostir.Expr{})}
	}
	var nodes []hostir.Node
	for p := range s.parts {
		nodes = append(nodes, f(hostir.Const(p)))
	}
	return nodes
}

// streams are those of the products: one for each step from the first shard on, or a number
// taken in turn.
func (s shards) streams(d *draft, first int64) (hostir.StreamSet, hostir.StreamRef) {
	set := workStreams(d)
	if d.schedule.Streams.Compute == 0 {
		l := s.loop(first)
		set.First, set.Count = l.From, l.To
	}
	return set, poolRef(d)
}

// ownShard are the products of the own shard, in place.
func (d *draft) ownShard(c hostir.View) []hostir.Node {
	nodes := d.multiplied(mainRef, c, hostir.Whole("A"))
	nodes[0] = nodes[0].(hostir.Step).Described("own shard, in place").AskedBy("Pipeline.OwnShard")
	return nodes
}

// share lets peers read a buffer of the caller.
func (d *draft) share(name string) { d.buffer(name).Shared = true }

// add appends to the program.
func (d *draft) add(nodes ...hostir.Node) { d.program.Body = append(d.program.Body, nodes...) }

// semaphore declares a semaphore of a number of members.
func (d *draft) semaphore(name string, count hostir.Expr) {
	d.program.Semaphores = append(d.program.Semaphores, hostir.Semaphore{Name: name, Count: count})
}

// count is a number of members, absent where there is one.
func count(n int64) hostir.Expr {
	if n == 1 {
		return hostir.Expr{}
	}
	return hostir.Const(n)
}

// withPeers are nodes that a rank without peers leaves out.
func withPeers(nodes ...hostir.Node) hostir.If {
	return hostir.If{X: hostir.Size, Y: hostir.Const(1), Else: nodes}
}

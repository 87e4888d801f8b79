package old

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// The common parts of the all-gather's programs.

// gatherTensors declares the tensors, and the one that all shards are gathered in: the
// caller's Gathered where there is one, else memory of the plan. It returns its name.
func (d *draft) gatherTensors() (string, error) {
	if err := d.tensors(); err != nil {
		return "", err
	}
	parts := max(d.with.parts, 1)
	if d.with.direction == schedule.Both {
		parts = 2
	}
	name := "Gathered"
	if _, ok := d.schedule.Tensor(name); !ok {
		name = gathered
		d.program.Buffers = append(d.program.Buffers, d.gatheredBuffer())
	}
	if d.uneven("A") {
		d.shardsDiffer(name)
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

// shardsDiffer gives the shards of A, the gathered tensor and the result the rows of their ranks.
func (d *draft) shardsDiffer(gathered string) {
	d.counted("A", hostir.Var(countRank))
	for _, b := range d.program.Buffers {
		if b.Name == gathered || b.Name[:1] == "C" {
			d.counted(b.Name, hostir.Var(countChunk))
		}
	}
}

// gatheredBuffer holds all ranks' shards of A.
func (d *draft) gatheredBuffer() hostir.Buffer {
	a, _ := d.program.Buffer("A")
	g := schedule.Tensor{Name: gathered, Axes: slices.Clone(a.Tensor.Axes)}
	outer := slices.Clone(g.Axes[0].Outer)
	for i, s := range outer {
		if s.Kind == schedule.DeviceX {
			outer[i].Kind = schedule.StreamAxis
		}
	}
	if d.uneven("A") { // they lie one after another
		outer = nil
	}
	if len(outer) > 1 { // the steps are an axis of their own
		for i := range outer {
			outer[i].Kind = schedule.Plain
		}
	}
	g.Axes[0].Outer = outer
	return hostir.Buffer{Name: gathered, Tensor: g, Owner: hostir.Plan, Elements: elements(g), Chunk: chunk(g)}
}

// chunkOf counts the elements of one of the parts of a shard.
func chunkOf(t schedule.Tensor, parts int) hostir.Expr {
	axes := slices.Clone(t.Axes)
	axes[0].Outer = append(slices.Clone(axes[0].Outer), schedule.DIDx(decimal(parts)))
	return chunk(schedule.Tensor{Axes: axes})
}

// shards is how shards are cut into the steps of a loop.
type shards struct{ parts }

func (d *draft) shards() shards { return shards{parts{int64(max(d.with.parts, 1)), "p"}} }

// turn is the shard whose part a step takes, counted from this rank's.
func (s shards) turn() hostir.Expr { return hostir.Div(step, hostir.Const(s.n)) }

// loop is over the parts of the shards from the first-th on, of the ranks after this one.
func (s shards) loop(first int64, body ...hostir.Node) hostir.For {
	head := []hostir.Node{hostir.Bind("from", hostir.Ahead(s.turn())), hostir.Bind("to", hostir.Behind(s.turn()))}
	if s.n > 1 {
		head = append(head, hostir.Bind(s.index, hostir.Mod(step, hostir.Const(s.n))))
	}
	to := hostir.Mul(hostir.Size, hostir.Const(s.n))
	return hostir.Loop(stepIndex, hostir.Const(first*s.n), to, append(head, body...)...)
}

// streams are the products' streams: one for each step from the first shard on, or a number
// taken in turn.
func (s shards) streams(d *draft, first int64) (hostir.StreamSet, hostir.StreamRef) {
	set := workStreams(d)
	if d.with.compute == 0 {
		l := s.loop(first)
		set.First, set.Count = l.From, l.To
	}
	return set, poolRef(d)
}

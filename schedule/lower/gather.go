package lower

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

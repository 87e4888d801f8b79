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
	name := "Gathered"
	if _, ok := d.schedule.Tensor(name); !ok {
		name = gathered
		d.program.Buffers = append(d.program.Buffers, d.gatheredBuffer())
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

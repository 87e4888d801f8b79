package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// product is the schedule's product of one operand with B, B2 or B3.
func product(s schedule.Schedule, on hostir.StreamRef, c, a hostir.View, n string) hostir.Step {
	if s.Op == schedule.Matmul {
		return hostir.Multiply(on, hostir.Matmul, c, a, hostir.Whole("B"+n))
	}
	var bias []hostir.View
	if _, ok := s.Tensor("Bias" + n); ok {
		bias = []hostir.View{hostir.Whole("Bias" + n)}
	}
	return hostir.Multiply(on, hostir.Linear, c, a, hostir.Whole("B"+n), bias...)
}

// multiplied are the schedule's products of a view, on a stream: the part of C that c names,
// and those of C2 and C3.
func (d *draft) multiplied(on hostir.StreamRef, c, a hostir.View) []hostir.Node {
	nodes := []hostir.Node{product(d.schedule, on, c, a, "")}
	for _, n := range []string{"2", "3"} {
		if _, ok := d.schedule.Tensor("B" + n); ok {
			c.Buffer = "C" + n
			nodes = append(nodes, product(d.schedule, on, c, a, n))
		}
	}
	return nodes
}

// multiply is the schedule's product of some rows, on a stream.
func (d *draft) multiply(s hostir.StreamRef, dst, a hostir.View) hostir.Step {
	return product(d.schedule, s, dst, a, "")
}

// ownShard are the products of the own shard, in place.
func (d *draft) ownShard(c hostir.View) []hostir.Node {
	nodes := d.multiplied(mainRef, c, hostir.Whole("A"))
	nodes[0] = nodes[0].(hostir.Step).Described("own shard, in place").AskedBy("Pipeline.OwnShard")
	return nodes
}

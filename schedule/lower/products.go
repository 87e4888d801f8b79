package lower

import "ovgen/schedule/hostir"

// product is the schedule's product of one operand with B, B2, ...
func (d *draft) product(on hostir.StreamRef, c, a hostir.View, n string) hostir.Step {
	switch d.form.kind {
	case matmul:
		return hostir.Multiply(on, hostir.Matmul, c, a, hostir.Whole("B"+n))
	case gradient:
		return hostir.Multiply(on, hostir.Gradient, c, a, hostir.Whole("B"+n))
	}
	var bias []hostir.View
	if _, ok := d.schedule.Tensor("Bias" + n); ok && !d.comm.moves.reduces() {
		bias = []hostir.View{hostir.Whole("Bias" + n)}
	}
	product := hostir.Multiply(on, hostir.Linear, c, a, hostir.Whole("B"+n), bias...)
	if len(bias) > 0 {
		product = product.Applying(d.functionsOf(d.form.tensor("C"+n), anyFunction))
	}
	return product
}

// multiplied are the schedule's products of a view, on a stream: the part of C that c names,
// and the parts of C2, C3, ... where there are more.
func (d *draft) multiplied(on hostir.StreamRef, c, a hostir.View) []hostir.Node {
	nodes := []hostir.Node{d.product(on, c, a, "")}
	for number := 2; ; number++ {
		n := suffix(number)
		if _, ok := d.schedule.Tensor("B" + n); !ok {
			return nodes
		}
		c.Buffer = "C" + n
		nodes = append(nodes, d.product(on, c, a, n))
	}
}

// multiply is the schedule's product of some rows, on a stream.
func (d *draft) multiply(s hostir.StreamRef, dst, a hostir.View) hostir.Step {
	return d.product(s, dst, a, "")
}

// ownShard are the products of this rank's shard, in place.
func (d *draft) ownShard(c hostir.View) []hostir.Node {
	nodes := d.multiplied(mainRef, c, hostir.Whole("A"))
	nodes[0] = nodes[0].(hostir.Step).Described("own shard, in place").AskedBy(movesField)
	return nodes
}

package old

import (
	"slices"

	"ovgen/schedule/hostir"
)

// weightGather pulls the rows of B that its peers have, and then multiplies its own rows of A by all of B: no part of
// the result lies together that needs a shard of B only.
func weightGather(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.stack(gatheredWeight, d.buffer("B").Tensor)
	return d.gatherAndMultiply("B", gatheredWeight, hostir.Chunk)
}

// inputsGather is weightGather of a weight that is spread by columns.
func inputsGather(d *draft) error { return d.gatherColumnsOf("B", gatheredWeight) }

// rowGather is the same of A: a part of the summed axis makes no part of the result.
func rowGather(d *draft) error { return d.gatherColumnsOf("A", gathered) }

// gatherColumnsOf pulls columns of an operand, and then multiplies.
func (d *draft) gatherColumnsOf(operand, to string) error {
	if err := d.tensors(); err != nil {
		return err
	}
	axes := slices.Clone(d.buffer(operand).Tensor.Axes)
	for i := range axes {
		axes[i].Outer = nil
	}
	d.memory(to, hostir.Expr{}, axes...)
	d.cutColumns(to)
	return d.gatherAndMultiply(operand, to, hostir.Columns)
}

// gatherAndMultiply copies each peer's part of an operand to its place, and then multiplies by all of it.
func (d *draft) gatherAndMultiply(operand, to string, part func(buffer string, of hostir.Expr) hostir.View) error {
	d.share(operand)
	d.semaphores(ready, read)
	from := hostir.Var("from")
	d.add(hostir.Post(mainRef, ready, every).Described("peers may read "+operand),
		d.fork(copySet),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, part(to, from), hostir.Whole(operand).At(from))),
		hostir.Set(mainRef, part(to, hostir.Rank), hostir.Whole(operand)),
		hostir.After(mainRef, copyRef))
	product := d.multiply(mainRef, hostir.Whole("C"), hostir.Whole("A"))
	product = hostir.Changed(product, func(x *hostir.Product) {
		for _, v := range []*hostir.View{&x.A, &x.B} {
			if v.Buffer == operand {
				v.Buffer = to
			}
		}
	})
	d.add(product,
		hostir.Post(copyRef, read, every).Described(operand+" may be overwritten afterwards"),
		hostir.Wait(copyRef, read, every),
		join(copySet))
	return nil
}

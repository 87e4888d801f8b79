package lower

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
	return d.gatherAndMultiply(hostir.Chunk)
}

// inputsGather is weightGather of a weight of which each rank has some columns of every row.
func inputsGather(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	axes := slices.Clone(d.buffer("B").Tensor.Axes)
	for i := range axes {
		axes[i].Outer = nil
	}
	d.memory(gatheredWeight, hostir.Expr{}, axes...)
	d.cutColumns(gatheredWeight)
	return d.gatherAndMultiply(hostir.Columns)
}

// gatherAndMultiply copies each peer's part of B to its place, and then multiplies the own rows by all of it.
func (d *draft) gatherAndMultiply(part func(buffer string, of hostir.Expr) hostir.View) error {
	d.share("B")
	d.semaphores(ready, read)
	from := hostir.Var("from")
	d.add(hostir.Post(mainRef, ready, every).Described("peers may read B"),
		d.fork(copySet),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, part(gatheredWeight, from), hostir.Whole("B").At(from))),
		hostir.Set(mainRef, part(gatheredWeight, hostir.Rank), hostir.Whole("B")),
		hostir.After(mainRef, copyRef))
	product := d.multiply(mainRef, hostir.Whole("C"), hostir.Whole("A"))
	product.Reads[1].Buffer = gatheredWeight
	d.add(product,
		hostir.Post(copyRef, read, every).Described("B may be overwritten afterwards"),
		hostir.Wait(copyRef, read, every),
		join(copySet))
	return nil
}

package lower

import "ovgen/schedule/hostir"

// weightGather pulls the rows of B that its peers have, and then multiplies its own rows of A by all of B: no part of
// the result lies together that needs a shard of B only.
func weightGather(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.share("B")
	d.stack(gatheredWeight, d.buffer("B").Tensor)
	d.semaphores(ready, read)
	from := hostir.Var("from")
	d.add(hostir.Post(mainRef, ready, every).Described("peers may read B"),
		d.fork(copySet),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, hostir.Chunk(gatheredWeight, from), hostir.Whole("B").At(from))),
		hostir.Set(mainRef, hostir.Chunk(gatheredWeight, hostir.Rank), hostir.Whole("B")),
		hostir.After(mainRef, copyRef))
	product := d.multiply(mainRef, hostir.Whole("C"), hostir.Whole("A"))
	product.Reads[1].Buffer = gatheredWeight
	d.add(product,
		hostir.Post(copyRef, read, every).Described("B may be overwritten afterwards"),
		hostir.Wait(copyRef, read, every),
		join(copySet))
	return nil
}

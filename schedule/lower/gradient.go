package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// gradientShift is the gradient of a weight whose layer's input (B) or output (A) is
// spread by rows over the ranks: a step gathers a shard and adds its rows' share. The
// first product overwrites C and the others add to it, so they share a stream.
func gradientShift(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	travels := d.comm.operand
	other := map[string]string{"A": "B", "B": "A"}[travels]
	d.share(travels)
	d.cut(other, schedule.D)
	d.semaphores(ready, read)
	here := travels + "gathered"
	d.stack(here, d.buffer(travels).Tensor)

	from := hostir.Var("from")
	share := func(shard hostir.View, rank hostir.Expr) hostir.Step {
		views := map[string]hostir.View{travels: shard, other: hostir.Chunk(other, rank)}
		return hostir.Multiply(mainRef, hostir.Gradient, hostir.Whole("C"), views["A"], views["B"])
	}
	d.program.Body = []hostir.Node{
		hostir.Post(mainRef, ready, every).Described("before the forks"),
		d.fork(copySet),
		share(hostir.Whole(travels), hostir.Rank).Described("own shard, in place, overwrites C"),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, hostir.Chunk(here, from), hostir.View{Buffer: travels, Peer: from}),
			hostir.After(mainRef, copyRef),
			share(hostir.Chunk(here, from), from).Accumulated()),
		hostir.Post(copyRef, read, every).Described(travels + " may be overwritten afterwards"),
		hostir.Wait(copyRef, read, every),
		join(copySet),
	}
	return nil
}

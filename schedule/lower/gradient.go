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
	share := func(shard hostir.View, rank hostir.Expr) hostir.Gradient {
		views := map[string]hostir.View{travels: shard, other: slice(other, rank)}
		return hostir.Gradient{Origin: hostir.Origin{Field: "Op"}, Stream: mainRef, C: whole("C"), A: views["A"], B: views["B"]}
	}
	d.program.Body = []hostir.Node{
		described(post(mainRef, ready, every), "before the forks"),
		d.fork(copySet),
		described(share(whole(travels), hostir.Rank), "own shard, in place, overwrites C"),
		steps(let("from", ahead(step)),
			wait(copyRef, ready, from),
			move(copyRef, slice(here, from), hostir.View{Buffer: travels, Peer: from}),
			after(mainRef, copyRef),
			accumulated(share(slice(here, from), from))),
		described(post(copyRef, read, every), travels+" may be overwritten afterwards"),
		wait(copyRef, read, every),
		join(copySet),
	}
	return nil
}

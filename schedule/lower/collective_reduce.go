package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// scatterSum puts the others' rows of A into slots at their owners, and sums there in
// the order of ranks. The own rows are added where they are.
func scatterSum(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.cut("A", schedule.D)
	d.stack(slots, d.buffer("C").Tensor)
	d.semaphores(free, arrived)
	to, q := hostir.Var("to"), hostir.Var(ofRank)
	d.program.Body = []hostir.Node{
		described(post(mainRef, free, every), "the slots may be written"),
		d.fork(copySet),
		steps(let("to", ahead(step)),
			wait(copyRef, free, to),
			move(copyRef, remote(slots, to, hostir.Rank), slice("A", to)),
			post(copyRef, arrived, to)),
		join(copySet),
		wait(mainRef, arrived, every),
		described(sum(mainRef, whole("C"),
			hostir.Terms{View: slice(slots, q), Index: ofRank, From: hostir.Const(0), To: hostir.Rank},
			hostir.Terms{View: slice("A", hostir.Rank)},
			hostir.Terms{View: slice(slots, q), Index: ofRank, From: hostir.Add(hostir.Rank, one), To: hostir.Size}),
			"once, in the order of ranks"),
	}
	return nil
}

package old

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
	to, q := hostir.Var("to"), hostir.Var(hostir.RankIndex)
	d.program.Body = []hostir.Node{
		hostir.Post(mainRef, free, every).Described("the slots may be written"),
		d.fork(copySet),
		steps(hostir.Bind("to", hostir.Ahead(step)),
			hostir.Wait(copyRef, free, to),
			hostir.Set(copyRef, hostir.Remote(slots, to, hostir.Rank), hostir.Chunk("A", to)),
			hostir.Post(copyRef, arrived, to)),
		join(copySet),
		hostir.Wait(mainRef, arrived, every),
		hostir.Reduce(mainRef, hostir.Whole("C"),
			hostir.Chunk(slots, q).Over(hostir.RankIndex, hostir.Const(0), hostir.Rank),
			hostir.Chunk("A", hostir.Rank),
			hostir.Chunk(slots, q).Over(hostir.RankIndex, hostir.Add(hostir.Rank, one), hostir.Size)).
			Described("once, in the order of ranks"),
	}
	return nil
}

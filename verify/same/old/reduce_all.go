package old

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Names of all-reduces.
const (
	reduced    = "reduced" // this rank's part of the sum, which peers read
	summed     = "summed"  // a rank's part of the sum is there
	gatherName = "gather"  // the stream of sums and of the copies of other ranks' parts
)

// allReduceShift is a reduce-scatter, then an all-gather of its sums, in parts: the sum of one
// part is made and travels while the next is multiplied and put. C is the caller's, so the
// others' parts are copied out of memory of their plans.
func allReduceShift(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	p := d.rowParts()
	cut := []schedule.Extent{schedule.D}
	if p.n > 1 {
		cut = append(cut, decimal(int(p.n)))
	}
	d.cut("A", cut...)
	d.cut("C", cut...)
	c := d.buffer("C").Tensor
	d.cutRows(c.Axes[0].Extent, p.n)
	chunk := part(c, cut...)
	stacked := append([]schedule.Axis{schedule.Dim(c.Axes[0].Extent, schedule.Stream(schedule.D))}, c.Axes[1:]...)
	d.memory(partial, chunk, stacked...)
	d.memory(slots, chunk, stacked...)
	d.memory(reduced, chunk, append([]schedule.Axis{schedule.Dim(c.Axes[0].Extent, schedule.DIDx(schedule.D))},
		c.Axes[1:]...)...)
	d.program.Semaphores = []hostir.Semaphore{{Name: free}, p.semaphore(arrived), p.semaphore(summed), {Name: read}}

	sums := hostir.StreamSet{Name: gatherName, High: true}
	sumRef := hostir.Stream(gatherName)
	set, work, last := d.ownLast()
	to, from := hostir.Var("to"), hostir.Var("from")
	rows := func(s hostir.StreamRef, dst hostir.View, rank hostir.Expr) hostir.Step {
		return d.multiply(s, dst, hostir.Chunk("A", p.chunk(rank)))
	}
	body := p.inTurn(
		steps(hostir.Bind("to", hostir.Ahead(step)),
			rows(work, hostir.Chunk(partial, p.chunk(to)), to),
			hostir.After(copyRef, work),
			hostir.Set(copyRef, hostir.Remote(slots, to, p.chunk(hostir.Rank)), hostir.Chunk(partial, p.chunk(to))),
			hostir.Post(copyRef, arrived, to).Member(p.part())),
		rows(last, hostir.Chunk(slots, p.chunk(hostir.Rank)), hostir.Rank).
			Described("own rows last, straight into their slot"),
		hostir.After(sumRef, last, copyRef),
		hostir.Wait(sumRef, arrived, every).Member(p.part()),
		d.sum(sumRef, hostir.Chunk(reduced, p.part()), hostir.Chunk("C", p.chunk(hostir.Rank)),
			hostir.Chunk(slots, p.chunk(hostir.Var(hostir.RankIndex))).EachRank()).
			Described("once, in the order of ranks"),
		hostir.Post(sumRef, summed, every).Member(p.part()),
		hostir.Set(sumRef, hostir.Chunk("C", p.chunk(hostir.Rank)), hostir.Chunk(reduced, p.part())),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(sumRef, summed, from).Member(p.part()),
			hostir.Set(sumRef, hostir.Chunk("C", p.chunk(from)), hostir.Remote(reduced, from, p.part()))))
	d.add(d.forkAndPost(set, copySet, sums)...)
	d.add(hostir.Wait(copyRef, free, every))
	d.add(append(body,
		hostir.Post(sumRef, read, every),
		hostir.Wait(sumRef, read, every),
		join(copySet, sums, set))...)
	return nil
}

package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Names of all-reduces.
const (
	reduced    = "reduced" // this rank's part of the sum, which peers read
	summed     = "summed"  // a rank's part of the sum is there
	gatherName = "gather"  // the stream of sums and of the copies of other ranks' parts
	partIndex  = "j"
)

// allReduceShift is a reduce-scatter and an all-gather of what it left, in parts: the
// sum of one part is made and travels while the next is multiplied and put. C is the
// caller's, so the others' parts are copied out of memory of their plans.
func allReduceShift(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	parts := max(d.schedule.Pipeline.Parts, 1)
	cut := []schedule.Extent{schedule.D}
	if parts > 1 {
		cut = append(cut, decimal(parts))
	}
	d.cut("A", cut...)
	d.cut("C", cut...)
	c := d.buffer("C").Tensor
	d.rowsDivisible(parts)
	chunk := part(c, cut...)
	stacked := append([]schedule.Axis{schedule.Dim(c.Axes[0].Extent, schedule.Stream(schedule.D))}, c.Axes[1:]...)
	d.memory(partial, chunk, stacked...)
	d.memory(slots, chunk, stacked...)
	d.memory(reduced, chunk, append([]schedule.Axis{schedule.Dim(c.Axes[0].Extent, schedule.DIDx(schedule.D))}, c.Axes[1:]...)...)
	p := parted{parts: parts}
	d.program.Semaphores = []hostir.Semaphore{{Name: free}, p.semaphore(arrived), p.semaphore(summed), {Name: read}}

	sums := hostir.StreamSet{Name: gatherName, High: true}
	sumRef := hostir.Stream(gatherName)
	set, work, last := d.ownLast()
	to, from := hostir.Var("to"), hostir.Var("from")
	rows := func(s hostir.StreamRef, dst hostir.View, rank hostir.Expr) hostir.Step {
		return d.multiply(s, dst, hostir.Chunk("A", p.chunk(rank)))
	}
	body := p.loop(
		steps(hostir.Bind("to", hostir.Ahead(step)),
			rows(work, hostir.Chunk(partial, p.chunk(to)), to),
			hostir.After(copyRef, work),
			hostir.Set(copyRef, hostir.Remote(slots, to, p.chunk(hostir.Rank)), hostir.Chunk(partial, p.chunk(to))),
			p.member(hostir.Post(copyRef, arrived, to))),
		rows(last, hostir.Chunk(slots, p.chunk(hostir.Rank)), hostir.Rank).Described("own rows last, straight into their slot"),
		hostir.After(sumRef, last, copyRef),
		p.member(hostir.Wait(sumRef, arrived, every)),
		hostir.Reduce(sumRef, hostir.Chunk(reduced, p.index()), hostir.Chunk(slots, p.chunk(hostir.Var(hostir.RankIndex))).EachRank()).Described("once, in the order of ranks"),
		p.member(hostir.Post(sumRef, summed, every)),
		hostir.Set(sumRef, hostir.Chunk("C", p.chunk(hostir.Rank)), hostir.Chunk(reduced, p.index())),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			p.member(hostir.Wait(sumRef, summed, from)),
			hostir.Set(sumRef, hostir.Chunk("C", p.chunk(from)), hostir.Remote(reduced, from, p.index()))))
	d.add(d.forkedAround(hostir.Post(mainRef, free, every).Described("the slots may be written"), set, copySet, sums)...)
	d.add(hostir.Wait(copyRef, free, every))
	d.add(append(body,
		hostir.Post(sumRef, read, every),
		hostir.Wait(sumRef, read, every),
		join(copySet, sums, set))...)
	return nil
}

// parted numbers the parts that a rank's rows travel in.
type parted struct{ parts int }

// index of the part, absent where there is one.
func (p parted) index() hostir.Expr {
	if p.parts == 1 {
		return hostir.Const(0)
	}
	return hostir.Var(partIndex)
}

// chunk is the part's index among the parts of all ranks.
func (p parted) chunk(rank hostir.Expr) hostir.Expr {
	if p.parts == 1 {
		return rank
	}
	return hostir.Add(hostir.Mul(rank, hostir.Const(int64(p.parts))), hostir.Var(partIndex))
}

func (p parted) semaphore(name string) hostir.Semaphore {
	if p.parts == 1 {
		return hostir.Semaphore{Name: name}
	}
	return hostir.Semaphore{Name: name, Count: hostir.Const(int64(p.parts))}
}

func (p parted) member(n hostir.Step) hostir.Step {
	if p.parts == 1 {
		return n
	}
	return n.Member(hostir.Var(partIndex))
}

// loop takes the parts in turn.
func (p parted) loop(body ...hostir.Node) []hostir.Node {
	if p.parts == 1 {
		return body
	}
	return []hostir.Node{hostir.Loop(partIndex, hostir.Const(0), hostir.Const(int64(p.parts)), body...)}
}

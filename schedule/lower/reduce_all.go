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
	sumRef := hostir.StreamRef{Set: gatherName}
	set, work, last := d.ownLast()
	to, from := hostir.Var("to"), hostir.Var("from")
	rows := func(s hostir.StreamRef, dst hostir.View, rank hostir.Expr) hostir.Node {
		return d.multiply(s, dst, slice("A", p.chunk(rank)))
	}
	body := p.loop(
		steps(let("to", ahead(step)),
			rows(work, slice(partial, p.chunk(to)), to),
			after(copyRef, work),
			move(copyRef, remote(slots, to, p.chunk(hostir.Rank)), slice(partial, p.chunk(to))),
			p.member(post(copyRef, arrived, to))),
		described(rows(last, slice(slots, p.chunk(hostir.Rank)), hostir.Rank), "own rows last, straight into their slot"),
		after(sumRef, last, copyRef),
		p.member(wait(sumRef, arrived, every)),
		described(sum(sumRef, slice(reduced, p.index()), each(slice(slots, p.chunk(hostir.Var(ofRank))))), "once, in the order of ranks"),
		p.member(post(sumRef, summed, every)),
		move(sumRef, slice("C", p.chunk(hostir.Rank)), slice(reduced, p.index())),
		steps(let("from", ahead(step)),
			p.member(wait(sumRef, summed, from)),
			move(sumRef, slice("C", p.chunk(from)), remote(reduced, from, p.index()))))
	d.add(d.forkedAround(described(post(mainRef, free, every), "the slots may be written"), set, copySet, sums)...)
	d.add(wait(copyRef, free, every))
	d.add(append(body,
		post(sumRef, read, every),
		wait(sumRef, read, every),
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

func (p parted) member(n hostir.Node) hostir.Node {
	if p.parts == 1 {
		return n
	}
	return member(n, hostir.Var(partIndex))
}

// loop takes the parts in turn.
func (p parted) loop(body ...hostir.Node) []hostir.Node {
	if p.parts == 1 {
		return body
	}
	return []hostir.Node{hostir.For{Index: partIndex, From: hostir.Const(0), To: hostir.Const(int64(p.parts)), Body: body}}
}

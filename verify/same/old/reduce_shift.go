package old

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Shift reduce-scatters multiply the rows of rank r+i in step i and bring the partial
// result to its owner; this rank's rows come last. The owner sums the partial results of all
// ranks once, in their order, so the bits don't depend on which arrived first.

// reduceBuffers declares the tensors, A indexed by the rows of a rank, and memory for
// a part of each rank.
func (d *draft) reduceBuffers(stack string) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.cut("A", schedule.D)
	d.stack(stack, d.buffer("C").Tensor)
	if d.uneven("C") {
		d.counted("A", hostir.Var(countChunk))
		d.counted("C", hostir.Var(countRank))
	}
	return nil
}

// alike gives each part of a stack the rows that this rank has of C.
func (d *draft) alike(name string) {
	d.counted(name, hostir.Var(countRank))
	b, c := d.buffer(name), d.buffer("C")
	b.Tensor.Axes = append([]schedule.Axis{schedule.Dim(schedule.D)}, c.Tensor.Axes...)
	b.Elements = hostir.Mul(hostir.Size, c.Elements)
}

// rowsOf is the product of the rows of one rank.
func (d *draft) rowsOf(s hostir.StreamRef, dst hostir.View, rank hostir.Expr) hostir.Step {
	return d.multiply(s, dst, hostir.Chunk("A", rank))
}

// ownRows is the product of this rank's rows, into its own slot.
func (d *draft) ownRows(s hostir.StreamRef, when string) hostir.Step {
	return d.rowsOf(s, hostir.Chunk(slots, hostir.Rank), hostir.Rank).
		Described("own rows " + when + "straight into their slot")
}

// ownLast is the stream of each step's product, and the stream of the product of this rank's rows.
// Partial results that travel must be made first: products that may run at once with equal
// priority share the device instead.
func (d *draft) ownLast() (set hostir.StreamSet, work, last hostir.StreamRef) {
	set, work = workStreams(d), poolRef(d)
	if d.with.compute == 0 {
		set.First, set.Count = one, hostir.Add(hostir.Size, one)
	}
	return set, work, hostir.StreamAt(set.Name, poolIndex(d, hostir.Size))
}

// sumArrived is the sum at the owner after every peer's part has arrived.
func (d *draft) sumArrived() []hostir.Node {
	return []hostir.Node{hostir.Wait(mainRef, arrived, every), d.sumSlots()}
}

// sumSlots sums the slots into C.
func (d *draft) sumSlots() hostir.Step {
	c := hostir.Whole("C")
	return d.sum(mainRef, c, c, hostir.Chunk(slots, hostir.Var(hostir.RankIndex)).EachRank()).
		Described("once, in the order of ranks")
}

// puts are the streams of the copies to owners. Each step has one, so that one copy's
// start-up latency overlaps another copy. The sum waits for all of them.
func (d *draft) puts() (set hostir.StreamSet, put hostir.StreamRef) {
	set = hostir.StreamSet{Name: copyName, First: hostir.Const(1), Count: hostir.Size, High: true}
	return set, hostir.StreamAt(copyName, step)
}

// reducePut puts partial results into slots at their owners. Before everything else the
// owner posts that its slots are free.
func reducePut(d *draft) error {
	if err := d.reduceBuffers(slots); err != nil {
		return err
	}
	d.stack(partial, d.buffer("C").Tensor)
	if d.uneven("C") {
		d.counted(partial, hostir.Var(countChunk))
		d.alike(slots)
	}
	return d.putParts(d.rowsOf, "rows")
}

// putParts makes the partial result of each rank's part, puts it into the slot at its owner, and adds up the slots
// here.
func (d *draft) putParts(of func(on hostir.StreamRef, dst hostir.View, rank hostir.Expr) hostir.Step,
	what string) error {
	d.semaphores(free, arrived)
	set, work, last := d.ownLast()
	copies, put := d.puts()
	to := hostir.Var("to")
	peer, freed := hostir.Bind("to", hostir.Ahead(step)), hostir.Wait(put, free, to)
	multiply := of(work, hostir.Chunk(partial, to), to)
	own := of(last, hostir.Chunk(slots, hostir.Rank), hostir.Rank).
		Described("own " + what + " last, straight into their slot")
	moved := []hostir.Node{hostir.Set(put, hostir.Remote(slots, to, hostir.Rank), hostir.Chunk(partial, to)),
		hostir.Post(put, arrived, to)}
	exchange := append([]hostir.Node{peer, freed, multiply, hostir.After(put, work)}, moved...)
	d.add(d.forkAndPost(set, copies)...)
	d.add(steps(exchange...), own, join(copies, set))
	d.add(d.sumArrived()...)
	return nil
}

// reducePutColumns is reducePut of a rank's columns. The result's columns are rows of the weight.
func reducePutColumns(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	c := d.buffer("C")
	d.cut("B", schedule.D)
	for _, name := range []string{slots, partial} {
		d.memory(name, c.Elements, append([]schedule.Axis{schedule.Dim(schedule.D)}, c.Tensor.Axes...)...)
	}
	return d.putParts(func(on hostir.StreamRef, dst hostir.View, rank hostir.Expr) hostir.Step {
		return hostir.Multiply(on, hostir.Linear, dst, hostir.Whole("A"), hostir.Chunk("B", rank))
	}, "columns")
}

// postFree posts to every peer that it may write its slot.
func postFree() hostir.Node {
	return hostir.Post(mainRef, free, every).Described("the slots may be written")
}

// forkAndPost forks the streams of the products, posts to the peers, and forks the other
// streams: the first product need not wait for the post, and the copies wait for peers. If
// priorities fall, only the first step is forked before the post: a product that has begun
// keeps the device, whatever its priority, so the others must not begin at the same moment.
func (d *draft) forkAndPost(set hostir.StreamSet, others ...hostir.StreamSet) []hostir.Node {
	first := d.fork(append(others, set)...)
	rest := first
	first.Remark = "the first product starts before the post"
	first.Streams, rest.Streams = refs([]hostir.StreamSet{set}), refs(others)
	if set.Falling {
		first.Streams = []hostir.StreamRef{hostir.StreamAt(set.Name, one)}
		rest.Streams = append(rest.Streams, hostir.StreamRef{Set: set.Name, From: hostir.Const(2), To: set.Count})
	}
	return []hostir.Node{first, postFree(), rest}
}

// reduceInSlot lets the product itself write the owner's slot. The own rows need not wait
// for the post to the peers.
func reduceInSlot(d *draft) error {
	if err := d.reduceBuffers(slots); err != nil {
		return err
	}
	d.semaphores(free, arrived)
	set, work, last := d.ownLast()
	fork := d.fork(set)
	if d.with.compute == 0 {
		own := fork
		own.Streams = []hostir.StreamRef{last}
		fork.Streams = []hostir.StreamRef{{Set: set.Name, From: set.First, To: hostir.Size}}
		d.add(own)
	}
	d.add(postFree())
	to := hostir.Var("to")
	peer, multiply := hostir.Bind("to", hostir.Ahead(step)), d.rowsOf(work, hostir.Remote(slots, to, hostir.Rank), to)
	d.add(fork, d.ownRows(last, ""), steps(peer, hostir.Wait(work, free, to), multiply, hostir.Post(work, arrived, to)),
		join(set))
	d.add(d.sumArrived()...)
	return nil
}

// staging holds the partial results that peers read.
const staging = "staging"

// reduceGet lets the owner copy partial results out of staging buffers that the
// steps take in turn, one for each compute stream. A step posts that its buffer is
// ready; the next step that takes the buffer waits until it was read. It waits after
// this rank's own copy of the step, for which another rank may wait.
func reduceGet(d *draft) error {
	if err := d.reduceBuffers(slots); err != nil {
		return err
	}
	buffers := d.with.compute
	c := d.buffer("C").Tensor
	axes := append([]schedule.Axis{schedule.Dim(decimal(buffers))}, c.Axes...)
	d.memory(staging, part(c), axes...)
	d.semaphores(ready, read)
	set, work := workStreams(d), poolRef(d)
	to, from, turn := hostir.Var("to"), hostir.Var("from"), work.Index
	d.program.Body = append([]hostir.Node{
		d.fork(copySet, set),
		steps(hostir.Bind("to", hostir.Ahead(step)), hostir.Bind("from", hostir.Behind(step)),
			d.rowsOf(work, hostir.Chunk(staging, turn), to),
			hostir.Post(work, ready, to),
			hostir.After(copyRef, work),
			hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, hostir.Chunk(slots, from), hostir.Remote(staging, from, turn)),
			hostir.Post(copyRef, read, from),
			hostir.After(work, copyRef),
			hostir.Wait(work, read, to).Described("the buffer is free again")),
		d.ownRows(mainRef, "last, "),
		join(copySet, set),
	}, d.sumSlots())
	return nil
}

package old

import (
	"ovgen/schedule/hostir"
)

// ringSums holds the sums that pass through this rank: ring[i] is that of its step i.
const ringSums = "ring"

// Rings send the sum of a chunk once round: chunk c starts at rank c+1, every rank
// adds its part, and it ends at rank c, its owner. In step i rank r therefore takes
// the sum that rank r-1 made in step i-1 and adds its part of chunk r-1-i.

// ringBuffers declares the tensors and the sums that pass through.
func (d *draft) ringBuffers() error {
	d.program.Semaphores = []hostir.Semaphore{{Name: ready, Count: hostir.Size}, {Name: read}}
	return d.reduceBuffers(ringSums)
}

var (
	previous = hostir.Var("previous")
	next     = hostir.Var("next")
	// neighbours of this rank in the ring.
	neighbours = []hostir.Node{hostir.Bind("previous", hostir.Behind(one)), hostir.Bind("next", hostir.Ahead(one))}
	// passing is the chunk whose sum this rank makes in step i.
	passing = hostir.Mod(hostir.Sub(hostir.Sub(hostir.Add(hostir.Size, hostir.Rank), one), step), hostir.Size)
	// final is the step of this rank's chunk, beforeFinal the one before it.
	final       = hostir.Sub(hostir.Size, one)
	beforeFinal = hostir.Sub(hostir.Size, hostir.Const(2))
)

// passedOn is the loop over the steps that receive a sum and pass it on.
func passedOn(body ...hostir.Node) hostir.For {
	return hostir.Loop(stepIndex, one, final, body...)
}

// reduceRing adds in the epilogue of the product: the sum so far is copied to where
// the product accumulates. Each needs the one before, so one stream has them all.
func reduceRing(d *draft) error {
	if err := d.ringBuffers(); err != nil {
		return err
	}
	d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	add := func(dst hostir.View, chunk hostir.Expr) hostir.Step {
		return d.rowsOf(mainRef, dst, chunk).Accumulated()
	}
	body := append([]hostir.Node{}, neighbours...)
	body = append(body,
		d.rowsOf(mainRef, hostir.Chunk(ringSums, hostir.Const(0)), hostir.Behind(one)),
		hostir.Post(mainRef, ready, next).Member(hostir.Const(0)),
		passedOn(
			hostir.Wait(mainRef, ready, previous).Member(hostir.Sub(step, one)),
			hostir.Set(mainRef, hostir.Chunk(ringSums, step), hostir.Remote(ringSums, previous, hostir.Sub(step, one))),
			add(hostir.Chunk(ringSums, step), passing),
			hostir.Post(mainRef, ready, next).Member(step)),
		hostir.Wait(mainRef, ready, previous).Member(beforeFinal),
		hostir.Set(mainRef, hostir.Whole("C"), hostir.Remote(ringSums, previous, beforeFinal)),
		add(hostir.Whole("C"), hostir.Rank),
		hostir.Post(mainRef, read, previous),
		hostir.Wait(mainRef, read, next))
	d.program.Body = []hostir.Node{alone(d.rowsOf(mainRef, hostir.Whole("C"), hostir.Rank), body...)}
	return nil
}

// reduceRingKernel adds by a kernel that reads the sum so far from the previous rank. The
// products need no neighbour, so they run before the sums.
func reduceRingKernel(d *draft) error {
	if err := d.ringBuffers(); err != nil {
		return err
	}
	d.stack(partial, d.buffer("C").Tensor)
	set, work := workStreams(d), poolRef(d)
	last := work
	last.Index = final
	if d.with.compute > 0 {
		last.Index = hostir.Mod(final, hostir.Var(poolName))
	}
	plus := func(dst hostir.View, i hostir.Expr) hostir.Node {
		return hostir.Reduce(copyRef, dst, hostir.Remote(ringSums, previous, hostir.Sub(i, one)),
			hostir.Chunk(partial, i))
	}
	fork := d.fork(set, copySet)
	fork.Streams = fork.Streams[:1]
	lastSum := hostir.Reduce(copyRef, hostir.Whole("C"), hostir.Remote(ringSums, previous, beforeFinal),
		hostir.Chunk(partial, final))
	body := append([]hostir.Node{}, neighbours...)
	body = append(body,
		d.rowsOf(mainRef, hostir.Chunk(ringSums, hostir.Const(0)), hostir.Behind(one)),
		hostir.Post(mainRef, ready, next).Member(hostir.Const(0)),
		hostir.After(copyRef, mainRef),
		steps(d.rowsOf(work, hostir.Chunk(partial, step), passing)),
		passedOn(
			hostir.After(copyRef, work),
			hostir.Wait(copyRef, ready, previous).Member(hostir.Sub(step, one)),
			plus(hostir.Chunk(ringSums, step), step),
			hostir.Post(copyRef, ready, next).Member(step)),
		hostir.After(copyRef, last),
		hostir.Wait(copyRef, ready, previous).Member(beforeFinal),
		lastSum,
		hostir.Post(copyRef, read, previous),
		hostir.Wait(copyRef, read, next),
		hostir.After(mainRef, copyRef))
	d.program.Body = []hostir.Node{fork, alone(d.rowsOf(mainRef, hostir.Whole("C"), hostir.Rank), body...), join(set)}
	return nil
}

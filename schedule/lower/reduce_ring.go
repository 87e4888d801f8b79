package lower

import (
	"fmt"

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
	one      = hostir.Const(1)
	previous = hostir.Var("previous")
	next     = hostir.Var("next")
	// neighbours of this rank in the ring.
	neighbours = []hostir.Node{let("previous", behind(one)), let("next", ahead(one))}
	// passing is the chunk whose sum this rank makes in step i.
	passing = hostir.Mod(hostir.Sub(hostir.Sub(hostir.Add(hostir.Size, hostir.Rank), one), step), hostir.Size)
	// final is the step of the own chunk, beforeFinal the one before it.
	final       = hostir.Sub(hostir.Size, one)
	beforeFinal = hostir.Sub(hostir.Size, hostir.Const(2))
)

// passedOn is the loop over the steps that receive a sum and pass it on.
func passedOn(body ...hostir.Node) hostir.For {
	return hostir.For{Index: stepIndex, From: one, To: final, Body: body}
}

// member sets the member of a post's or wait's semaphore.
func member(n hostir.Node, index hostir.Expr) hostir.Node {
	switch n := n.(type) {
	case hostir.Post:
		n.Index = index
		return n
	case hostir.Wait:
		n.Index = index
		return n
	}
	panic(fmt.Sprintf("lower: a %T has no semaphore", n))
}

// reduceRing adds in the epilogue of the product: the sum so far is copied to where
// the product accumulates. Each needs the one before, so one stream has them all.
func reduceRing(d *draft) error {
	if err := d.ringBuffers(); err != nil {
		return err
	}
	d.program.Streams = []hostir.StreamSet{{Name: mainName}}
	add := func(dst hostir.View, chunk hostir.Expr) hostir.Node {
		return accumulated(d.rowsOf(mainRef, dst, chunk))
	}
	body := append([]hostir.Node{}, neighbours...)
	body = append(body,
		d.rowsOf(mainRef, slice(ringSums, hostir.Const(0)), behind(one)),
		member(post(mainRef, ready, next), hostir.Const(0)),
		passedOn(
			member(wait(mainRef, ready, previous), hostir.Sub(step, one)),
			move(mainRef, slice(ringSums, step), remote(ringSums, previous, hostir.Sub(step, one))),
			add(slice(ringSums, step), passing),
			member(post(mainRef, ready, next), step)),
		member(wait(mainRef, ready, previous), beforeFinal),
		move(mainRef, whole("C"), remote(ringSums, previous, beforeFinal)),
		add(whole("C"), hostir.Rank),
		post(mainRef, read, previous),
		wait(mainRef, read, next))
	d.program.Body = []hostir.Node{alone(d.rowsOf(mainRef, whole("C"), hostir.Rank), body...)}
	return nil
}

// accumulated lets a product add to its result; a bias is added by the same product.
func accumulated(n hostir.Node) hostir.Node {
	switch n := n.(type) {
	case hostir.Matmul:
		n.Accumulate = true
		return n
	case hostir.Linear:
		n.Accumulate = true
		return n
	case hostir.Gradient:
		n.Accumulate = true
		return n
	}
	panic(fmt.Sprintf("lower: a %T adds to nothing", n))
}

// reduceRingKernel adds by a kernel that reads the sum so far from the previous rank. The
// products need no neighbour, so they run ahead of the sums.
func reduceRingKernel(d *draft) error {
	if err := d.ringBuffers(); err != nil {
		return err
	}
	d.stack(partial, d.buffer("C").Tensor)
	set, work := workStreams(d), poolRef(d)
	last := work
	last.Index = final
	if d.schedule.Streams.Compute > 0 {
		last.Index = hostir.Mod(final, hostir.Var(poolName))
	}
	plus := func(dst hostir.View, i hostir.Expr) hostir.Node {
		return sum(copyRef, dst, hostir.Terms{View: remote(ringSums, previous, hostir.Sub(i, one))}, hostir.Terms{View: slice(partial, i)})
	}
	fork := d.fork(set, copySet)
	fork.Streams = fork.Streams[:1]
	lastSum := sum(copyRef, whole("C"), hostir.Terms{View: remote(ringSums, previous, beforeFinal)}, hostir.Terms{View: slice(partial, final)})
	body := append([]hostir.Node{}, neighbours...)
	body = append(body,
		d.rowsOf(mainRef, slice(ringSums, hostir.Const(0)), behind(one)),
		member(post(mainRef, ready, next), hostir.Const(0)),
		after(copyRef, mainRef),
		steps(d.rowsOf(work, slice(partial, step), passing)),
		passedOn(
			after(copyRef, work),
			member(wait(copyRef, ready, previous), hostir.Sub(step, one)),
			plus(slice(ringSums, step), step),
			member(post(copyRef, ready, next), step)),
		after(copyRef, last),
		member(wait(copyRef, ready, previous), beforeFinal),
		lastSum,
		post(copyRef, read, previous),
		wait(copyRef, read, next),
		after(mainRef, copyRef))
	d.program.Body = []hostir.Node{fork, alone(d.rowsOf(mainRef, whole("C"), hostir.Rank), body...), join(set)}
	return nil
}

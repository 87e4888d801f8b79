package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var sumRings = append(
	by(func(w *writer, s *stage, way schedule.RingSum) error {
		s.leaving = leaving{each: []string{ringSums, partial}, plan: summedInRing}
		return w.pooled("Streams", way.Streams, false)
	}, reduce(ofRows), reduce(ofColumns)),
	by(func(_ *writer, s *stage, _ schedule.RingAccumulate) error {
		s.leaving = leaving{each: []string{ringSums}, plan: accumulatedInRing}
		return nil
	}, reduce(ofRows), reduce(ofColumns))...).has(rounds).with(except(
	func(s *stage) bool { return s.inTurn() || len(s.taken) > 0 },
	"it adds up products of rows that are all there, and these come one rank's after another's"), because(slotHoles))

// ringSums holds the sums that pass through this rank: ring[i] is that of its step i.
const ringSums = "ring"

// Rings send the sum of a chunk once round: chunk c starts at rank c+1, every rank
// adds its part, and it ends at rank c, its owner. In step i rank r therefore takes
// the sum that rank r-1 made in step i-1 and adds its part of chunk r-1-i. No rank has all terms, so sums are rounded
// on the way.

// rounded returns the view in which a way leaves its rounded sums, and the step that applies the functions behind them:
// a sum of one term, or no step without functions.
func (w *writer) rounded(s *stage) (to hostir.View, finish []hostir.Node) {
	to = hostir.Whole(s.Sums)
	if w.Schedule.HasFinish(s.Last()) {
		sum := *w.program.At(s.Sums)
		to.Buffer = w.named(reduced, s.Sums)
		chunk := sum.Chunk
		if !sum.Rows.IsZero() { // whose columns travel further
			chunk = sum.Elements
		}
		w.memory(to.Buffer, chunk, sum.Tensor.Axes...)
		finish = []hostir.Node{w.sumOf(mainRef, s, hostir.Whole(s.Sums), hostir.Whole(s.Sums), to)}
	}
	return to, finish
}

// inRing is what rings have in common.
type inRing struct {
	*writer
	s                 *stage
	ring, ready, read string
	to                hostir.View   // where the sums end
	finish            []hostir.Node // what is done with them there
}

func (w *writer) inRing(s *stage) inRing {
	to, finish := w.rounded(s)
	return inRing{w, s, w.named(ringSums, s.Sums), w.named(ready, s.Sums), w.named(read, s.Sums), to, finish}
}

// product makes the partial result of a rank's rows.
func (x inRing) product(on hostir.StreamRef, to hostir.View, rank hostir.Expr) []hostir.Node {
	before, made := x.partials(on, x.s, x.s.Ops, ofRank(rank))
	return append(before, into(to, made)...)
}

// passedOn is the departure. Where a rank has peers, add takes the sum of the rank before and adds this rank's part of
// a chunk in step i; before that come some nodes.
func (x inRing) passedOn(on hostir.StreamRef, before []hostir.Node,
	add func(dst hostir.View, i, chunk hostir.Expr) []hostir.Node) (d departure) {
	d.words = []hostir.Semaphore{{Name: x.ready, Count: hostir.Size}, {Name: x.read}}
	moved := func(nodes ...hostir.Node) []hostir.Node { return hostir.MovesOf(x.s.Sums, nodes...) }
	d.passes = func() []hostir.Node {
		each := append(add(hostir.Chunk(x.ring, step), step, passing),
			moved(hostir.Post(on, x.ready, next).Member(step))...)
		zero := hostir.Const(0)
		peers := slices.Concat(neighbours, x.product(mainRef, hostir.Chunk(x.ring, zero), hostir.Behind(one)),
			moved(hostir.Post(mainRef, x.ready, next).Member(zero)), before,
			[]hostir.Node{hostir.Loop(stepIndex, one, final, each...)}, add(x.to, final, hostir.Rank),
			moved(hostir.Post(on, x.read, previous), hostir.Wait(on, x.read, next)))
		if on != mainRef {
			peers = append(peers, hostir.After(mainRef, on))
		}
		return append([]hostir.Node{hostir.If{X: hostir.Size, Y: one, Then: x.product(mainRef, x.to, hostir.Rank),
			Else: peers}}, x.finish...)
	}
	return d
}

var (
	previous = hostir.Var("previous")
	next     = hostir.Var("next")
	// neighbours of this rank in the ring.
	neighbours = []hostir.Node{hostir.Bind("previous", hostir.Behind(one)), hostir.Bind("next", hostir.Ahead(one))}
	// passing is the chunk whose sum this rank makes in step i.
	passing = hostir.Mod(hostir.Sub(hostir.Sub(hostir.Add(hostir.Size, hostir.Rank), one), step), hostir.Size)
	// final is the step of this rank's chunk.
	final = hostir.Sub(hostir.Size, one)
)

// accumulatedInRing adds in the epilogue of the product: the sum so far is copied to where
// the product accumulates. Each needs the one before, so one stream has them all.
func accumulatedInRing(w *writer, s *stage) departure {
	x := w.inRing(s)
	d := x.passedOn(mainRef, nil, func(dst hostir.View, i, chunk hostir.Expr) []hostir.Node {
		first, made := w.partials(mainRef, s, s.Ops, ofRank(chunk))
		made[0] = onStep(made[0], hostir.Step.Accumulated)
		before := hostir.Sub(i, one)
		return slices.Concat(first, hostir.MovesOf(s.Sums, hostir.Wait(mainRef, x.ready, previous).Member(before),
			hostir.Set(mainRef, dst, hostir.Remote(x.ring, previous, before))), into(dst, made))
	})
	d.order = []turns{{}}
	return d
}

// summedInRing adds by a kernel that reads the sum so far from the previous rank. The
// products need no neighbour, so they run before the sums.
func summedInRing(w *writer, s *stage) departure {
	x, partial := w.inRing(s), w.named(partial, s.Sums)
	products := steps(x.product(w.work, hostir.Chunk(partial, step), passing)...)
	d := x.passedOn(copyRef, []hostir.Node{hostir.After(copyRef, mainRef), products},
		func(dst hostir.View, i, _ hostir.Expr) []hostir.Node {
			before := hostir.Sub(i, one)
			return hostir.MovesOf(s.Sums, hostir.After(copyRef, w.worker(i)),
				hostir.Wait(copyRef, x.ready, previous).Member(before),
				hostir.Reduce(copyRef, dst, hostir.Remote(x.ring, previous, before), hostir.Chunk(partial, i)))
		})
	passes := d.passes
	d.passes = func() []hostir.Node {
		w.streams(copySet) // where the first product is made
		return append(passes(), join(refs([]hostir.StreamSet{w.set})...))
	}
	d.order = []turns{{set: w.set}}
	return d
}

package lower

import (
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var sumRings = append(by(ringSum, reduceRows, reduceColumns), by(ringAccumulate, reduceRows, reduceColumns)...).
	with(ofOneProduct)

func ringSum(d *draft, s *stage, w schedule.RingSum) error {
	d.with.compute = w.Streams
	d.edge.Carrier = signalledBy(w.Signals, schedule.MemOps)
	return d.passOn(s, leaving{memory: ringMemory(ringSums, partial), plan: summedInRing})
}

func ringAccumulate(d *draft, s *stage, w schedule.RingAccumulate) error {
	d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
	return d.passOn(s, leaving{memory: ringMemory(ringSums), plan: accumulatedInRing})
}

// ringSums holds the sums that pass through this rank: ring[i] is that of its step i.
const ringSums = "ring"

// Rings send the sum of a chunk once round: chunk c starts at rank c+1, every rank
// adds its part, and it ends at rank c, its owner. In step i rank r therefore takes
// the sum that rank r-1 made in step i-1 and adds its part of chunk r-1-i.

// passOn refuses functions of sums that no rank has all terms of.
func (d *draft) passOn(s *stage, x leaving) error {
	d.leaveBy(s, x)
	for _, f := range s.ops[0].Then {
		return refused(d.at(), "use another way, or leave it out",
			"no kernel makes these sums that could add %s as well", strings.Join(f.Reads(), " and "))
	}
	return nil
}

// ringMemory is that of stacks of some names.
func ringMemory(names ...string) func(w *writer, s *stage, columns schedule.Axis) {
	return func(w *writer, s *stage, columns schedule.Axis) { w.stacks(s, columns, 1, names...) }
}

// inRing is what rings have in common, of the steps of ranks that have peers.
func inRing(s *stage, exchange func(d *departure) []hostir.Node) (d departure) {
	d.share = shareOf(s, 1)
	d.words = []hostir.Semaphore{{Name: ready, Count: hostir.Size}, {Name: read}}
	d.passes = func() []hostir.Node {
		body := append(slices.Clone(neighbours),
			d.product(mainRef, hostir.Chunk(ringSums, hostir.Const(0)), hostir.Behind(one)))
		first := hostir.MovesOf(s.sums, hostir.Post(mainRef, ready, next).Member(hostir.Const(0)))
		return withPeers(slices.Concat(body, first, exchange(&d)),
			d.product(mainRef, hostir.Whole(s.sums), hostir.Rank))
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
	// final is the step of this rank's chunk, beforeFinal the one before it.
	final       = hostir.Sub(hostir.Size, one)
	beforeFinal = hostir.Sub(hostir.Size, hostir.Const(2))
)

// passedOn is the loop over the steps that receive a sum and pass it on.
func passedOn(body ...hostir.Node) hostir.For {
	return hostir.Loop(stepIndex, one, final, body...)
}

// accumulatedInRing adds in the epilogue of the product: the sum so far is copied to where
// the product accumulates. Each needs the one before, so one stream has them all.
func accumulatedInRing(w *writer, s *stage) departure {
	w.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	moved := func(nodes ...hostir.Node) []hostir.Node { return hostir.MovesOf(s.sums, nodes...) }
	return inRing(s, func(d *departure) []hostir.Node {
		// add takes the sum that the rank before made in a step, and adds a chunk to it.
		add := func(dst hostir.View, before, chunk hostir.Expr) []hostir.Node {
			return append(moved(hostir.Wait(mainRef, ready, previous).Member(before),
				hostir.Set(mainRef, dst, hostir.Remote(ringSums, previous, before))),
				d.product(mainRef, dst, chunk).(hostir.Step).Accumulated())
		}
		passed := append(add(hostir.Chunk(ringSums, step), hostir.Sub(step, one), passing),
			moved(hostir.Post(mainRef, ready, next).Member(step))...)
		nodes := append([]hostir.Node{passedOn(passed...)}, add(hostir.Whole(s.sums), beforeFinal, hostir.Rank)...)
		return append(nodes, moved(hostir.Post(mainRef, read, previous), hostir.Wait(mainRef, read, next))...)
	})
}

// summedInRing adds by a kernel that reads the sum so far from the previous rank. The
// products need no neighbour, so they run before the sums.
func summedInRing(w *writer, s *stage) departure {
	fork := w.fork(w.set, copySet)
	fork.Streams = fork.Streams[:1]
	last := w.work
	last.Index = poolIndex(w.draft, final)
	d := inRing(s, func(d *departure) []hostir.Node {
		// add takes the sum that the rank before made in a step, and adds the product of the next step.
		add := func(work hostir.StreamRef, dst hostir.View, before, i hostir.Expr) []hostir.Node {
			return []hostir.Node{hostir.After(copyRef, work),
				hostir.Wait(copyRef, ready, previous).Member(before),
				hostir.Reduce(copyRef, dst, hostir.Remote(ringSums, previous, before), hostir.Chunk(partial, i))}
		}
		passed := append(add(w.work, hostir.Chunk(ringSums, step), hostir.Sub(step, one), step),
			hostir.Post(copyRef, ready, next).Member(step))
		nodes := append([]hostir.Node{passedOn(passed...)}, add(last, hostir.Whole(s.sums), beforeFinal, final)...)
		nodes = append(nodes, hostir.Post(copyRef, read, previous), hostir.Wait(copyRef, read, next),
			hostir.After(mainRef, copyRef))
		return append([]hostir.Node{hostir.After(copyRef, mainRef),
			steps(d.product(w.work, hostir.Chunk(partial, step), passing))}, hostir.MovesOf(s.sums, nodes...)...)
	})
	d.head, d.tail = []hostir.Node{fork}, []hostir.Node{join(w.set)}
	return d
}

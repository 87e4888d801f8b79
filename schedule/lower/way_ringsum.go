package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var sumRings = slices.Concat(
	append(by(inKernels, reduce(ofRows), reduce(ofColumns), reduce(ofBalanced), reduce(ofBatches), reduceAll(ofRows),
		reduceAll(ofCounted)),
		by(func(_ *writer, s *stage, _ schedule.RingAccumulate) error {
			s.leaving = leaving{memory: []declare{each(ringSums), reducedMemory}, plan: accumulatedInRing}
			return nil
		}, reduce(ofRows), reduce(ofColumns), reduce(ofBalanced), reduce(ofBatches), reduceAll(ofRows),
			reduceAll(ofCounted))...).with(except(
		func(s *stage) bool { return s.inTurn() || len(s.taken) > 0 },
		"it adds up products of rows that are all there, and these come one rank's after another's")),
	by(inKernels, reduce(ofRows).Alone(), reduce(ofCounted).Alone(), reduceAll(ofRows).Alone()).
		with(lacksOf(unmade, "Streams")),
	by(inKernels, reduce(ofGradient), reduceAll(ofGradient)).with(lacksOf(madeAtOnce, "Streams")),
	by(inKernels, reduce(ofCounted)).with(lacksOf(allCounted, "Streams"))).
	has(rounds).with(because(slotHoles))

func inKernels(w *writer, s *stage, way schedule.RingSum) error {
	s.madeWhole(w)
	s.leaving = leaving{memory: []declare{each(ringSums), summandMemory, reducedMemory}, plan: summedInRing}
	return w.pooled(s, "Streams", way.Streams)
}

// ringSums holds the sums that pass through this rank, by the ranks that own them.
const ringSums = "ring"

// Rings send the sum of a chunk once round: chunk c starts at rank c+1, every rank
// adds its part, and it ends at rank c, its owner. In step i rank r therefore takes
// the sum that rank r-1 made in step i-1 and adds its part of chunk r-1-i. No rank has all terms, so sums are rounded
// on the way.

// inRing is what rings have in common.
type inRing struct {
	*writer
	s           *stage
	ready, read string
	ring, to    place         // of sums on their way, and where they end
	finish      []hostir.Node // what is done with them there
}

// place is where a piece of rows is made.
type place func(p piece) hostir.View

func (w *writer) inRing(s *stage) inRing {
	own, rows := w.ownSums(s, w.apart())
	x := inRing{w, s, w.named(ready, s.Sums), w.named(read, s.Sums), w.placeIn(w.named(ringSums, s.Sums)), nil, nil}
	x.to = func(p piece) hostir.View { return hostir.Chunk(own.Buffer, cmp.Or(own.Index, p.part)) }
	if w.Schedule.HasFinish(s.Last()) { // of the own chunk, which no step fills
		x.to = x.ring
		x.finish = []hostir.Node{w.sumOf(mainRef, s, own, rows, x.ring(ofRank(hostir.Rank)))}
	}
	return x
}

func (w *writer) placeIn(buffer string) place {
	return func(p piece) hostir.View { return w.at(buffer, p) }
}

// product makes the partial result of a rank's rows in a place.
func (x inRing) product(on hostir.StreamRef, to place, rank hostir.Expr) []hostir.Node {
	before, made := x.partials(on, to, rank)
	if given := x.s.Given; given != "" {
		set := hostir.Set(on, to(ofRank(rank)), x.rowsAt(given, rank))
		return append(before, hostir.MovesOf(x.s.Sums, set)...)
	}
	return append(before, made...)
}

// partials are the products that make it, and what is made before them.
func (x inRing) partials(on hostir.StreamRef, to place, rank hostir.Expr) (before, made []hostir.Node) {
	p := x.inBatch(x.s, ofRank(rank))
	before, made = x.writer.partials(on, x.s, x.s.Ops, p)
	return x.within(before...), x.within(into(to(p), made)...)
}

// turn is a step of the ring, in which this rank makes the sum of a chunk.
func (x inRing) turn(nodes ...hostir.Node) []hostir.Node {
	chunk := hostir.Mod(hostir.Sub(hostir.Sub(hostir.Add(hostir.Size, hostir.Rank), one), step), hostir.Size)
	return append([]hostir.Node{hostir.Bind("chunk", chunk)}, nodes...)
}

// passedOn is the departure. Where a rank has peers, add takes the sum of the rank before and adds this rank's part of
// a chunk in step i; before that come some nodes, with products on a set of streams.
func (x inRing) passedOn(on hostir.StreamRef, set hostir.StreamSet, before []hostir.Node,
	add func(to place, i, chunk hostir.Expr) []hostir.Node) departure {
	moved := func(nodes ...hostir.Node) []hostir.Node { return hostir.MovesOf(x.s.Sums, nodes...) }
	posted := func(on hostir.StreamRef, round hostir.Expr) []hostir.Node {
		return moved(hostir.Post(on, x.ready, next).Member(x.apart().chunk(round)))
	}
	each := x.turn(append(add(x.ring, step, passing), posted(on, step)...)...)
	peers := slices.Concat(neighbours, x.product(mainRef, x.ring, hostir.Behind(one)),
		posted(mainRef, zero), before, []hostir.Node{hostir.Loop(stepIndex, one, final, each...)},
		add(x.to, final, hostir.Rank))
	var toAll []hostir.Node
	if own, _ := x.ownSums(x.s, parts{}); x.s.ToAll {
		toAll = x.toAll(mainRef, x.s, parts{}, own)
	}
	x.words(ready, x.s.Sums, x.apart().all(hostir.Size))
	if done := x.meet(x.apart(), read, x.s.Sums, ""); x.s.ToAll {
		toAll = moved(append(toAll, done...)...)
	} else {
		batch := x.apart().part()
		peers = append(peers, moved(hostir.Post(on, x.read, previous).Member(batch),
			hostir.Wait(on, x.read, next).Member(batch))...)
	}
	if on != mainRef {
		peers = append(peers, hostir.After(mainRef, on))
	}
	alone := x.product(mainRef, x.to, hostir.Rank)
	nodes := slices.Concat([]hostir.Node{hostir.If{X: hostir.Size, Y: one, Then: alone, Else: peers}}, x.finish, toAll)
	if set.Name != "" {
		nodes = append(nodes, hostir.Joined(hostir.Refs([]hostir.StreamSet{set})...))
	}
	return departure{order: []turns{{set: set}}, passes: func() []hostir.Node {
		if on != mainRef {
			x.program.Declare(copySet) // where the first product is made
		}
		return nodes
	}}
}

var (
	previous = hostir.Var("previous")
	next     = hostir.Var("next")
	// neighbours of this rank in the ring.
	neighbours = []hostir.Node{hostir.Bind("previous", hostir.Behind(one)), hostir.Bind("next", hostir.Ahead(one))}
	// passing is the chunk whose sum this rank makes in step i.
	passing = hostir.Var("chunk")
	// final is the step of this rank's chunk.
	final = hostir.Sub(hostir.Size, one)
)

// accumulatedInRing adds in the epilogue of the product: the sum so far is copied to where
// the product accumulates. Each needs the one before, so one stream has them all.
func accumulatedInRing(w *writer, s *stage) departure {
	x := w.inRing(s)
	return x.passedOn(mainRef, hostir.StreamSet{}, nil, func(to place, i, chunk hostir.Expr) []hostir.Node {
		first, made := x.partials(mainRef, to, chunk)
		made, before := hostir.ChangeSteps(made, hostir.Step.Accumulated), hostir.Sub(i, one)
		return slices.Concat(first, hostir.MovesOf(s.Sums,
			hostir.Wait(mainRef, x.ready, previous).Member(w.apart().chunk(before)),
			hostir.Set(mainRef, to(ofRank(chunk)), x.ring(ofRank(chunk)).At(previous))), made)
	})
}

// summedInRing adds by a kernel that reads the sum so far from the previous rank. The
// products need no neighbour, so they run before the sums.
func summedInRing(w *writer, s *stage) departure {
	x, partial := w.inRing(s), w.placeIn(w.summands(s))
	set, before := hostir.StreamSet{}, []hostir.Node{hostir.After(copyRef, mainRef)}
	if s.Given == "" {
		set, before = w.set, append(before, steps(x.turn(x.product(w.work, partial, passing)...)...))
	} else if functions, _ := x.partials(mainRef, partial, passing); len(functions) > 0 {
		before = append([]hostir.Node{steps(x.turn(functions...)...)}, before...)
	}
	return x.passedOn(copyRef, set, before, func(to place, i, chunk hostir.Expr) (nodes []hostir.Node) {
		if set.Name != "" {
			nodes = append(nodes, hostir.After(copyRef, w.worker(i)))
		}
		return hostir.MovesOf(s.Sums, append(nodes,
			hostir.Wait(copyRef, x.ready, previous).Member(w.apart().chunk(hostir.Sub(i, one))),
			hostir.Reduce(copyRef, to(ofRank(chunk)), x.ring(ofRank(chunk)).At(previous),
				partial(ofRank(chunk))))...)
	})
}

package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// One kernel reads from the peers all rows, or all partial results. Nobody overwrites them meanwhile.

var shots = slices.Concat(
	twoShots(reduceAll(ofRows).Alone()).has(ofCodes), twoShots(reduceAll(ofBatches), reduceAll(ofGradient)),
	by(inOneShot, reduce(ofRows).Alone(), reduce(ofCounted).Alone()).has(ofCodes),
	by(inOneShot, reduceAll(ofRows).Alone()).has(ofCodes|overwrites),
	by(inOneShot, reduce(ofRows), reduce(ofBalanced), reduce(ofBatches), reduce(ofGradient), reduce(ofCounted),
		reduceAll(ofRows), reduceAll(ofBatches), reduceAll(ofCounted), reduceAll(ofGradient)),
	twoShots(reduceAll(ofRows))).with(roundsByKernel)

// roundsByKernel says that one kernel makes no sums in fp32.
var roundsByKernel = lacks(lack{ofFP32: true, why: "no kernel of a whole shot keeps the sums of %s in fp32"},
	"Signals one kernel", "By one kernel")

func twoShots(of ...need) rowsOfTable {
	return by(inTwoShots, of...).has(betweenElements).with(because(twoShotHoles))
}

// gatherShots are not the fastest of their communications.
var gatherShots = append(
	by(gatheredInOneShot, gather(ofRows), gather(ofBatches), gather(ofSteps), gather(ofRows).Alone()),
	by(gatheredInOneShot, gather(ofOperand)).with(aside(copySet))...).has(copiesOwn | intoCallers)

// inOneShot serves sums by one kernel, which needs all partial results at once.
func inOneShot(w *writer, s *stage, _ schedule.Shot) error {
	// Uneven and balanced parts have other sizes on other ranks.
	w.edge.Carrier.ByBlocks = !w.Uneven(w.edge.Of) && !w.Coded(s.Stage)
	s.summing = sumsOfPeers
	return nil
}

// inTwoShots serves sums that each rank makes a part of.
func inTwoShots(w *writer, s *stage, _ schedule.TwoShot) error {
	// Kernels of other moves cut the same memory into other parts.
	w.edge.Carrier.ByBlocks = len(w.legs) == 1 && !w.Coded(s.Stage)
	s.summing = sumsOfParts
	return nil
}

func gatheredInOneShot(w *writer, s *stage, _ schedule.GatherShot) error {
	w.edge.Carrier = hostir.Carrier{Signals: true, Fused: true, ByBlocks: true}
	s.gathering = rowsOfPeers
	return nil
}

func sumsOfPeers(w *writer, s *stage) []hostir.Node {
	batches := w.leaveIn(s)
	from, sums := w.summands(s), hostir.Chunk(s.Sums, batches.part())
	term, remark := w.whole(from).At(rankIndex), "the same order on every rank"
	if s.ToAll {
		sums = w.whole(s.Sums)
	} else {
		term, remark = w.rowsAt(from, hostir.Rank).At(rankIndex), "own rows, in the order of ranks"
	}
	sum := []hostir.Node{w.sumOf(mainRef, s, sums, sums, term.EachRank()).Described(remark)}
	if w.edgeOf(s.Sums).Carrier.Fused { // a launch for each batch
		return batches.inTurn(slices.Concat(w.meet(batches, ready, s.Sums, "peers may read "+from), sum,
			w.meet(batches, read, s.Sums, ""))...)
	}
	return w.whileRead(from, s.Sums, batches.inTurn(sum...)...)
}

func rowsOfPeers(w *writer, s *stage) []hostir.Node {
	var rows []hostir.View // of all ranks, a batch after the other
	batches := w.comeIn(s)
	for i := range max(batches.n, 1) {
		part := hostir.Chunk(s.Input, batches.numbered(hostir.Const(i)))
		rows = append(rows, part.At(rankIndex).EachRank())
	}
	return w.whileRead(s.Input, s.here(), hostir.Collect(mainRef, hostir.Whole(s.here()), rows...))
}

// whileRead puts work of a move that reads memory of all ranks between two meetings of all ranks.
func (w *writer) whileRead(memory, move string, work ...hostir.Node) []hostir.Node {
	return slices.Concat(w.meet(parts{}, ready, move, "peers may read "+memory), work, w.meet(parts{}, read, move, ""))
}

// meet has all ranks meet on the caller's stream, for each part.
func (w *writer) meet(cut parts, word, move, remark string) []hostir.Node {
	word = w.words(word, move, cut.members())
	return []hostir.Node{hostir.Post(mainRef, word, every).Member(cut.part()).Described(remark),
		hostir.Wait(mainRef, word, every).Member(cut.part())}
}

// sumsOfParts is a sum in two shots: every rank sums its part of all inputs and copies the others' parts from the ranks
// that summed them. A part is of elements, so that all ranks share in one row, or of rows where functions
// or other steps take rows of a rank.
func sumsOfParts(w *writer, s *stage) []hostir.Node {
	input, own := w.summands(s), w.ownPart(s, false)
	if w.Coded(s.Stage) {
		w.cut(input, schedule.D)
	}
	sum := w.sumOf(mainRef, s, own, hostir.Chunk(s.Sums, hostir.Rank), w.flatAt(input, hostir.Rank).
		At(rankIndex).EachRank()).Described("own part, in the order of ranks")
	return slices.Concat(w.meet(parts{}, ready, s.Sums, "peers may read "+input), []hostir.Node{sum},
		w.toAll(mainRef, s, parts{}, own), w.meet(parts{}, read, s.Sums, ""))
}

// ownPart declares memory of this rank's part of a stage's sums, which are cut into such parts.
func (w *writer) ownPart(s *stage, rows bool) hostir.View {
	name, sums := w.named(reduced, s.Sums), *w.program.At(s.Sums)
	w.program.Memory(name, hostir.Expr{}, stages.PartOf(sums.Tensor))
	w.cutFlat(s, rows)
	b, part := w.program.At(name), hostir.Div(sums.Elements, hostir.Size)
	b.Elements, b.Chunk, b.Tensor.Type = part, part, sums.Tensor.Type
	return hostir.Whole(name)
}

// twoShotHoles are the facts of sums that each rank makes a part of.
var twoShotHoles = []hole{{func(n need) bool { return n.Kind == edges.ReduceScatter },
	"it brings every rank all sums"}}

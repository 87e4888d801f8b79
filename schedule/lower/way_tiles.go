package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var tilings = append(by(rowsByTiles, gather(ofRows)).has(intoCallers),
	by(sumsByTiles, reduce(ofRows), reduceAll(ofRows)).has(rounds).with(lacksOf("sums wait for all blocks of the "+
		"peers, and clusters of blocks may not all run at the same time", "Cluster"))...).with(because(tileHoles))

// Tiles by shape, measured on H200s: wide ones where they leave no multiprocessor idle.
var (
	tilesOfGather = []hostir.Tile{{Columns: 112, Cluster: 2}, {Columns: 128, Cluster: 1}, {Columns: 176, Cluster: 2},
		{Columns: 224, Cluster: 2, Together: true}}
	tilesOfScatter = []hostir.Tile{{Columns: 128, Cluster: 1}, {Columns: 144, Cluster: 1},
		{Columns: 256, Cluster: 1, Together: true}}
)

// rowsByTiles has one kernel pull the rows, and make the first product of them.
func rowsByTiles(w *writer, s *stage, way schedule.Tiles) error {
	t := tiling{w, way, plainBringing}
	if err := w.begins(s); err != nil {
		return err
	}
	s.gathering = t.pulledRows
	return cmp.Or(t.check(), t.take(s, s.Ops[0]))
}

// sumsByTiles has one kernel make the last product of a stage, put it into slots at the owners of its rows, and add up.
func sumsByTiles(w *writer, s *stage, way schedule.Tiles) error {
	t := tiling{w, way, plainSums}
	s.summing = t.scatteredSums
	return cmp.Or(t.check(), t.take(s, s.Last()))
}

// unit is the number of elements in 16 bytes: rows that tiles are made of are whole numbers of these.
const unit = 8

// tiling is kernels of tiles that a way asks for, and the way that does what they can't.
type tiling struct {
	*writer
	schedule.Tiles
	instead string
}

func (t tiling) cant(format string, args ...any) error {
	return refused(t.path(), "use "+t.instead, format, args...)
}

func (t tiling) check() error {
	const most = 192 // columns of a tile that one warpgroup has registers for
	switch {
	case t.Columns != 0 && (t.Columns < 64 || t.Columns%16 != 0):
		return t.refusal("Columns", "use 112, 128 or 224", "a tile has a multiple of 16 columns, from 64 on")
	case t.Columns > most && !t.Together:
		return t.refusal("Columns", "use at most 192, or set Together", "one warpgroup has no registers for as many")
	case slices.Contains(t.Schedule.Types, schedule.FP32):
		return refused(t.path(), "set Types to those, or use "+t.instead, "tiles are made of bf16 and fp16")
	}
	return nil
}

// take has the kernel make the product of an operation, if it makes such.
func (t tiling) take(s *stage, o schedule.Op) error {
	t.edge.Carrier = hostir.Carrier{Signals: true, Fused: true, ByBlocks: o.Out == s.Sums} // by groups of tiles
	t.edge.Products = t.ProductTexts([]schedule.Op{o})
	s.taken = append(s.taken, o.Out)
	if o.Name() != schedule.LinearWord {
		return t.cant("tiles are those of a linear, whose weight has a row for each column of its result, and %s is "+
			"a %s", o.Out, o.Name())
	}
	if t.Schedule.InFP32(o) {
		return t.cant("the kernel that makes tiles of %s rounds them", o.Out)
	}
	for _, f := range t.Schedule.With(o).Then {
		if f.AddsRow() != "" || o.Out == s.Sums {
			continue
		}
		t.instead += fmt.Sprintf(", or give it an operation of its own: schedule.Copy(%q, %q, ...)", o.Out, o.Out+"0")
		return t.cant("the kernel that makes tiles of %s applies no %s", o.Out, f.Name())
	}
	return nil
}

// list are the tiles that the way asks for, or those by shape.
func (t tiling) list(byShape []hostir.Tile) []hostir.Tile {
	if t.Tiles == (schedule.Tiles{}) {
		return byShape
	}
	return []hostir.Tile{{Columns: cmp.Or(t.Columns, 128), Cluster: cmp.Or(t.Cluster, 1), Together: t.Together}}
}

// pulledRows is one launch that pulls all shards and multiplies each when it is there. Own rows stay where they are,
// and are copied to the others if someone else takes all.
func (t tiling) pulledRows(w *writer, s *stage) []hostir.Node {
	o := s.Ops[0]
	own := hostir.Whole(s.Input)
	w.program.AskUnits(unit, w.ColumnsOf(s.Input), w.ColumnsOfWeight(o))
	nodes := w.whileRead(s.Input, s.here(),
		hostir.Do(mainRef, hostir.Tiles{Tiles: t.list(tilesOfGather), To: w.at(o.Out, piece{}),
			Gathered: hostir.Whole(s.here()), Own: own, B: w.weight(o), Bias: hostir.Whole(w.Schedule.With(o).Bias()),
			Shards: own.At(hostir.Ahead(step)).Over(stepIndex, hostir.Const(1), hostir.Size)}).
			Applying(w.functionsOf(o, false)))
	nodes[len(nodes)-1] = hostir.Remarked(nodes[len(nodes)-1], s.Input+" may be overwritten afterwards")
	others := w.any(func(x *stage) bool { return x.held == s }) || !w.inTurns(s) &&
		slices.ContainsFunc(s.Ops[1:], func(o schedule.Op) bool { return o.In[0] == s.Input })
	if s.Into != "" || others {
		nodes = append(nodes,
			hostir.Set(mainRef, w.rowsAt(s.here(), hostir.Rank), own).Described("own rows beside them"))
	}
	return nodes
}

// scatteredSums is one launch that multiplies the peers' rows into their slots, then this rank's rows, and adds up.
func (t tiling) scatteredSums(w *writer, s *stage) []hostir.Node {
	o := s.Last()
	reducedMemory(w, s)
	to, rows := w.ownSums(s, parts{})
	added, finish := w.finish(s, rows)
	w.ofEachRank(s, slots)
	slots := w.named(slots, s.Sums)
	x := w.at(o.In[0], piece{})
	w.program.AskUnits(unit, w.ColumnsOf(o.In[0]), w.ColumnsOfWeight(o))
	at := hostir.Remote(slots, hostir.Ahead(step), hostir.Rank)
	nodes := slices.Concat(w.meet(parts{}, free, s.Sums, mayWrite), []hostir.Node{
		hostir.Do(mainRef, hostir.Scatter{Tiles: t.list(tilesOfScatter), To: to,
			Slots: hostir.Whole(slots), Peers: at.Over(stepIndex, hostir.Const(1), hostir.Size),
			Own: hostir.Chunk(slots, hostir.Rank), A: x, B: w.weight(o), Added: added,
			Finish: finish}).
			Described("own rows last, and once, in the order of ranks").
			Applying(w.functionsOf(o, false))}, w.meet(parts{}, arrived, s.Sums, ""))
	if s.ToAll {
		nodes = slices.Concat(nodes, w.toAll(mainRef, s, parts{}, to), w.meet(parts{}, read, s.Sums, ""))
	}
	return nodes
}

// tileHoles are the facts of ways that bring rows in turn, and of those by which sums leave so.
var tileHoles = slices.Concat([]hole{
	{cutInto(ofOperand), "its kernel multiplies rows that come by one weight"},
	{func(n need) bool { return n.Of == ofColumns && n.Sums() },
		"its kernel gives each rank the tiles of the rank's rows, with all columns"},
	{cutInto(ofGradient), "it makes tiles of linears, whose rows are those of an operand"}}, rowsInTurn, slotHoles)

package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// hole is a fact why some ways do not do some communications.
type hole struct {
	is  func(n need, way schedule.Way) bool
	why string
}

// holes are the facts; the first that holds is given.
var holes = []hole{
	{func(n need, w schedule.Way) bool { return n.hosts && !sameWay(w, schedule.Rails{}) },
		"a rank can't reach the memory of another host"},
	{func(n need, w schedule.Way) bool { return !n.hosts && sameWay(w, schedule.Rails{}) },
		"ranks of one host have no network between them"},
	{func(n need, w schedule.Way) bool { return !n.sums() && !schedule.Travels(w) }, "it adds up partial results"},
	{func(n need, w schedule.Way) bool { return n.sums() && !schedule.Sums(w) }, "it adds nothing up"},
	{func(n need, _ schedule.Way) bool { return n.hosts && !n.sums() && n.Kind != edges.AllGather },
		"hosts exchange rows for all ranks, and sums of rows"},
	{func(n need, _ schedule.Way) bool {
		return !n.sums() && n.Kind != edges.AllGather
	}, "each rank takes its part once, and no product waits for it"},
	{func(n need, _ schedule.Way) bool { return n.of == ofSteps },
		"a step multiplies a batch of all ranks' rows, which one collective brings"},
	{func(n need, w schedule.Way) bool { return sameWay(w, schedule.Collective{}) },
		"it brings a batch of all ranks' rows a step"},
	{func(n need, w schedule.Way) bool { return sameWay(w, schedule.Padded{}) },
		"only counted rows of at most so many are padded"},
	{func(n need, _ schedule.Way) bool { return n.of == ofBatches }, "it takes all rows at once"},
	{func(n need, _ schedule.Way) bool { return n.of == ofColumns },
		"columns lie apart, and it moves what lies together"},
	{func(n need, w schedule.Way) bool { return n.bare && !n.sums() && inTurns(w) },
		"no product takes some rows while others come"},
	{func(n need, _ schedule.Way) bool { return n.of == ofBalanced || n.of == ofCounted },
		"it moves parts of one size"},
	{func(n need, _ schedule.Way) bool { return n.of == ofOperand }, "it is taken at once, or its parts in one order"},
	{func(n need, _ schedule.Way) bool { return n.of == ofGradient },
		"a gradient is made at once, and no rank's rows of it before others"},
	{func(n need, _ schedule.Way) bool { return n.bare && n.sums() }, "no product makes the terms"},
	{func(n need, _ schedule.Way) bool { return n.Kind == edges.AllReduce }, "its sums stay with their owners"},
	{func(n need, w schedule.Way) bool {
		return sameWay(w, schedule.TwoShot{}) || sameWay(w, schedule.PushTwoShot{})
	}, "it brings every rank all sums"},
	{func(n need, w schedule.Way) bool { return n.sums() },
		"it adds up products of rows that are there from the beginning, and these come"},
}

// sums says that partial results meet.
func (n need) sums() bool { return n.Kind == edges.ReduceScatter || n.Kind == edges.AllReduce }

// inTurns says that by a way the rows of one rank come after another's.
func inTurns(w schedule.Way) bool {
	return slices.ContainsFunc([]schedule.Way{schedule.Push{}, schedule.Grouped{}, schedule.Ring{}, schedule.PushRing{},
		schedule.Broadcast{}, schedule.Tiles{}, schedule.Naive{}}, func(x schedule.Way) bool { return sameWay(w, x) })
}

// sameWay says that a way is of the type of another one.
func sameWay(w, other schedule.Way) bool { return schedule.WayName(w) == schedule.WayName(other) }

// whyNot is the fact why a way does not do a communication; empty: it does, or nobody knows.
func whyNot(n need, w schedule.Way) string {
	if i := slices.IndexFunc(holes, func(h hole) bool { return h.is(n, w) }); i >= 0 {
		return holes[i].why
	}
	return ""
}

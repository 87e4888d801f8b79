package lower

import (
	"cmp"
	"reflect"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// Communication is one that placements can need.
type Communication struct {
	Kind   string // of its edge
	Data   string // of the edge, which ways tell apart: "columns", "rows over hosts"
	Placed string // placements that need it: "linear: A [DIDx(D), M/D, K], ..."
	// Ways that there are programs for; the first is the one where a schedule says none.
	Ways []schedule.Way
	// Lacks are the options that a way has for other communications alone, by the way's name: "Parts", "By one kernel".
	Lacks map[string][]string
	// Holes are the facts why other ways don't do it, by the way's name.
	Holes map[string]string
}

// Table lists the communications that package lower writes.
func Table() (list []Communication) {
	for _, n := range needs {
		c := Communication{Kind: string(n.Kind), Data: n.data(), Placed: n.placed, Lacks: map[string][]string{},
			Holes: map[string]string{}}
		for _, l := range doing(n.need) {
			c.Ways = append(c.Ways, l.way)
			c.Lacks[schedule.WayName(l.way)] = l.lacks
		}
		for _, w := range schedule.Ways() {
			if _, does := c.Lacks[schedule.WayName(w)]; !does {
				c.Holes[schedule.WayName(w)] = whyNot(n.need, w)
			}
		}
		list = append(list, c)
	}
	return list
}

// NotOverHosts are the communications of a kind that no way does over hosts, each with the fact why.
func NotOverHosts(kind string) (list []string) {
	for _, n := range needs {
		if across := n.overHosts(); string(n.Kind) == kind && !across.served() {
			list = append(list, n.data()+": "+whyNot(across, schedule.Rails{}))
		}
	}
	return list
}

func (n need) served() bool { return len(doing(n)) > 0 }

// data is what a communication is about, beyond its kind.
func (n need) data() string {
	text := cmp.Or(string(n.of), "rows")
	if n.bare {
		text += " alone"
	}
	return text + n.where()
}

// Moved is a tensor that travels in a program, and its way.
type Moved struct {
	schedule.Move
	Communication string
	Data          string            // of that, as the table has it
	Options       []schedule.Option // that the program was made by
	Open          bool              // a schedule that leaves the way open has the same
	Default       string            // the way of such a schedule
	Others        []string          // further ways that do it, not by their options
}

// Read lists the ways that a lowered program was made by, one for each of its edges.
func Read(p *hostir.Program) (list []Moved) {
	for _, e := range p.Edges {
		m := Moved{Move: schedule.Move{Of: e.Of, Way: e.Way}, Communication: e.Kind, Data: e.Data,
			Options: schedule.Options(e.Way), Open: reflect.DeepEqual(e.Way, e.Default),
			Default: schedule.WayName(e.Default)}
		for _, l := range lowerings {
			if l.String() != e.Kind || l.data() != e.Data {
				continue
			}
			if !l.takes(e.Way) {
				m.Others = append(m.Others, schedule.WayName(l.way))
				continue
			}
			m.Options = slices.DeleteFunc(m.Options, func(o schedule.Option) bool {
				return slices.Contains(l.lacks, o.Field)
			})
		}
		list = append(list, m)
	}
	return list
}

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
	{func(n need, _ schedule.Way) bool { return n.hosts && n.of == ofBatches },
		"its exchanges take the rows of all batches together, and products take one batch after another"},
	{func(n need, _ schedule.Way) bool { return n.of == ofBatches }, "it takes all rows at once"},
	{func(n need, _ schedule.Way) bool { return n.of == ofColumns },
		"columns lie apart, and it moves what lies together"},
	{func(n need, w schedule.Way) bool { return n.bare && !n.sums() && inTurns(w) },
		"no product takes some rows while others come"},
	{func(n need, w schedule.Way) bool { return n == gatherCounted && inTurns(w) },
		"New is told how many rows a product has, and Bind how many each rank has"},
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
}

func (n need) sums() bool { return n.Kind == edges.ReduceScatter || n.Kind == edges.AllReduce }

// inTurns says that by a way the rows of one rank come after another's.
func inTurns(w schedule.Way) bool {
	return slices.ContainsFunc([]schedule.Way{schedule.Push{}, schedule.Grouped{}, schedule.Ring{}, schedule.PushRing{},
		schedule.Broadcast{}, schedule.Tiles{}, schedule.Naive{}}, func(x schedule.Way) bool { return sameWay(w, x) })
}

func sameWay(w, other schedule.Way) bool { return schedule.WayName(w) == schedule.WayName(other) }

// whyNot is the fact why a way does not do a communication; empty: it does, or nobody knows.
func whyNot(n need, w schedule.Way) string {
	if i := slices.IndexFunc(holes, func(h hole) bool { return h.is(n, w) }); i >= 0 {
		return holes[i].why
	}
	return ""
}

package lower

import (
	"reflect"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// Communication is one that placements can need.
type Communication struct {
	Kind   string // of its edge
	Sums   bool   // it adds up partial results
	Data   string // of the edge, which ways tell apart: "columns", "rows over hosts"
	Placed string // placements that need it: "linear: A [DIDx(D), M/D, K], ..."
	// Ways that there are programs for; the first is the one where a schedule says none.
	Ways []schedule.Way
	// Lacks are the options that a way has for other communications alone, by the way's name: "Parts", "By one kernel".
	Lacks map[string][]string
	// Except are the rows that come by other ways beside which a way does not do it, and why, by the way's name.
	Except map[string]string
	// Holes are the facts why other ways don't do it, by the way's name.
	Holes map[string]string
}

// needs are the communications that ways do: of each kind those on one host, and behind them those that some way does
// over hosts.
func needs() (list []stages.Placed) {
	var across []stages.Placed
	for i, n := range stages.Needs {
		list = append(list, n)
		if n := n.OverHosts(); served(n) {
			across = append(across, stages.Placed{Need: n, By: "as on one host, Mesh schedule.Hosts()"})
		}
		if i+1 == len(stages.Needs) || stages.Needs[i+1].Kind != n.Kind {
			list, across = append(list, across...), nil
		}
	}
	return list
}

// Table lists the communications that package lower writes.
func Table() (list []Communication) {
	for _, n := range needs() {
		c := Communication{Kind: string(n.Kind), Sums: n.Sums(), Data: n.Data(), Placed: n.By,
			Lacks: map[string][]string{}, Holes: map[string]string{}, Except: map[string]string{}}
		for _, l := range doing(n.Need) {
			c.Ways = append(c.Ways, l.way)
			c.Lacks[schedule.WayName(l.way)], c.Except[schedule.WayName(l.way)] = []string{}, l.why
			for _, x := range l.lacks {
				if !x.ofFP32 {
					c.Lacks[schedule.WayName(l.way)] = append(c.Lacks[schedule.WayName(l.way)], x.option)
				}
			}
		}
		for _, w := range schedule.Ways() {
			if _, does := c.Lacks[schedule.WayName(w)]; !does {
				c.Holes[schedule.WayName(w)] = whyNot(n.Need, w)
			}
		}
		list = append(list, c)
	}
	return list
}

// NotOverHosts are the communications of a kind that no way does over hosts, each with the fact why.
func NotOverHosts(kind string) (list []string) {
	for _, n := range stages.Needs {
		if across := n.OverHosts(); string(n.Kind) == kind && !served(across) {
			list = append(list, n.Data()+": "+whyNot(across, betweenHosts()))
		}
	}
	return list
}

func served(n need) bool { return len(doing(n)) > 0 }

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
			if l.String() != e.Kind || l.Data() != e.Data {
				continue
			}
			if !l.takes(e.Way) {
				m.Others = append(m.Others, schedule.WayName(l.way))
				continue
			}
			m.Options = slices.DeleteFunc(m.Options, func(o schedule.Option) bool {
				x, lacks := l.lacked(o)
				return lacks && x.option == o.Field && !x.ofFP32
			})
		}
		list = append(list, m)
	}
	return list
}

// hole is a fact why a way does not do some communications.
type hole struct {
	is  func(need) bool
	why string
}

// gathersAll is the fact of ways of all-gathers alone.
var gathersAll = hole{func(n need) bool { return !n.Sums() && n.Kind != edges.AllGather },
	"it sends each rank's part to all ranks"}

// holes are facts of communications that several ways do not do, behind those that each way says of itself.
var holes = []hole{
	{cutInto(ofSteps), "a step multiplies a batch of all ranks' rows, which one collective brings"},
	{func(n need) bool { return n.Of == ofColumns && n.Sums() },
		"it adds up what one product makes, and a rank's columns lie apart there"},
	{cutInto(ofColumns), "columns lie apart, and it moves what lies together"},
	gathersAll,
	{cutInto(ofBatches), inOnePiece},
	{cutInto(ofBalanced, ofCounted), "it moves parts of one size"},
}

// inOnePiece is the fact of kernels that take rows of ranks as they lie.
const inOnePiece = "its kernel takes each rank's rows in one piece, and those of batches lie apart"

// cutInto says that a communication is of data that are cut in one of some ways.
func cutInto(cuts ...stages.Cut) func(need) bool {
	return func(n need) bool { return slices.Contains(cuts, n.Of) }
}

// whyNot is the fact why a way does not do a communication; empty: it does, or nobody knows.
func whyNot(n need, w schedule.Way) string {
	switch {
	case !n.Sums() && !schedule.Travels(w):
		return "it adds up partial results"
	case n.Sums() && !schedule.Sums(w):
		return "it adds nothing up"
	}
	own := lowerings[slices.IndexFunc(lowerings, func(l lowering) bool { return l.takes(w) })]
	if n.Hosts && !own.is(network) {
		return "a rank can't reach the memory of another host"
	}
	for _, h := range slices.Concat(own.holes, holes) {
		if h.is(n) {
			return h.why
		}
	}
	return ""
}

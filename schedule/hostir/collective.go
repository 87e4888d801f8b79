package hostir

import "fmt"

// Collective is work that ranks do together: all ranks or, in a program over hosts, the ranks of a rail, which have the
// same number on their hosts. Each rank brings From, and gets To. The n-th collective of a rank meets the n-th
// collective of every other rank.
type Collective struct {
	Does           Kind
	From, To       View
	Target, Source Expr // the ranks of an exchange
}

// Kinds of collectives.
const (
	AllGather     Kind = "all-gather"     // the views that all ranks bring, in their order
	ReduceScatter Kind = "reduce-scatter" // this rank's part of the sum, of as many parts as there are ranks
	AllReduce     Kind = "all-reduce"     // the sum of the views that all ranks bring
	AllToAll      Kind = "all-to-all"     // part r of each rank's view, in the order of ranks
	Exchange      Kind = "exchange"       // the view that rank Source brings; this rank's view goes to rank Target
)

// Collective reports whether ranks do the work together.
func (k Kind) Collective() bool {
	return k == AllGather || k == ReduceScatter || k == AllReduce || k == AllToAll || k == Exchange
}

// Kind is the kind of the collective.
func (x Collective) Kind() Kind { return x.Does }

func (x Collective) asks() string {
	if x.Does == Exchange {
		return MeshField
	}
	return MovesField
}

func (x Collective) views() (reads, writes []View) { return some(x.From), some(x.To) }

func (x Collective) result() View { return x.To }

func (x Collective) with(p Parts) Work {
	x.Target = p.expr("the rank that gets", x.Target)
	x.Source = p.expr("the rank that sends", x.Source)
	x.To, x.From = p.view("destination", x.To), p.view("source", x.From)
	return x
}

func (x Collective) text() string {
	if x.Does == Exchange {
		return fmt.Sprintf("Exchange(%s, %s, to %s, from %s)", x.To, x.From, x.Target, x.Source)
	}
	return called(x.Does.Title(), []View{x.To}, []View{x.From})
}

func (x Collective) check(s Step) error {
	switch exchanges := x.Does == Exchange; {
	case !x.Does.Collective():
		return fmt.Errorf("there is no collective %q", x.Does)
	case len(some(x.From, x.To)) < 2 || !x.To.Peer.IsZero() || !x.From.Peer.IsZero():
		return fmt.Errorf("a collective reads one view and writes one, each of its own rank")
	case x.From.Each.Index != "" || x.To.Each.Index != "":
		return fmt.Errorf("a collective has no view for each value of an index")
	case s.By != NCCL || s.Fused():
		return fmt.Errorf("NCCL alone does a collective, and signals nothing")
	case x.Target.IsZero() == exchanges || x.Source.IsZero() == exchanges:
		return fmt.Errorf("an exchange names the ranks that it is with, and nothing else does")
	}
	return nil
}

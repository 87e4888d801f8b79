package hostir

import (
	"cmp"
	"fmt"
)

// Scatter is a linear of all ranks' rows whose results are summed over the ranks, in one launch: the kernel multiplies
// each peer's rows into this rank's slot at the peer, then multiplies this rank's rows, and adds up the slots of all
// ranks in their order.
type Scatter struct {
	Tiles []Tile // as in Tiles
	A     View   // all rows
	B     View   // the second operand
	Added []View // tensors that are added to the sum
	// Finish is applied to the sum before it is rounded.
	Finish  Finish
	Slots   View // the slots of all ranks, here
	Own     View // this rank's slot among them
	Peers   View // this rank's slots at the peers, in the order of their tiles
	To      View // the results of this rank's rows
	InOrder bool // as in Tiles
}

// Kind is "scatter".
func (Scatter) Kind() Kind { return "scatter" }

func (Scatter) asks() string { return MovesField }

func (x Scatter) views() (reads, writes []View) {
	return append(x.operands(), x.Finish.Operands...), []View{x.To, x.Peers, x.Own}
}

// operands are what it multiplies and adds up.
func (x Scatter) operands() []View { return append(some(x.A, x.B, x.Slots), x.Added...) }

func (x Scatter) result() View { return x.To }

func (x Scatter) with(p Parts) Work {
	x.To, x.Peers, x.Own = p.view("destination", x.To), p.view("destination", x.Peers), p.view("destination", x.Own)
	x.A, x.B = p.view("source", x.A), p.view("source", x.B)
	x.Slots, x.Added, x.Finish = p.view("source", x.Slots), p.views("source", x.Added), x.Finish.with(p)
	return x
}

func (x Scatter) check(s Step) error {
	if x.Peers.Each.Index == "" || len(some(x.A, x.B, x.Slots, x.Own, x.To)) < 5 {
		return fmt.Errorf("a scatter reads all rows, a second operand, slots, and perhaps what is added, and writes " +
			"results, slots at the peers and the own one")
	}
	if err := cmp.Or(x.Finish.check(), plain(x.Added...)); err != nil {
		return err
	}
	return s.checkLaunched()
}

func (x Scatter) text() string {
	_, writes := x.views()
	return called("Scatter "+tileNames(x.Tiles)+": Linear", writes, x.operands()) + x.Finish.text() +
		ordered(x.InOrder)
}

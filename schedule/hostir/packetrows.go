package hostir

import (
	"fmt"
	"slices"
)

// PacketRows is, in one kernel, formulas of whole rows of this rank, and gathers by packets that bring their results to
// all ranks: codes of rows, and their scales, say. Each block makes some of the rows and sends them. Then it may apply
// formulas of each element to the rows of that number of all ranks: they widen codes, say.
type PacketRows struct {
	Make   Apply
	Spread []PacketGather // of results of the formulas, in their order
	Then   Apply          // of the last formulas' results of all ranks' rows; it may have none
}

// Kind is "packetrows".
func (PacketRows) Kind() Kind { return "packetrows" }

func (PacketRows) asks() string { return MovesField }

// Sending is the step of formulas that sends their results in place of the step of packets behind it. ok is false where
// that step sends no result of the formulas.
func (x PacketRows) Sending(s, packets Step) (_ Step, ok bool) {
	g, ok := packets.Do.(PacketGather)
	at := x.made(g)
	if !ok || at < 0 {
		return s, false
	}
	steps := x.Steps(s)
	before := 0
	for before < len(steps) && x.made(x.Spread[before]) < at {
		before++
	}
	x.Spread = slices.Insert(slices.Clone(x.Spread), before, g)
	packets.Pre = slices.Concat(wordsOf(steps[:before]), packets.Pre, wordsOf(steps[before:]))
	packets.Do, packets.By = x, string(x.Kind())
	return packets.Applying(s.Applies), true
}

// GoingOn joins formulas of each element of the last formulas' results of all ranks' rows. ok is false where no kernel
// can do both.
func (x PacketRows) GoingOn(then Apply) (_ PacketRows, ok bool) {
	x.Then = then
	return x, x.checkThen() == nil
}

// Each is the formulas behind the gathers, of the rows of one rank.
func (x PacketRows) Each(rank Expr) Apply { return x.Then.OfRank(rank) }

// wordsOf are the words before the work of steps.
func wordsOf(steps []Step) (list []Word) {
	for _, s := range steps {
		list = append(list, s.Pre...)
	}
	return list
}

// Steps are the gathers, each with its flags.
func (x PacketRows) Steps(s Step) (list []Step) {
	flags := eachOwn(s.Pre)
	for i, g := range x.Spread {
		one := s
		one.Do, one.Pre, one.Post = g, flags(), nil
		if i+1 == len(x.Spread) {
			one.Post = s.Post
		}
		list = append(list, one)
	}
	return list
}

// Results are the results of the formulas of this rank's rows, in their order, and behind each the scales that it
// leaves.
func (x PacketRows) Results() (list []View) {
	for _, f := range x.Make.Chain() {
		list = append(list, some(f.To, f.Scales)...)
	}
	return list
}

// made is the place among the results of the one that a gather sends; it is negative where no formula makes it.
func (x PacketRows) made(g PacketGather) int {
	own := g.Each
	own.Each = Range{}
	return slices.IndexFunc(x.Results(), func(v View) bool { return v.String() == own.String() })
}

// Gathers are the gathers of the results, in the order of Results; one of a result that stays on its rank is empty.
func (x PacketRows) Gathers() []PacketGather {
	list := make([]PacketGather, len(x.Results()))
	for _, g := range x.Spread {
		if i := x.made(g); i >= 0 {
			list[i] = g
		}
	}
	return list
}

// Ranks is a view for each rank that results go to; all go to the same ranks.
func (x PacketRows) Ranks() View { return x.Spread[0].Each }

// SendsScales reports whether a gather sends the scales that the formulas leave.
func (x PacketRows) SendsScales(g PacketGather) bool {
	chain := x.Make.Chain()
	return chain[len(chain)-1].Scales.Buffer != "" && x.made(g) == len(x.Results())-1
}

func (x PacketRows) views() (reads, writes []View) {
	reads, writes = x.Make.views()
	gathered := func(v View) bool {
		return slices.ContainsFunc(x.Spread, func(g PacketGather) bool { return g.To.String() == v.String() })
	}
	for _, g := range x.Spread {
		writes = append(writes, g.To, g.Landing)
	}
	then, made := x.Then.views()
	return append(reads, slices.DeleteFunc(then, gathered)...), append(writes, made...)
}

func (x PacketRows) result() View { return x.Make.To }

func (x PacketRows) with(p Parts) Work {
	x.Make, x.Spread = x.Make.with(p).(Apply), slices.Clone(x.Spread)
	for i, g := range x.Spread {
		x.Spread[i] = g.with(p).(PacketGather)
	}
	x.Then, _ = x.Then.with(p).(Apply)
	return x
}

func (x PacketRows) text() string {
	text := x.Make.text()
	for _, g := range x.Spread {
		text += ";  " + g.text()
	}
	if len(x.Then.Makes) > 0 {
		text += ";  " + x.Then.text()
	}
	return text
}

func (x PacketRows) check(s Step) error {
	if err := x.Make.check(s); err != nil {
		return err
	}
	last := -1
	for _, g := range x.Spread {
		at := x.made(g)
		if at <= last {
			return fmt.Errorf("a kernel that makes rows and sends them sends what it makes, in order and once")
		}
		last = at
		if err := g.check(s); err != nil {
			return err
		}
	}
	switch {
	case last < 0 || !x.Make.OfRows():
		return fmt.Errorf("a kernel that makes rows and sends them makes whole rows, and has something to send")
	case len(x.Then.Makes) > 0:
		return x.checkThen()
	}
	return nil
}

// checkThen refuses formulas that can't stand behind the gathers.
func (x PacketRows) checkThen() error {
	chain := x.Make.Chain()
	made := slices.IndexFunc(x.Spread, func(g PacketGather) bool {
		return g.Each.Buffer == chain[len(chain)-1].To.Buffer && g.To.equal(x.Then.X)
	})
	whole := !slices.ContainsFunc(append([]View{x.Then.X, x.Then.To}, x.Then.Operands...), func(v View) bool {
		return v.String() != Whole(v.Buffer).String()
	})
	rows := x.Then.Columns.IsZero() || x.Then.Columns.Equal(x.Make.Columns)
	if made < 0 || !whole || !rows || x.Then.kernel() != ElementsKernel || len(x.Then.Then) > 0 {
		return fmt.Errorf("behind rows that are sent stand formulas of each element of what the last function makes")
	}
	return nil
}

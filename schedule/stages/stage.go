package stages

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Stage is the operations on rows from one communication to the next.
type Stage struct {
	Input   string     // its first operand
	Into    string     // the caller's tensor that all rows of the input are gathered in; empty: memory of the plan
	Moved   edges.Edge // of a stage without operations
	Gathers bool       // the rows of the input have to come from their owners
	Held    *Stage     // an earlier one that has gathered them; nil: none
	Own     bool       // it works on each rank's own rows only
	First   bool       // no stage is before it
	Calls   bool       // it is the caller's own work
	Ops     []schedule.Op
	Sums    string        // the last result, if the ranks have partial results; else empty
	Given   string        // the tensor with each rank's summand, where its memory is not the plan's; else empty
	Summand schedule.Op   // functions that make these summands; no Out: a call has, or the caller
	Left    edges.State   // of them, when they have met
	ToAll   bool          // every rank gets the sums of all rows, else of its own
	Terms   []schedule.Op // products whose partial results are added to them before they meet
}

// GathersColumns says that a stage gathers the columns of a result, with which later stages may go on.
func (s *Stage) GathersColumns() bool { return s.Moved.Kind == edges.AllGather && s.Moved.User < 0 }

// ColumnsCome says that all ranks get all columns of what comes.
func (s *Stage) ColumnsCome() bool { return s.Moved.Kind == edges.AllGather && s.Moved.From.Columns() }

// AddsShares says that a stage adds up shares of rows of all ranks.
func (s *Stage) AddsShares() bool {
	return s.OfAll() && len(s.Ops) == 1 && s.Ops[0].Name() == schedule.GradientWord
}

// Last is the last operation of a stage, which has some.
func (s *Stage) Last() schedule.Op { return s.Ops[len(s.Ops)-1] }

// MakesOwn says that a stage makes functions of each rank's own rows, and nothing else.
func (s *Stage) MakesOwn() bool {
	return s.Own && !s.Calls && !slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		return o.Name() != schedule.CopyWord
	})
}

// BeforeSum are the operations of a stage ahead of the one whose partial results meet.
func (s *Stage) BeforeSum() []schedule.Op {
	n := len(s.Ops)
	if s.Sums != "" {
		n--
	}
	if s.Given != "" && !s.Bare() { // the product, and the sum of its codes
		n--
	}
	return s.Ops[:n]
}

// Operands are the tensors that a stage takes, or makes for itself.
func (s *Stage) Operands() []string {
	list := []string{s.Input}
	for _, o := range append(slices.Clone(s.Terms), s.Ops...) {
		list = append(list, o.Operands()...)
	}
	return list
}

// Whole is the operand that every rank has all of, where a stage adds up shares.
func (s *Stage) Whole() string { return s.Ops[0].In[1-slices.Index(s.Ops[0].In, s.Input)] }

// TakesParts says that a stage takes parts of what travels otherwise than the rows of one rank after another's.
func (s *Stage) TakesParts() bool { return s.Moved.Kind != "" || s.AddsShares() }

// Widens says that the sums of a stage are kept in fp32.
func (c *Chain) Widens(s *Stage) bool {
	return s.Sums != "" && len(s.Ops) > 0 && c.Schedule.InFP32(s.Last())
}

// Coded says that the summands of a stage are codes: blocks that signal each for themselves would part their rows.
func (c *Chain) Coded(s *Stage) bool { return c.Tensor(s.Given).Type.Coded() }

// ScalesApart says that a product takes all rows at once, as scales of some of them do not lie together, block by
// block, or, of uneven rows, begin elsewhere than at the multiples of 16 bytes from which it reads them.
func (c *Chain) ScalesApart(s *Stage, of Cut) bool {
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		rows := c.Tensor(c.Tensor(o.In[0]).Scale)
		return o.Multiplies() && (of == OfBalanced && rows.OfRows() ||
			of == OfRows && rows.Name != "" && c.Tensor(c.Tensor(o.In[1]).Scale).OfSquares())
	})
}

// Bare says that no product makes the summands of a stage.
func (s *Stage) Bare() bool { return s.Given != "" && len(s.Ops) == 1 }

// Of is the tensor that travels to a stage, or that it works on.
func (s *Stage) Of() string { return cmp.Or(s.Moved.Of, s.Input) }

// OfAll says that a stage works on rows that are gathered, by itself or by an earlier one.
func (s *Stage) OfAll() bool { return s.Gathers || s.Held != nil }

// inSteps says that a stage makes all rows of its results, those of one rank after another's.
func (s *Stage) inSteps() bool { return s.OfAll() && s.Moved == (edges.Edge{}) && !s.AddsShares() }

// hasRowsOf says that a stage works on a tensor, and that no other part of it comes than rows, or all.
func (s *Stage) hasRowsOf(name string) bool {
	return s.Input == name && (s.Moved.Kind == "" || s.Moved.Kind == edges.AllGather)
}

// makes says that a stage leaves a tensor on each rank.
func (s *Stage) makes(name string) bool {
	return s.Sums == "" && !s.Calls && (s.Input == name && !s.OfAll() ||
		slices.ContainsFunc(s.Ops, func(o schedule.Op) bool { return o.Out == name }))
}

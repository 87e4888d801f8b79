package stages

import (
	"cmp"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Need is a communication as ways tell it apart: an edge, and what of its data they depend on.
type Need struct {
	edges.Kind
	Of    Cut
	Bare  bool // no product makes or takes what travels
	Hosts bool // between ranks on several hosts
}

// Cut says how what travels is cut for the ranks, or by which operation.
type Cut string

// Cuts.
const (
	OfRows     Cut = ""
	OfColumns  Cut = "columns"
	OfBalanced Cut = "balanced rows"
	OfCounted  Cut = "counted rows"
	OfBatches  Cut = "rows of batches"
	OfSteps    Cut = "batches in steps" // a batch of all ranks' rows is multiplied as one
	OfOperand  Cut = "an operand"       // that no product takes a part of alone
	OfGradient Cut = "a gradient"
)

// String is "all-gather of columns over hosts".
func (n Need) String() string {
	text := string(n.Kind)
	if n.Of != OfRows {
		text += " of " + string(n.Of)
	}
	return text + n.where()
}

// Data is what a communication is about, beyond its kind: "columns", "rows alone over hosts".
func (n Need) Data() string {
	text := cmp.Or(string(n.Of), "rows")
	if n.Bare {
		text += " alone"
	}
	return text + n.where()
}

// where says whether it is over hosts.
func (n Need) where() string { return map[bool]string{true: " over hosts"}[n.Hosts] }

// Sums says that it adds up partial results.
func (n Need) Sums() bool { return n.Kind == edges.ReduceScatter || n.Kind == edges.AllReduce }

// Placed is a communication with placements that ask for it.
type Placed struct {
	Need
	By string
}

// Needs are the communications on one host that ways do.
var Needs = []Placed{
	{Gather(OfRows), "linear: A [DIDx(D), M/D, K], B [N, K], C [Stream(D), M/D, N]"},
	{Gather(OfBalanced), "linear: A [DIDx(D, balanced), M/D, K], B [N, K], C [M, N]"},
	{Gather(OfCounted), "linear: A [DIDx(D, uneven), M/D, K], B [N, K], C [M, N]"},
	{Gather(OfBatches), "linear: A [S, DIDx(D), M/(S*D), K], B [N, K], C [S, Stream(D), M/(S*D), N]"},
	{Gather(OfSteps), "linear: A [S, DIDx(D), M/(S*D), K], B [N, K], C [Stream(S), D, M/(S*D), N]"},
	{Gather(OfColumns), "linear: A [M, K], B [DIDx(D), N/D, K], C [M, N]; or copy: A [M, DIDx(D), N/D], C [M, N]"},
	{Gather(OfOperand), "linear: A [DIDx(D), M/D, K], B [DIDx(D), N/D, K]; or gradient: A [M, N], B [DIDx(D), M/D, K]"},
	{Gather(OfRows).Alone(), "copy: A [DIDx(D), M/D, N], C [M, N]"},
	{Gather(OfCounted).Alone(), "copy: A [DIDx(D, uneven), M/D, N], C [M, N]"},
	{Reduce(OfRows), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [DIDx(D), M/D, N]"},
	{Reduce(OfColumns), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [M, DIDx(D), N/D]"},
	{Reduce(OfBalanced), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [DIDx(D, balanced), M/D, N]"},
	{Reduce(OfBatches), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [S, DIDx(D), M/(S*D), N]"},
	{Reduce(OfGradient), "gradient: A [DIDx(D), M/D, N], B [DIDx(D), M/D, K], C [DIDx(D), N/D, K]"},
	{Reduce(OfRows).Alone(), "sum: A [DIDx(D), M, N], C [DIDx(D), M/D, N]"},
	{Reduce(OfCounted), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [DIDx(D, uneven), M/D, N]"},
	{Reduce(OfCounted).Alone(), "sum: A [DIDx(D), M, N], C [DIDx(D, uneven), M/D, N]"},
	{ReduceAll(OfRows), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [M, N]"},
	{ReduceAll(OfBatches), "linear: A [S, DIDx(D), M/(S*D), K], B [DIDx(D), F/D, K], H; linear: H, " +
		"B [N, DIDx(D), F/D], C [M, N]"},
	{ReduceAll(OfCounted), "linear: A [DIDx(D, uneven), M/D, K], B [DIDx(D), F/D, K], H; linear: H, " +
		"B [N, DIDx(D), F/D], C [M, N]"},
	{ReduceAll(OfGradient), "gradient: A [DIDx(D), M/D, N], B [DIDx(D), M/D, K], C [N, K]"},
	{ReduceAll(OfRows).Alone(), "sum: A [DIDx(D), M, N], C [M, N]"},
	{Exchange, "copy: A [DIDx(D), D, M], C [D, DIDx(D), M]"},
	{ExchangeCounted, "copy: A [DIDx(D, uneven), D, M], C [D, DIDx(D, uneven), M]"},
	{ExchangeColumns, "copy: A [DIDx(D), M/D, N], C [M, DIDx(D), N/D]; or back"},
	{Broadcast, "copy: A [M, N] on rank 0, C [M, N]"},
	{Rotation, "copy: A [DIDx(D), M/D, N], C [DIDx(D, shift 1), M/D, N]"},
}

// Communications on one host: Gather, Reduce and ReduceAll are of what is cut so.
var (
	Exchange        = Need{Kind: edges.AllToAll}
	ExchangeCounted = Need{Kind: edges.AllToAll, Of: OfCounted}
	ExchangeColumns = Need{Kind: edges.AllToAll, Of: OfColumns}
	Broadcast       = Need{Kind: edges.Broadcast}
	Rotation        = Need{Kind: edges.Permutation}
)

// Gather brings all parts to all ranks.
func Gather(of Cut) Need { return Need{Kind: edges.AllGather, Of: of} }

// Reduce adds up partial results, for each rank its part.
func Reduce(of Cut) Need { return Need{Kind: edges.ReduceScatter, Of: of} }

// ReduceAll adds up partial results for all ranks.
func ReduceAll(of Cut) Need { return Need{Kind: edges.AllReduce, Of: of} }

// Alone is the same where no product makes or takes what travels.
func (n Need) Alone() Need {
	n.Bare = true
	return n
}

// OverHosts is the same between ranks on several hosts.
func (n Need) OverHosts() Need {
	n.Hosts = true
	return n
}

// Comes is the communication that brings what a stage works on.
func (c *Chain) Comes(s *Stage) Need {
	n := Need{Kind: cmp.Or(s.Moved.Kind, edges.AllGather), Hosts: c.Original.OverHosts()}
	t, declared := c.Schedule.Tensor(s.Input)
	_, counted := c.Multiplied(s)
	switch {
	case n.Kind == edges.AllToAll && (len(t.Axes) == 2 || !declared):
		n.Of = OfColumns
	case n.Kind == edges.AllToAll && c.Uneven(s.Input):
		n.Of = OfCounted
	case n.Kind != edges.AllGather:
	case s.Moved.From.Columns():
		n.Of = OfColumns
	case s.TakesParts():
		n.Of = OfOperand
	case c.Order == BatchInRound:
		n.Of = OfSteps
	case c.InBatches(c.RowExtent(s.Input)):
		n.Of = OfBatches
	case counted:
		n.Of = OfCounted
	case c.Uneven(s.Input) && len(s.Ops) > 0:
		n.Of = OfBalanced
	case c.Uneven(s.Input):
		n.Of, n.Bare = OfCounted, true
	default:
		n.Bare = len(c.Stages) == 1 && len(s.Ops) == 0
	}
	return n
}

// Leaves is the communication that adds up the partial results of a stage.
func (c *Chain) Leaves(s *Stage) Need {
	n := Need{Kind: edges.ReduceScatter, Hosts: c.Original.OverHosts()}
	if s.ToAll {
		n.Kind = edges.AllReduce
	}
	switch last := s.Last(); {
	case s.Left.Size == edges.Counted || s.Given != "" && c.Uneven(s.Sums):
		n.Of, n.Bare = OfCounted, s.Given != ""
	case s.Given != "":
		n.Bare = true
	case last.Name() == schedule.GradientWord:
		n.Of = OfGradient
	case s.ToAll && c.UnevenExtents()[c.RowExtent(s.Sums)]:
		n.Of = OfCounted
	case s.Left.Columns():
		n.Of = OfColumns
	case s.Left.Size != edges.Even:
		n.Of = OfBalanced
	case c.InBatches(c.RowExtent(s.Sums)):
		n.Of = OfBatches
	}
	return n
}

// Beside are the operations of a stage that its rows come or leave beside. Columns of a result leave beside what makes
// them.
func (c *Chain) Beside(s *Stage) []schedule.Op {
	if s.GathersColumns() {
		return c.Schedule.Ops[s.Moved.Maker : s.Moved.Maker+1]
	}
	return s.Ops
}

package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// stage is the operations on rows from one communication to the next.
type stage struct {
	input   string        // its first operand
	into    string        // the caller's tensor that all rows of the input are gathered in; empty: memory of the plan
	moved   edges.Edge    // of a stage without operations
	gathers bool          // the rows of the input have to come from their owners
	held    *stage        // an earlier one that has gathered them; nil: none
	own     bool          // it works on each rank's own rows only
	first   bool          // no stage is before it
	calls   bool          // it is the caller's own work
	launch  hostir.Launch // of that, where a kernel does it
	ops     []schedule.Op
	sums    string        // the last result, if the ranks have partial results; else empty
	given   string        // the tensor with each rank's summand, where its memory is not the plan's; else empty
	summand schedule.Op   // functions that make these summands; no Out: a call has, or the caller
	left    edges.State   // of them, when they have met
	toAll   bool          // every rank gets the sums of all rows, else of its own
	terms   []schedule.Op // products whose partial results are added to them before they meet
	parts   int           // of own rows, as they go on from the sum; 0 and 1: whole
	partsAt string        // the field that says so
	// How the rows come, and how the partial results meet, at once; nil: one rank's after another's.
	gathering, summing atOnce
	taken              []string                          // results of products that are made in the kernels of these
	leaving            leaving                           // of partial results that leave one rank's after another's
	arriving           func(w *writer, s *stage) arrival // how rows come in pieces
	cut                int                               // how many pieces a rank's rows come in; 0 and 1: one
	cutAt              string                            // the field that says so
	asMade             bool                              // peers are told of each piece when it is made
	once               bool                              // the operations begin when all rows are there
	padded             bool                              // they take each rank's rows with padding
}

func (s *stage) of() string { return cmp.Or(s.moved.Of, s.input) }

// inPieces says that the rows of a stage's input come in pieces, one after another.
func (s *stage) inPieces() bool { return s.gathers && s.gathering == nil }

// pulls says that the operations on each piece begin when it is there.
func (s *stage) pulls() bool { return s.inPieces() && !s.once }

// inTurn says that the rows of one rank come to the operations after another's, to the stage or to an earlier one.
func (s *stage) inTurn() bool { return s.pulls() || s.held != nil && s.held.pulls() }

// puts says that the partial results of a stage are put into slots at their owners.
func (s *stage) puts() bool { return s.sums != "" && s.summing == nil }

// bare says that no product makes the summands of a stage.
func (s *stage) bare() bool { return s.given != "" && len(s.ops) == 1 }

// widens says that the sums of a stage are kept in fp32.
func (d *draft) widens(s *stage) bool {
	return s.sums != "" && len(s.ops) > 0 && d.schedule.InFP32(s.last())
}

// holdsDevice says that a collective, or the kernel of a sum, needs all ranks while it holds the device.
func (s *stage) holdsDevice() bool { return s.gathering != nil || s.summing != nil }

// here is the buffer in which a stage works on all ranks' rows of its input.
func (s *stage) here() string {
	switch {
	case !s.ofAll():
		return s.input
	case s.into != "":
		return s.into
	}
	return s.input + hostir.GatheredSuffix
}

// ofAll says that a stage works on rows that are gathered, by itself or by an earlier one.
func (s *stage) ofAll() bool { return s.gathers || s.held != nil }

// hasRowsOf says that a stage works on a tensor, and that no other part of it comes than rows, or all.
func (s *stage) hasRowsOf(name string) bool {
	return s.input == name && (s.moved.Kind == "" || s.moved.Kind == edges.AllGather)
}

func (s *stage) makes(name string) bool {
	return s.sums == "" && !s.calls && (s.input == name && !s.ofAll() ||
		slices.ContainsFunc(s.ops, func(o schedule.Op) bool { return o.Out == name }))
}

// atOnce is a way by which all rows of a stage's input come at once, or all its partial results meet, on the stream of
// the products: nothing of the stage runs beside it. It also declares the words and the memory that it alone needs.
type atOnce func(w *writer, s *stage) []hostir.Node

// steps are the steps of a tensor's move; none where its rows come, or leave, one rank's after the other.
func (a atOnce) steps(w *writer, s *stage, of string) []hostir.Node {
	if a == nil {
		return nil
	}
	return hostir.MovesOf(of, a(w, s)...)
}

// inKernel says that the kernel that brings the rows, or adds up the partial results, makes an operation's product.
func (s *stage) inKernel(o schedule.Op) bool { return slices.Contains(s.taken, o.Out) }

package edges

import (
	"fmt"

	"ovgen/schedule"
)

// State says where the elements of a tensor are. The zero value is whole: every rank has all of them.
type State struct {
	Axis    int  // the axis that is spread over the ranks, counted from 1; 0: no axis is
	Cut          // how that axis is cut
	Partial bool // each rank has a summand of every element
	Root    bool // rank 0 has all elements, and the others none
}

// Cut says how an axis is shared out to the ranks.
type Cut struct {
	Size    Size
	Batches schedule.Extent // each rank has its part of each of that many batches; empty: of one
	Shift   int             // part p is on rank p+Shift
}

// Size says how large the parts of the ranks are.
type Size string

// Sizes of parts.
const (
	Even     Size = ""         // all equal
	Balanced Size = "balanced" // equal but for one row, where the number of ranks does not divide the rows
	Counted  Size = "counted"  // as given to Bind
)

// Along is the state of a tensor that is spread along an axis, counted from 0, in even parts.
func Along(axis int) State { return State{Axis: axis + 1} }

// Spread reports whether each rank has a part of the tensor.
func (s State) Spread() bool { return s.Axis > 0 }

// Rows reports whether each rank has different rows, along the first axis.
func (s State) Rows() bool { return s.Axis == 1 }

// Columns reports whether each rank has a part of an axis behind the first.
func (s State) Columns() bool { return s.Axis > 1 }

// Of is the state in which a schedule declares a tensor. Parts that are made one after another are on every rank.
func Of(t schedule.Tensor) State {
	if t.Root {
		return State{Root: true}
	}
	axis, k, spread := t.Sharded()
	if !spread {
		return State{}
	}
	s, outer := Along(axis), t.Axes[axis].Outer
	s.Shift = outer[k].Shift
	switch {
	case outer[k].Balanced:
		s.Size = Balanced
	case outer[k].Uneven:
		s.Size = Counted
	}
	if k > 0 {
		s.Batches = outer[0].Count
	}
	return s
}

// String is "whole", "partial", "on rank 0" or "axis 0", followed by the unusual properties of its parts.
func (s State) String() string {
	switch {
	case s.Root:
		return "on rank 0"
	case s.Partial:
		return "partial"
	case !s.Spread():
		return "whole"
	}
	text := fmt.Sprintf("axis %d", s.Axis-1)
	if s.Size != Even {
		text += ", " + string(s.Size)
	}
	if s.Batches != "" {
		text += fmt.Sprintf(", %s batches", s.Batches)
	}
	if s.Shift != 0 {
		text += fmt.Sprintf(", shifted by %d", s.Shift)
	}
	return text
}

package edges

import (
	"slices"
	"strings"

	"ovgen/schedule"
)

// call is the answer for a call. A call takes all rows of its operands, or the rank's rows alone; of the other axes it
// takes the part that the rank has, and it makes the same part of its result. A letter that only the result has is
// spread as it is declared, and an index of ranks is always spread.
func (q question) call(own bool) (answer, error) {
	a := answer{gathered: make([]bool, len(q.have))}
	out, all := q.Contraction.Out, strings.Join(q.Contraction.In, "")
	for k, s := range q.have {
		a.gathered[k] = s.Root || s.Spread() && !own && q.Contraction.In[k][s.Axis-1] == q.Contraction.Rows()
		if s.Spread() && !a.gathered[k] {
			a.made = Along(len(out) - 1)
		}
	}
	if w := q.want.state; w.Spread() && !strings.ContainsRune(all, rune(out[w.Axis-1])) {
		a.made = w
	}
	ofRanks := q.Contraction.OfRanks()
	if own {
		a.made = q.want.rows
	} else if ofRanks {
		a.made = Along(0)
	}
	for k, s := range q.have {
		if own && s.Rows() && s.Size != Even && q.Contraction.In[k][0] == q.Contraction.Rows() {
			a.made.Size = s.Size
		}
	}
	if q.want.whole = q.want.whole && !ofRanks; ofRanks && !q.want.known {
		a.left = a.made
		return a, nil
	}
	err := a.leave(q.want)
	return a, err
}

// copy is the answer for a copy, which leaves its operand, or functions of it, where the copy is declared. An operand
// that is already there does not travel again. The result of functions that is not declared is where the operand is.
// For other functions the operand travels, unless each rank applies them to its columns before a gather.
func (q question) copy(instances []State) (answer, error) {
	a := answer{gathered: []bool{false}, made: q.have[0], moved: len(q.Then) == 0}
	if a.moved && q.want.known && slices.Contains(instances, q.want.state) {
		a.made = q.want.state
	}
	kind, travels := between(q.have[0], q.want.state)
	switch {
	case a.moved || !q.want.known || !travels:
	case kind == AllGather && q.have[0].Rows():
		a.gathered[0], a.made = true, State{}
	default:
		a.moved = kind != AllGather || !q.ofColumns()
	}
	q.want.whole = q.want.whole && len(q.Then) == 0
	err := a.leave(q.want)
	return a, err
}

// functionsOfColumns reports whether the functions of an operation can be applied to each rank's columns: no function
// takes whole rows, and the operands beside the columns are spread by columns too.
func (w *Walk) functionsOfColumns(o schedule.Op) bool {
	return !slices.ContainsFunc(o.Then, func(f schedule.Func) bool {
		return w.Tree(f).InRow() ||
			slices.ContainsFunc(f.Operands(), func(x schedule.Operand) bool {
				t, declared := w.Tensor(x.Tensor)
				last := len(t.Axes) - 1
				across := x.Lies == schedule.InPlace || x.Lies == schedule.ByColumn
				return declared && across && Of(t).Axis != last+1
			})
	})
}

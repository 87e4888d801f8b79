package edges

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// Kind is the kind of communication that an edge needs.
type Kind string

// Kinds of edges.
const (
	AllGather     Kind = "all-gather"     // parts on their ranks -> all on every rank
	ReduceScatter Kind = "reduce-scatter" // summands on every rank -> parts of the sum on their ranks
	AllReduce     Kind = "all-reduce"     // summands on every rank -> the sum on every rank
	AllToAll      Kind = "all-to-all"     // parts of one axis -> parts of another one
	Broadcast     Kind = "broadcast"      // all on rank 0 -> all on every rank
	Permutation   Kind = "permutation"    // parts on their ranks -> the same parts on other ranks
)

// between is the kind of the edge from one state to another; ok: there is one.
func between(from, to State) (kind Kind, ok bool) {
	whole := to == State{}
	switch {
	case from.Partial && whole:
		return AllReduce, true
	case from.Partial && to.Spread():
		return ReduceScatter, true
	case from.Root && whole:
		return Broadcast, true
	case from.Spread() && whole:
		return AllGather, true
	case !from.Spread() || !to.Spread():
		return "", false
	case from.Axis != to.Axis:
		return AllToAll, from.Cut == to.Cut
	}
	moved := to
	moved.Shift = from.Shift
	return Permutation, moved == from && to.Shift != from.Shift
}

// Edge is a tensor that is in one state and has to be in another one.
type Edge struct {
	Of       string // the tensor that travels, or the result whose partial sums meet
	Kind     Kind
	From, To State
	Maker    int // the operation that makes the tensor; -1: the caller has it
	User     int // the operation before which the tensor travels; -1: it travels behind its maker
}

// String is "A: all-gather, axis 0 -> whole".
func (e Edge) String() string { return fmt.Sprintf("%s: %s, %s -> %s", e.Of, e.Kind, e.From, e.To) }

// Step is the edges and states of an operation.
type Step struct {
	Edges []Edge
	Own   bool  // it works only on each rank's rows
	Made  State // the state of its result, as the operation makes it
	Left  State // the state of its result, behind the result's edge
	// Misfit is a *schedule.FieldError where no edge leads to the declared result: Left is then another state.
	Misfit error
}

// Walk finds the edges of a schedule, one operation after the other.
type Walk struct {
	schedule.Schedule
	has map[string][]State // the instances of each tensor; the first is the tensor as it is given or made
}

// New begins with the tensors of the caller. Partial results are added before they meet where the schedule is Joined.
func New(s schedule.Schedule) *Walk {
	w := &Walk{Schedule: s, has: map[string][]State{}}
	for _, t := range s.Tensors {
		if !s.Made(t.Name) {
			w.has[t.Name] = []State{Of(t)}
		}
	}
	return w
}

// All are the edges of a schedule, in the order of the operations; an error is a *schedule.FieldError.
func All(s schedule.Schedule) (list []Edge, err error) {
	w := New(s)
	for i := range s.Ops {
		step, err := w.Step(i)
		if err = first(err, step.Misfit); err != nil {
			return list, err
		}
		list = append(list, step.Edges...)
	}
	return list, nil
}

// Rows is the state of the first rows of a schedule that an operation takes or makes in such parts; even, where none
// has such. Rows of batches may have an axis of their own.
func Rows(s schedule.Schedule, such func(schedule.Tensor, State) bool) State {
	for _, o := range s.Ops {
		for k, name := range append(o.Operands(), o.Out) {
			weight := k == 1 && o.Multiplies() && o.Name() != schedule.GradientWord
			t, declared := s.Tensor(name)
			at := Of(t)
			rows := at.Rows() || at == Along(1) && len(t.Axes) > 2
			if declared && len(t.Axes) > 0 && !weight && rows && such(t, at) {
				return State{Axis: at.Axis, Cut: Cut{Size: at.Size, Batches: at.Batches}}
			}
		}
	}
	return Along(0)
}

// rows is the state of each rank's part of a result that nothing places: as the first rows of their number in parts
// that are not the usual ones.
func (w *Walk) rows(result string) State {
	of := w.RowExtent(result)
	return Rows(w.Schedule, func(t schedule.Tensor, at State) bool {
		return t.Axes[0].Extent == of && (at.Size != Even || at.Batches != "" || at.Axis > 1)
	})
}

// At is the state of a tensor that the caller gives or that an operation has made.
func (w *Walk) At(tensor string) (s State, ok bool) {
	list := w.has[tensor]
	if len(list) == 0 {
		return s, false
	}
	return list[0], true
}

// Step finds the edges of operation i, after the edges of all operations before it. The operands named in stay do not
// travel. An error is a *schedule.FieldError.
func (w *Walk) Step(i int, stay ...string) (Step, error) {
	o := w.Ops[i]
	c, err := w.Contraction(o)
	if err != nil {
		return Step{}, err
	}
	q := question{Contraction: c, Op: o, have: make([]State, len(o.In)), want: w.wish(o),
		ofColumns: func() bool { return w.functionsOfColumns(o) }}
	q.want.rows = w.rows(o.Out)
	for k, name := range o.In {
		q.have[k], _ = w.At(name)
		if q.have[k].Axis > len(c.In[k]) {
			return Step{}, &schedule.FieldError{Path: fmt.Sprintf("Ops[%d].In[%d]", i, k), Hint: "name its axes",
				Msg: fmt.Sprintf("%q names %d axes of %s, which has more", o.Index, len(c.In[k]), name)}
		}
		q.free = append(q.free, slices.Contains(w.has[name], State{}))
		q.stays = append(q.stays, slices.Contains(stay, name))
	}
	a, err := w.answer(q)
	if err == nil {
		return w.taken(i, q.have, a), nil
	}
	misfit := w.misplaced(i, err)
	q.want = wish{whole: q.want.state.Root && !q.want.cut, rows: q.want.rows}
	if a, err = w.answer(q); err != nil {
		return Step{}, misfit
	}
	s := w.taken(i, q.have, a)
	s.Misfit = misfit
	return s, nil
}

// answer is the answer for an operation: a call, a copy, or another contraction.
func (w *Walk) answer(q question) (answer, error) {
	switch {
	case q.Call != "":
		return q.call(w.OfOwnRows(q.Op))
	case len(q.Op.In) == 1 && q.Contraction.In[0] == q.Contraction.Out:
		return q.copy(w.has[q.Op.In[0]])
	}
	return q.resolve()
}

// taken notes the edges and the instances of an answer.
func (w *Walk) taken(i int, have []State, a answer) Step {
	o := w.Ops[i]
	s := Step{Made: a.made, Left: a.left, Own: a.made.Rows()}
	for k, name := range o.In {
		if !a.gathered[k] || slices.Contains(w.has[name], State{}) {
			continue
		}
		kind, _ := between(have[k], State{})
		s.Edges = append(s.Edges, Edge{Of: name, Kind: kind, From: have[k], Maker: w.maker(name), User: i})
		w.has[name] = append(w.has[name], State{})
	}
	if a.left != a.made {
		kind, _ := between(a.made, a.left)
		e := Edge{Of: o.Out, Kind: kind, From: a.made, To: a.left, Maker: i, User: -1}
		if a.moved {
			e.Of, e.Maker, e.User = o.In[0], w.maker(o.In[0]), i
			w.has[e.Of] = append(w.has[e.Of], e.To)
		}
		s.Edges = append(s.Edges, e)
	}
	w.has[o.Out] = []State{a.left}
	return s
}

// maker is the index of the operation that makes a tensor; -1 where none does.
func (w *Walk) maker(tensor string) int {
	return slices.IndexFunc(w.Ops, func(o schedule.Op) bool { return o.Out == tensor })
}

// misplaced refuses operation i. It blames a declared operand in uneven or shifted parts, or else the declared result,
// or else a declared operand.
func (w *Walk) misplaced(i int, why error) error {
	o, blamed := w.Ops[i], -1
	for _, name := range append([]string{o.Out}, o.In...) {
		at := slices.IndexFunc(w.Tensors, func(t schedule.Tensor) bool { return t.Name == name })
		if at >= 0 && (blamed < 0 || name != o.Out && (Of(w.Tensors[at]).Cut != Cut{})) {
			blamed = at
		}
	}
	path, hint := fmt.Sprintf("Ops[%d]", i), "declare its tensors otherwise"
	if blamed >= 0 {
		path, hint = fmt.Sprintf("Tensors[%d]", blamed), "place it otherwise"
	}
	return &schedule.FieldError{Path: path, Hint: hint, Msg: fmt.Sprintf("%s: %v", o, why)}
}

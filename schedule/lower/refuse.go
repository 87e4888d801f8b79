package lower

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// reads says that programs of the row read a tensor of that name.
func (r *rule) reads(tensor string) bool {
	switch {
	case r.op != schedule.Matmul && r.op != schedule.Linear:
		return true
	case tensor == "A" || tensor == "B" || tensor == "C":
		return true
	}
	return r.moves.further()
}

// unread refuses the tensors that programs of the row don't read.
func (r *rule) unread(s schedule.Schedule) error {
	var errs []error
	for i, t := range s.Tensors {
		if r.reads(t.Name) {
			continue
		}
		e := &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d]", i),
			Msg:  fmt.Sprintf("the %s of one product does not read %s", r.moves, t.Name),
			Hint: "leave it out; a second product is a schedule of its own"}
		switch t.Name {
		case "Bias":
			e.Msg, e.Hint = "no pass adds a bias to a sum of partial results", "leave it out, and add it to C"
		case "Gathered":
			e.Msg, e.Hint = fmt.Sprintf("the %s gathers no operand", r.moves), "leave it out"
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// refuse says which placement has no communication, and what there is.
func (r *rule) refuse(s schedule.Schedule, wrong []int) error {
	for _, special := range []func(schedule.Schedule) error{columns, moved} {
		if err := special(s); err != nil {
			return err
		}
	}
	t := s.Tensors[wrong[0]]
	a, _ := s.Tensor("A")
	c, _ := s.Tensor("C")
	problem := fmt.Sprintf("no communication leads from A %s to C %s", written(a), written(c))
	if t.Name != "A" && t.Name != "C" {
		problem += fmt.Sprintf(" with %s %s", t.Name, written(t))
	}
	if idle(s) {
		problem = fmt.Sprintf("nothing travels from A %s to C %s: each rank makes its result of what it has", written(a), written(c))
	}
	hint := known(s)
	if len(wrong) == 1 && !spread(t) {
		hint = fmt.Sprintf("nearest is the %s: place %s %s", r.moves, t.Name, withSteps(s, r.place(s, t)))
	}
	return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d]", wrong[0]), Msg: problem, Hint: hint}
}

// written is a placement as it is in the schedule.
func written(t schedule.Tensor) string {
	text := t.String()
	if t.Root {
		text += " on rank 0"
	}
	return text
}

func spread(t schedule.Tensor) bool {
	_, _, ok := t.Sharded()
	return ok || t.Root
}

// withSteps writes the schedule's number of steps, or one of the reader's choice, for the
// name that rows have for it.
func withSteps(s schedule.Schedule, text string) string {
	steps := "4"
	for _, t := range s.Tensors {
		for _, a := range t.Axes {
			for _, split := range a.Outer {
				if split.Count != schedule.D {
					steps = string(split.Count)
				}
			}
		}
	}
	return strings.NewReplacer("["+chunksName+",", "["+steps+",", "("+chunksName+")", "("+steps+")",
		"("+chunksName+"*", "("+steps+"*").Replace(text)
}

// known lists the communications that the operation has, of each one placement.
func known(s schedule.Schedule) string {
	var list []string
	seen := map[moves]bool{}
	for i := range rules {
		r := &rules[i]
		if r.op != s.Op || seen[r.moves] {
			continue
		}
		seen[r.moves] = true
		var tensors []string
		for _, name := range []string{"A", "B", "B2", "C"} {
			t := schedule.Tensor{Name: name}
			if len(s.Op.Extents(t)) > 0 && (name != "B2" || s.Op == schedule.MLP) {
				tensors = append(tensors, name+" "+withSteps(s, r.place(s, t)))
			}
		}
		list = append(list, fmt.Sprintf("%s: %s", r.moves, strings.Join(tensors, ", ")))
	}
	return "there is " + strings.Join(list, "; ")
}

// idle says that no tensor of a product has to travel: A is whole, and no axis that is
// summed over is spread.
func idle(s schedule.Schedule) bool {
	a, _ := s.Tensor("A")
	b, _ := s.Tensor("B")
	c, _ := s.Tensor("C")
	axis, _, byB := b.Sharded()
	columns, _, byC := c.Sharded()
	if s.Op != schedule.Linear && s.Op != schedule.Matmul || spread(a) {
		return false
	}
	return !byB && !byC || byB && byC && columns == 1 && axis == weightColumns(s.Op)
}

// weightColumns is the axis of B that has the columns of C.
func weightColumns(op schedule.Op) int {
	if op == schedule.Matmul {
		return 1
	}
	return 0
}

// columns refuses a weight that is spread over its columns behind an all-gather of A: of
// such a layer every rank has its own weight, whose columns are the symbol.
func columns(s schedule.Schedule) error {
	a, _ := s.Tensor("A")
	rows, _, ok := a.Sharded()
	if s.Op != schedule.Linear && s.Op != schedule.Matmul || ok && rows != 0 {
		return nil
	}
	weight := func(t schedule.Tensor) bool {
		axis, _, spread := t.Sharded()
		return spread && t.Name[0] == 'B' && t.Name[:min(len(t.Name), 4)] != "Bias" && axis == weightColumns(s.Op)
	}
	if !ok || !slices.ContainsFunc(s.Tensors, weight) {
		return nil
	}
	var errs []error
	for i, t := range s.Tensors {
		j, k, spread := t.Sharded()
		e := s.Op.Extents(t)
		if !spread || t.Name == "A" || len(e) <= j || e[j] == schedule.M || e[j] == schedule.K {
			continue
		}
		errs = append(errs, &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d]", i, j, k),
			Msg:  fmt.Sprintf("%s is each rank's own here, and %s its columns", t.Name, e[j]),
			Hint: fmt.Sprintf("drop DIDx: %s is then this rank's columns; pass %s/D as %s", e[j], e[j], e[j])})
	}
	return errors.Join(errs...)
}

// moved refuses parts that are moved on by another number of ranks than one.
func moved(s schedule.Schedule) error {
	for i, t := range s.Tensors {
		j, k, ok := t.Sharded()
		if !ok {
			continue
		}
		n := t.Axes[j].Outer[k].Shift
		path := fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d].Shift", i, j, k)
		switch {
		case n == 0:
		case s.Op != schedule.Copy:
			return &schedule.FieldError{Path: path, Hint: "leave it out; a permutation is a Copy",
				Msg: fmt.Sprintf("no pass lowers a %s of parts that are moved on", s.Op)}
		case t.Name == "A" || n != 1:
			return &schedule.FieldError{Path: path, Hint: "set Shift to 1 in C, and leave it out in A",
				Msg: fmt.Sprintf("a shift by %d of %s: the one that is lowered moves parts on by one rank", n, t.Name)}
		}
	}
	return nil
}

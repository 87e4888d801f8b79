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
	case r.kind != matmul && r.kind != linear:
		return true
	case tensor == "A" || tensor == "B" || tensor == "C":
		return true
	}
	return r.moves.further()
}

// unread refuses the tensors that programs of the row don't read.
func (r *rule) unread(d *draft) error {
	var errs []error
	for i, t := range d.schedule.Tensors {
		if r.reads(t.Name) {
			continue
		}
		e := &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d]", i),
			Msg:  fmt.Sprintf("the %s of one product does not read %s", r.moves, d.form.tensor(t.Name)),
			Hint: "leave it out; a second product is a schedule of its own"}
		switch t.Name {
		case "Bias":
			e.Msg, e.Hint = "no pass adds a bias to a sum of partial results",
				"leave it out, and add it to "+d.form.tensor("C")
		case "Gathered":
			e.Msg, e.Hint = fmt.Sprintf("the %s gathers no operand", r.moves), "leave it out"
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// refuse says which placement has no communication, and what there is.
func (r *rule) refuse(d *draft, wrong []int) error {
	s := d.schedule
	for _, special := range []func(*draft) error{columns, moved} {
		if err := special(d); err != nil {
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
	if idle(d) {
		problem = fmt.Sprintf("nothing travels from A %s to C %s: each rank makes its result of what it has",
			written(a), written(c))
	}
	hint := known(d)
	if len(wrong) == 1 && !spread(t) {
		hint = fmt.Sprintf("nearest is the %s: place %s %s", r.moves, t.Name,
			withSteps(s, d.form.own(r.place(d.form, t), t)))
	}
	return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d]", wrong[0]), Msg: d.form.renamed(problem),
		Hint: d.form.renamed(hint)}
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
func known(d *draft) string {
	var list []string
	seen := map[moves]bool{}
	for i := range rules {
		r := &rules[i]
		if r.kind != d.form.kind || seen[r.moves] {
			continue
		}
		seen[r.moves] = true
		var tensors []string
		for _, name := range []string{"A", "B", "B2", "C"} {
			t := schedule.Tensor{Name: name}
			if len(d.form.extents(t)) > 0 && (name != "B2" || d.form.kind == layers) &&
				(name[0] != 'B' || d.form.kind != copied) {
				tensors = append(tensors, name+" "+withSteps(d.schedule, r.place(d.form, t)))
			}
		}
		list = append(list, fmt.Sprintf("%s: %s", r.moves, strings.Join(tensors, ", ")))
	}
	return "there is " + strings.Join(list, "; ")
}

// idle says that no tensor of a product has to travel: A is whole, and no axis that is
// summed over is spread.
func idle(d *draft) bool {
	s, k := d.schedule, d.form.kind
	a, _ := s.Tensor("A")
	b, _ := s.Tensor("B")
	c, _ := s.Tensor("C")
	axis, _, byB := b.Sharded()
	columns, _, byC := c.Sharded()
	if k != linear && k != matmul || spread(a) {
		return false
	}
	return !byB && !byC || byB && byC && columns == 1 && axis == weightColumns(k)
}

// weightColumns is the axis of B that has the columns of C.
func weightColumns(k kind) int {
	if k == matmul {
		return 1
	}
	return 0
}

// columns refuses a weight that is spread over its columns after an all-gather of A: of
// such a layer every rank has its own weight, whose columns are the symbol.
func columns(d *draft) error {
	s, kind := d.schedule, d.form.kind
	a, _ := s.Tensor("A")
	rows, _, ok := a.Sharded()
	if kind != linear && kind != matmul || ok && rows != 0 {
		return nil
	}
	weight := func(t schedule.Tensor) bool {
		axis, _, spread := t.Sharded()
		return spread && t.Name[0] == 'B' && t.Name[:min(len(t.Name), 4)] != "Bias" && axis == weightColumns(kind)
	}
	if !ok || !slices.ContainsFunc(s.Tensors, weight) {
		return nil
	}
	var errs []error
	for i, t := range s.Tensors {
		j, k, spread := t.Sharded()
		e := d.form.extents(t)
		if !spread || t.Name == "A" || len(e) <= j || e[j] == schedule.M || e[j] == schedule.K {
			continue
		}
		errs = append(errs, &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d]", i, j, k),
			Msg: fmt.Sprintf("%s is each rank's own here, and %s its columns", d.form.tensor(t.Name),
				t.Axes[j].Extent),
			Hint: fmt.Sprintf("drop DIDx: %[1]s is then this rank's columns; pass %[1]s/D as %[1]s", t.Axes[j].Extent)})
	}
	return errors.Join(errs...)
}

// moved refuses parts that are moved on by another number of ranks than one.
func moved(d *draft) error {
	s := d.schedule
	for i, t := range s.Tensors {
		j, k, ok := t.Sharded()
		if !ok {
			continue
		}
		n := t.Axes[j].Outer[k].Shift
		path := fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d].Shift", i, j, k)
		switch {
		case n == 0:
		case d.form.kind != copied:
			return &schedule.FieldError{Path: path, Hint: "leave it out; a permutation is a Copy",
				Msg: fmt.Sprintf("no pass lowers a %s of parts that are moved on", d.form.kind)}
		case t.Name == "A" || n != 1:
			return &schedule.FieldError{Path: path, Hint: "set Shift to 1 in C, and leave it out in A",
				Msg: fmt.Sprintf("a shift by %d of %s: the one that is lowered moves parts on by one rank", n,
					d.form.tensor(t.Name))}
		}
	}
	return nil
}

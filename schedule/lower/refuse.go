package lower

import (
	"errors"
	"fmt"
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
	case (r.moves == gatherWeight || r.moves == gatherInputs) && tensor == "Bias":
		return true
	case r.moves.reduces() && (tensor == "Bias" || tensor == "Added"):
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
		if t.Name == "Gathered" {
			e.Msg, e.Hint = fmt.Sprintf("the %s gathers no operand", r.moves), "leave it out"
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// functions refuses functions that no program of the row applies: a tensor is added to a sum
// only, and a matmul by the library adds no bias.
func (r *rule) functions(d *draft) error {
	if r.kind != linear && r.kind != matmul || r.moves.reduces() {
		return nil
	}
	for i, o := range d.schedule.Ops {
		for j, f := range o.Then {
			if f.Do == schedule.AddTensor || r.kind == matmul {
				return unapplied(fmt.Sprintf("Ops[%d].Then[%d]", i, j), f, r.kind)
			}
		}
	}
	return nil
}

// refuse names the placement that has no communication, and the placements that have one.
func (r *rule) refuse(d *draft, wrong []int) error {
	s := d.schedule
	if err := moved(d); err != nil {
		return err
	}
	t := s.Tensors[wrong[0]]
	a, _ := s.Tensor("A")
	c, _ := s.Tensor("C")
	problem := fmt.Sprintf("no communication leads from A %s to C %s", written(d.declared(a)), written(d.declared(c)))
	if t.Name != "A" && t.Name != "C" {
		problem += fmt.Sprintf(" with %s %s", t.Name, written(d.declared(t)))
	}
	if idle(d) {
		problem = fmt.Sprintf("nothing travels from A %s to C %s: each rank makes its result of what it has",
			written(d.declared(a)), written(d.declared(c)))
	}
	hint := known(d)
	cutHere := d.form.kind == copied && t.Name == "A" && spread(c) // each rank has what it needs
	if len(wrong) == 1 && !spread(t) && !cutHere {
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
		for _, name := range []string{"A", "B", "C"} {
			t := schedule.Tensor{Name: name}
			if len(d.form.extents(t)) > 0 && (name != "B" || d.form.kind != copied) {
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
	_, _, byB := b.Sharded()
	_, _, byC := c.Sharded()
	if k != linear && k != matmul || spread(a) {
		return false
	}
	_, own := d.columns["B"]
	return !byB && !byC || own
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

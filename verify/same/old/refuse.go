package old

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
	case (r.moves == gatherWeight || r.moves == gatherInputs) && tensor == "Bias":
		return true
	case r.moves.reduces() && (tensor == "Bias" || tensor == "Added"):
		return true
	}
	return r.moves.further()
}

// unread refuses the operations and functions that have tensors which programs of the row don't read.
func (r *rule) unread(d *draft) error {
	unread := func(name string) bool {
		return slices.ContainsFunc(d.schedule.Tensors, func(t schedule.Tensor) bool {
			return t.Name == d.form.roles[name] && !r.reads(t.Name)
		})
	}
	var errs []error
	for i, o := range d.original.Ops {
		if unread(o.Out) {
			errs = append(errs, ofItsOwn(d.original, i, fmt.Sprintf("the %s of %s is of one product, and makes no %s",
				r.moves, d.form.tensor(r.operand), o.Out), ""))
			continue
		}
		for j, f := range o.Then {
			if len(f.Reads()) > 0 && unread(f.Reads()[0]) {
				errs = append(errs, &schedule.FieldError{Path: fmt.Sprintf("Ops[%d].Then[%d]", i, j),
					Msg:  fmt.Sprintf("the %s of %s applies no %s", r.moves, d.form.tensor(r.operand), do(f)),
					Hint: d.behind(o, j)})
			}
		}
	}
	return errors.Join(errs...)
}

// functions refuses functions that no program of the row applies: a tensor is added to a sum
// only, and a matmul by the library adds no bias.
func (r *rule) functions(d *draft) error {
	if r.kind != linear && r.kind != matmul || r.moves.reduces() {
		return nil
	}
	for i, o := range d.original.Ops {
		for j, f := range o.Then {
			if do(f) == addTensor || r.kind == matmul {
				return d.unapplied(fmt.Sprintf("Ops[%d].Then[%d]", i, j), o, j, r.kind)
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
	cutHere := d.form.kind == copied && t.Name == "A" && spread(c) // each rank has the rows that it needs
	if len(wrong) == 1 && !spread(d.ownColumns(t)) && !cutHere {
		hint = fmt.Sprintf("nearest is the %s: place %s %s", r.moves, t.Name,
			d.withColumns(t, withSteps(s, d.form.own(r.place(d.form, t), t))))
	}
	if idle(d) {
		hint = "no plan is needed: do it by kernels of the caller's; " + hint
	}
	return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d]", wrong[0]), Msg: d.form.renamed(problem),
		Hint: d.form.renamed(hint)}
}

// withColumns spreads the columns of a placement over the ranks, as a tensor's columns are.
func (d *draft) withColumns(t schedule.Tensor, text string) string {
	if axis, own := d.columns[t.Name]; own && axis == len(t.Axes)-1 {
		columns := string(t.Axes[axis].Extent)
		return fmt.Sprintf("%sDIDx(D), %s/D]", strings.TrimSuffix(text, columns+"]"), columns)
	}
	return text
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

// mostKnown is the number of communications that a hint lists.
const mostKnown = 3

// known lists the nearest communications that the operation has, each with one placement.
func known(d *draft) string {
	type one struct {
		text  string
		wrong int
	}
	var list []one
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
		list = append(list, one{fmt.Sprintf("%s: %s", r.moves, strings.Join(tensors, ", ")), len(r.misplaced(d))})
	}
	slices.SortStableFunc(list, func(a, b one) int { return a.wrong - b.wrong })
	var text []string
	for _, x := range list[:min(len(list), mostKnown)] {
		text = append(text, x.text)
	}
	hint := "there is " + strings.Join(text, "; ")
	if len(list) > mostKnown {
		hint += "; ovgen help schedules lists all"
	}
	return hint
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

package old

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// together refuses an operation that no program does beside the others. A chain has linears, calls and functions of
// rows; else there are products of one operand, and a copy of it.
func together(s schedule.Schedule, chain bool) error {
	if !slices.ContainsFunc(s.Ops, func(o schedule.Op) bool { return o.Call == "" }) {
		return &schedule.FieldError{Path: "Ops[0].Call", Hint: "call it without a plan",
			Msg: fmt.Sprintf("nothing travels: %s is the caller's own work", s.Ops[0].Call)}
	}
	if len(s.Ops) == 1 {
		return nil
	}
	for i, o := range s.Ops {
		if why := tooMany(s, i, chain); why != "" {
			return ofItsOwn(s, i, why, otherwise(s, o, chain))
		}
	}
	return nil
}

// tooMany says why no program does operation i beside the others; empty: one may.
func tooMany(s schedule.Schedule, i int, chain bool) string {
	o, first := s.Ops[i], firstProduct(s)
	one := s.Ops[max(first, 0)].In[0] // the operand of all products
	switch k := kind(o.Name()); {
	case k == summedUp:
		return fmt.Sprintf("no pass adds up %s beside other operations", o.In[0])
	case k == gradient:
		return fmt.Sprintf("no pass makes the gradient %s beside other operations", o.Out)
	case k == copied && len(o.Then) == 0 && chain:
		return fmt.Sprintf("no pass moves %s by a chain of operations", o.In[0])
	case k == copied && len(o.Then) == 0 && first < 0 && i > 0:
		return fmt.Sprintf("no pass moves %s to %s beside another Copy", o.In[0], o.Out)
	case k == copied && len(o.Then) == 0 && first >= 0 && o.In[0] != one:
		return fmt.Sprintf("no pass moves %s beside products of %s", o.In[0], one)
	case k == copied && len(o.Then) == 0 && first >= 0 && slices.ContainsFunc(s.Ops[:i], copies):
		return fmt.Sprintf("no pass gives the caller %s twice", o.In[0])
	case k == matmul && chain:
		weight, _ := s.Tensor(o.In[1])
		return fmt.Sprintf("no pass multiplies a chain by %s %s as a matmul", weight.Name, weight)
	case chain || k != linear && k != matmul:
		return ""
	case o.In[0] != one:
		return fmt.Sprintf("no pass multiplies %s beside %s, which Ops[%d] multiplies", o.In[0], one, first)
	case o.Name() != s.Ops[first].Name():
		return fmt.Sprintf("no pass does a %s beside a %s, which Ops[%d] is", o.Name(), s.Ops[first].Name(), first)
	}
	return ""
}

// copies says that an operation is a copy without functions.
func copies(o schedule.Op) bool { return o.Name() == string(copied) && len(o.Then) == 0 }

// firstProduct is the number of the first linear or matmul; -1: there is none.
func firstProduct(s schedule.Schedule) int {
	return slices.IndexFunc(s.Ops, func(o schedule.Op) bool {
		return o.Name() == string(linear) || o.Name() == string(matmul)
	})
}

// otherwise is another way to write an operation that a chain has no place for; empty: there is none.
func otherwise(s schedule.Schedule, o schedule.Op, chain bool) string {
	weight, declared := s.Tensor(o.In[len(o.In)-1])
	if !chain || o.Name() != string(matmul) || !declared || len(weight.Axes) != 2 {
		return ""
	}
	turned := schedule.Tensor{Axes: []schedule.Axis{weight.Axes[1], weight.Axes[0]}}
	return fmt.Sprintf("use schedule.Linear and place %s %s; or ", weight.Name, turned)
}

// ofItsOwn refuses operation i, which a schedule of its own does.
func ofItsOwn(s schedule.Schedule, i int, why, otherwise string) error {
	return &schedule.FieldError{Path: fmt.Sprintf("Ops[%d]", i), Msg: why, Hint: otherwise + inTwo(s, i)}
}

// inTwo says that a schedule of its own makes the result of operation i, and which tensors join the two schedules.
func inTwo(s schedule.Schedule, i int) string {
	o := s.Ops[i]
	var made []string
	for _, in := range slices.Concat(o.In, functionOperands(o)) {
		if s.Made(in) && !slices.Contains(made, in) {
			made = append(made, in)
		}
	}
	hint := fmt.Sprintf("make %s by a schedule of its own", o.Out)
	if len(made) == 1 {
		hint += ", with " + made[0] + " as an operand"
	} else if len(made) > 1 {
		hint += ", with " + strings.Join(made, " and ") + " as operands"
	}
	if slices.ContainsFunc(s.Ops, func(x schedule.Op) bool {
		return slices.Contains(x.In, o.Out) || slices.Contains(functionOperands(x), o.Out)
	}) {
		hint += ", and declare it as an operand here"
	}
	return hint
}

// functionOperands are the tensors that the functions of an operation read.
func functionOperands(o schedule.Op) (list []string) {
	for _, f := range o.Then {
		list = append(list, f.Reads()...)
	}
	return list
}

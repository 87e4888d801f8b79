package lower

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// together refuses an operation that no program does beside the others.
func together(s schedule.Schedule) error {
	if !slices.ContainsFunc(s.Ops, func(o schedule.Op) bool { return o.Call == "" }) {
		return &schedule.FieldError{Path: "Ops[0].Call", Hint: "call it without a plan",
			Msg: fmt.Sprintf("nothing travels: %s is the caller's own work", s.Ops[0].Call)}
	}
	if len(s.Ops) == 1 {
		return nil
	}
	for i := range s.Ops {
		if why := tooMany(s, i); why != "" {
			return ofItsOwn(s, i, why)
		}
	}
	return nil
}

// tooMany says why no program does operation i beside the others; empty: one may.
func tooMany(s schedule.Schedule, i int) string {
	o := s.Ops[i]
	switch {
	case kind(o.Name()) == summedUp && s.Made(o.In[0]):
		return fmt.Sprintf("no pass adds up %s, which an operation makes", o.In[0])
	case copies(o) && odd(s, o):
		return fmt.Sprintf("no pass moves %s beside other operations: it is no matrix", o.In[0])
	case copies(o) && slices.ContainsFunc(s.Ops[:i], func(x schedule.Op) bool {
		return copies(x) && x.In[0] == o.In[0]
	}):
		return fmt.Sprintf("no pass gives the caller %s twice", o.In[0])
	}
	return ""
}

// odd says that a tensor of an operation is declared with other axes than rows and columns.
func odd(s schedule.Schedule, o schedule.Op) bool {
	return slices.ContainsFunc(s.Tensors, func(t schedule.Tensor) bool {
		return (t.Name == o.In[0] || t.Name == o.Out) && len(t.Axes) != 2
	})
}

// copies says that an operation is a copy without functions.
func copies(o schedule.Op) bool { return o.Name() == string(copied) && len(o.Then) == 0 }

// firstProduct is the number of the first linear or matmul; -1: there is none.
func firstProduct(s schedule.Schedule) int {
	return slices.IndexFunc(s.Ops, func(o schedule.Op) bool {
		return o.Name() == string(linear) || o.Name() == string(matmul)
	})
}

// ofItsOwn refuses operation i, which a schedule of its own does.
func ofItsOwn(s schedule.Schedule, i int, why string) error {
	return &schedule.FieldError{Path: fmt.Sprintf("Ops[%d]", i), Msg: why, Hint: inTwo(s, i)}
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

// stays says that nothing has to travel between products: each rank makes its results of what it has, all at once.
func stays(s schedule.Schedule) bool {
	list, err := edges.All(s)
	return err == nil && len(list) == 0 && firstProduct(s) >= 0 && !s.OverHosts() &&
		!slices.ContainsFunc(s.Tensors, inSteps)
}

// inSteps says that a tensor is made, or taken, a part after another.
func inSteps(t schedule.Tensor) bool {
	return slices.ContainsFunc(t.Axes, func(a schedule.Axis) bool {
		return slices.ContainsFunc(a.Outer, func(s schedule.Split) bool { return s.Kind == schedule.StreamAxis })
	})
}

// ofSeveral says that there are products of different operands.
func ofSeveral(s schedule.Schedule) bool {
	first := firstProduct(s)
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		return len(o.In) == 2 && o.Call == "" && first >= 0 && o.In[0] != s.Ops[first].In[0]
	})
}

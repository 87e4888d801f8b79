package scheduletest

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// Ops are the operations of a kind on tensors that have the usual names: A, B, Bias and C;
// B2, Bias2 and C2, ... of further products; Gathered for a copy of A beside them. An "mlp" is
// two linear layers with GELU between them.
func Ops(kind string, tensors []schedule.Tensor) []schedule.Op {
	has := func(name string) bool {
		return slices.ContainsFunc(tensors, func(t schedule.Tensor) bool { return t.Name == name })
	}
	bias := func(name string, more ...schedule.Func) []schedule.Func {
		if has(name) {
			return append([]schedule.Func{schedule.Bias(name)}, more...)
		}
		return more
	}
	switch kind {
	case "copy":
		return []schedule.Op{schedule.Copy("C", "A")}
	case "sum":
		return []schedule.Op{schedule.Sum("C", "A")}
	case "gradient":
		return []schedule.Op{schedule.Gradient("C", "A", "B")}
	case "mlp":
		return []schedule.Op{schedule.Linear("H", "A", "B", bias("Bias", schedule.GELU())...),
			schedule.Linear("C", "H", "B2")}
	}
	product := map[string]func(out, a, b string, then ...schedule.Func) schedule.Op{
		"linear": schedule.Linear, "matmul": schedule.Matmul}[kind]
	if product == nil {
		panic(fmt.Sprintf("scheduletest: no operations are called %q", kind))
	}
	ops := []schedule.Op{product("C", "A", "B", bias("Bias")...)}
	for n := 2; has(fmt.Sprint("B", n)); n++ {
		ops = append(ops, product(fmt.Sprint("C", n), "A", fmt.Sprint("B", n), bias(fmt.Sprint("Bias", n))...))
	}
	if has("Gathered") {
		ops = append(ops, schedule.Copy("Gathered", "A"))
	}
	return ops
}

// Of is a schedule of a kind of operations on tensors with the usual names.
func Of(kind string, tensors ...schedule.Tensor) schedule.Schedule {
	return schedule.Schedule{Tensors: tensors, Ops: Ops(kind, tensors)}
}

// By is a schedule with a way for one of its communications.
func By(s schedule.Schedule, of string, way schedule.Way) schedule.Schedule {
	s.Moves = []schedule.Move{{Of: of, Way: way}}
	return s
}

// Usual is a schedule with the operations of a kind on its tensors.
func Usual(kind string, s schedule.Schedule) schedule.Schedule {
	s.Ops = Ops(kind, s.Tensors)
	return s
}

// ByEach are the schedules in which each of some tensors moves by one of some ways, and another by another or the
// same. A nil way leaves it open.
func ByEach(s schedule.Schedule, of []string, ways ...schedule.Way) []schedule.Schedule {
	list := []schedule.Schedule{s}
	for i, name := range of {
		var next []schedule.Schedule
		for _, before := range list {
			for _, w := range ways {
				x := Clone(before)
				if i == 0 {
					x.Moves = nil
				}
				if w != nil {
					x.Moves = append(x.Moves, schedule.Move{Of: name, Way: w})
				}
				next = append(next, x)
			}
		}
		list = next
	}
	return list
}

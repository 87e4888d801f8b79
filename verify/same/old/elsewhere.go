package old

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// A function that nothing applies at its place can be applied at another one: in an operation of its own where a chain
// has one, else behind the plan of a schedule that ends before it.

// elsewhere says where function i of an operation can be applied; at is where the rows and columns of its result are.
func (d *draft) elsewhere(o schedule.Op, i int, at flow, sum bool) string {
	f, last := o.Then[i], i == len(o.Then)-1
	from := i
	if do(f) == applyRotary && !last {
		from++ // heads are turned here, and the others follow
	}
	byCopy := !slices.ContainsFunc(o.Then[from:], func(x schedule.Func) bool {
		return !applies[do(x)].kernel || cast(x)
	})
	switch {
	case addedBefore(o, i) >= 0:
	case applies[do(f)].norm && at.columns:
		return d.withAllColumns(endsWith(o, i))
	case byCopy && !(from == 0 && kind(o.Name()) == copied):
		return fmt.Sprintf("give it an operation of its own: schedule.Copy(%q, %q, ...)", o.Out, before(o, from))
	case last && !applies[do(f)].kernel && !cast(f) && !at.own && !sum && len(f.Reads()) == 1:
		index := map[string]string{addBias: "mn,n->mn", addTensor: "mn,mn->mn"}[do(f)]
		return fmt.Sprintf("give it an operation of its own: schedule.Call(%q, %q, %q, %q, %q)", o.Out, "Make"+o.Out,
			index, before(o, i), f.Reads()[0])
	}
	return d.behind(o, i)
}

// withAllColumns says how every rank gets all columns of a tensor.
func (d *draft) withAllColumns(name string) string {
	whole := schedule.Tensor{Axes: undivided([]schedule.Extent{d.rowExtent(name), d.columnsOf(name).Extent})}
	if !d.schedule.Made(name) {
		return fmt.Sprintf("place %s %s", name, whole)
	}
	return fmt.Sprintf("end the schedule with %s, placed %s, and go on behind its plan", name, whole)
}

// addedBefore is the number of a function before function i that adds as well; -1: none does.
func addedBefore(o schedule.Op, i int) int {
	return slices.IndexFunc(o.Then[:i], func(x schedule.Func) bool {
		return do(x) == do(o.Then[i]) && len(x.Reads()) > 0
	})
}

// behind says where a schedule without the functions from i on ends. Of two functions that add, one can add both.
func (d *draft) behind(o schedule.Op, i int) string {
	f := o.Then[i]
	if do(f) == applyToFP32 {
		return fmt.Sprintf("leave it out, and the type of %s, which is then rounded to the plan's", o.Out)
	}
	if again := addedBefore(o, i); again >= 0 {
		return d.once(o.Then[again].Reads()[0], f.Reads()[0])
	}
	var names []string
	for _, x := range o.Then[i:] {
		names = append(names, do(x))
	}
	them := strings.Join(names, " and ")
	read := slices.ContainsFunc(d.schedule.Ops, func(x schedule.Op) bool {
		return slices.Contains(x.In, o.Out) || slices.Contains(functionOperands(x), o.Out)
	})
	if read || endsWith(o, i) != o.Out {
		return fmt.Sprintf("end the schedule with %s, without %s, and go on behind its plan", endsWith(o, i), them)
	}
	return fmt.Sprintf("end the operation before %s, and go on with %s behind the plan", them, o.Out)
}

// endsWith is the result of a schedule that ends before function i of an operation.
func endsWith(o schedule.Op, i int) string {
	if i == 0 && kind(o.Name()) == copied {
		return o.In[0]
	}
	return o.Out
}

// before names the operand of function i of an operation.
func before(o schedule.Op, i int) string {
	if i == 0 && kind(o.Name()) == copied {
		return o.In[0]
	}
	return o.Out + "0"
}

// once says how a result gets two tensors added, although the kernel that adds up takes only one.
func (d *draft) once(x, y string) string {
	for _, pair := range [][2]string{{x, y}, {y, x}} {
		i := slices.IndexFunc(d.schedule.Ops, func(o schedule.Op) bool { return o.Out == pair[0] })
		if i >= 0 && d.schedule.Ops[i].Added() == "" && kind(d.schedule.Ops[i].Name()) == linear {
			return fmt.Sprintf("add %s to %s in Ops[%d], which makes it", pair[1], pair[0], i)
		}
	}
	return fmt.Sprintf("add up %s and %s before, and name their sum", x, y)
}

package lower

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// A function that nothing applies at its place can be applied at another one: in an operation of its own where a chain
// has one, else behind the plan of a schedule that ends before it.

// elsewhere says where function i of an operation can be applied; at is where the rows and columns of its result are.
func (d *draft) elsewhere(o schedule.Op, i int, at edges.State) string {
	if schedule.ReachOf(schedule.Nodes(o.Then[i].Tree())) == schedule.InRow && at.Columns() {
		return d.withAllColumns(endsWith(o, i))
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

// behind says where a schedule without the functions from i on ends.
func (d *draft) behind(o schedule.Op, i int) string {
	f := o.Then[i]
	if f.Do == schedule.ApplyToFP32 {
		return fmt.Sprintf("leave it out, and the type of %s, which is then rounded to the plan's", o.Out)
	}
	var names []string
	for _, x := range o.Then[i:] {
		names = append(names, x.Name())
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

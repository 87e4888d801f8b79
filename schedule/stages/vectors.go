package stages

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// Tensors of one axis of which functions make others are lowered as matrices of the same places in memory. They have
// one row, or, where an operation reads one of them by row, one column.

// asMatrices gives such tensors two axes. It refuses functions of a column that read more than one element of it.
func (c *Chain) asMatrices() error {
	columns, of := c.vectors()
	for i, o := range c.Schedule.Ops {
		if letters, _ := c.Original.Contraction(o); o.Call != "" && len(letters.Out) == 1 && len(of) > 0 {
			return c.Misplaced(o.Out, "give it two axes", "%s has 1 axis, and a call in a chain makes rows and columns",
				o.Out)
		}
		if !of[o.Out] || !columns[o.Out] {
			continue
		}
		for j, f := range o.Then {
			nodes := schedule.Nodes(f.Is)
			if schedule.ReachOf(nodes) > schedule.Local || len(f.Operands()) > len(operandsOf(f, schedule.InPlace)) {
				return refused(fmt.Sprintf("Ops[%d].Then[%d]", i, j), "let it be of each element alone",
					"%s has a number for each row, and %s is of rows of more", o.Out, f.Name())
			}
		}
	}
	for i, t := range c.Schedule.Tensors {
		switch {
		case !of[t.Name] || len(t.Axes) != 1:
		case columns[t.Name]:
			c.Schedule.Tensors[i].Axes = []schedule.Axis{t.Axes[0], schedule.Dim("1")}
		default:
			c.Schedule.Tensors[i].Axes = []schedule.Axis{schedule.Dim("1"), t.Axes[0]}
		}
	}
	return nil
}

// vectors are tensors of one axis that functions make or read in place, and those among them that are columns.
func (c *Chain) vectors() (columns, of map[string]bool) {
	columns, of = map[string]bool{}, map[string]bool{}
	for before := -1; before < len(of)+len(columns); {
		before = len(of) + len(columns)
		for _, o := range c.Schedule.Ops {
			alike := []string{o.Out, o.In[0]}
			for _, f := range o.Then {
				alike = append(alike, operandsOf(f, schedule.InPlace)...)
				for _, name := range operandsOf(f, schedule.ByRow) {
					if of[name] {
						columns[name] = true
					}
				}
			}
			letters, _ := c.Original.Contraction(o)
			if len(letters.Out) != 1 || o.Name() != schedule.CopyWord || o.Copies() {
				continue
			}
			column := slices.ContainsFunc(alike, func(name string) bool { return columns[name] })
			for _, name := range alike {
				if of[name] = true; column {
					columns[name] = true
				}
			}
		}
	}
	return columns, of
}

// operandsOf are the tensors that a function reads so.
func operandsOf(f schedule.Func, so schedule.Lies) (names []string) {
	for _, x := range f.Operands() {
		if x.Lies == so {
			names = append(names, x.Tensor)
		}
	}
	return names
}

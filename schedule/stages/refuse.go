package stages

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// What refusals have in common. A hint leads to a schedule that is lowered, or to two that are. Take a function that no
// step can apply where it stands: the hint gives it an operation of its own, if a chain takes that operation, or else
// ends the schedule before it, so that the caller applies it behind the plan.

// refused is the error of a field.
var refused = schedule.Refused

// written is a placement of a tensor of the schedule, with batches that are an axis of their own as that.
func (c *Chain) written(t schedule.Tensor) string {
	declared, given := c.Original.Tensor(t.Name)
	o, _ := c.Original.Maker(t.Name)
	if given && len(declared.Axes) <= len(t.Axes) || !given && !o.Batched() {
		return written(t)
	}
	batches, rows, _ := t.Axes[0].Extent.Factors()
	outer := t.Axes[0].Outer
	if len(outer) > 0 && outer[0].Count == batches {
		outer = outer[1:]
	}
	t.Axes = append([]schedule.Axis{schedule.Dim(batches), schedule.Dim(rows, outer...)}, t.Axes[1:]...)
	return written(t)
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

// shiftOf is by how many ranks the parts of a tensor are moved on, and the field that says so.
func (c *Chain) shiftOf(name string) (path string, n int) {
	return c.SplitPath(name, "Shift"), c.Split(name).Shift
}

// movedOn refuses parts that are moved on otherwise than by one rank, and uneven ones.
func (c *Chain) movedOn(o schedule.Op, e edges.Edge) error {
	path, n := c.shiftOf(o.In[0])
	if n == 0 {
		path, _ = c.shiftOf(o.Out)
	}
	n = e.To.Shift - e.From.Shift
	switch {
	case e.From.Shift == 0 && e.To.Shift == 0:
		return nil
	case e.Kind == edges.AllToAll && e.From.Shift != 0 && e.To.Shift != 0:
		return refused(path, "leave it out, and move "+o.In[0]+" on by a schedule.Copy first",
			"no pass exchanges parts of %s that were moved on for parts of %s that are", o.In[0], o.Out)
	case e.From.Size != edges.Even || e.From.Batches != "":
		return refused(path, "leave it out", "no pass moves on parts of %s that are not even", o.In[0])
	case e.Kind == edges.Permutation && n != 1 && n != -1:
		return refused(path, "let the shifts of both differ by 1", "a shift by %d of %s: the one that is lowered "+
			"moves parts on by one rank, or back", n, o.Out)
	}
	return nil
}

// behindColumns refuses an operation on columns that were gathered of equal parts: a schedule ends with them.
func (c *Chain) behindColumns(path, columns, out string) error {
	return refused(path, fmt.Sprintf("end the schedule with %s, and make %s behind its plan", columns, out),
		"no pass goes on with all columns of %s", columns)
}

// elsewhere says where function i of an operation can be applied; at is where the rows and columns of its result are.
func (c *Chain) elsewhere(o schedule.Op, i int, at edges.State) string {
	if o.Then[i].Tree().InRow() && at.Columns() {
		if of := c.Tensor(o.Out); of.Scale != "" && i == len(o.Then)-1 {
			parts := schedule.Tensor{Axes: append(of.Axes[:1:1], schedule.Dim(schedule.D, schedule.DIDx(schedule.D)))}
			return fmt.Sprintf("place %s %s: a scale for each rank's part of a row", of.Scale, parts)
		}
		name := endsWith(o, i)
		whole := schedule.Tensor{Axes: []schedule.Axis{schedule.Dim(c.RowExtent(name)),
			schedule.Dim(c.ColumnsOf(name).Extent)}}
		if !c.Schedule.Made(name) {
			return fmt.Sprintf("place %s %s", name, whole)
		}
		if t := c.Tensor(name); t.Name != "" && !edges.Of(t).Columns() { // behind the columns of all ranks
			return fmt.Sprintf("make %s by a schedule.Copy with %s of what the %s makes without it", name,
				o.Then[i].Name(), o.Name())
		}
		return fmt.Sprintf("end the schedule with %s, placed %s, and go on behind its plan", name, whole)
	}
	return c.endBefore(o, i)
}

// endBefore says where a schedule without the functions from i on ends.
func (c *Chain) endBefore(o schedule.Op, i int) string {
	var names []string
	for _, x := range o.Then[i:] {
		names = append(names, x.Name())
	}
	them := strings.Join(names, " and ")
	read := slices.ContainsFunc(c.Schedule.Ops, func(x schedule.Op) bool { return x.Reads(o.Out) })
	if ends := endsWith(o, i); read || ends != o.Out && c.Original.Made(ends) {
		return fmt.Sprintf("end the schedule with %s, without %s, and go on behind its plan", endsWith(o, i), them)
	}
	return fmt.Sprintf("end the operation before %s, and go on with %s behind the plan", them, o.Out)
}

// endsWith is the result of a schedule that ends before function i of an operation.
func endsWith(o schedule.Op, i int) string {
	if i == 0 && o.Name() == schedule.CopyWord {
		return o.In[0]
	}
	return o.Out
}

// Besides says that the placements of other tensors decide whether a tensor travels: of the operation with several
// operands that has it, or of all that copy it.
func (c *Chain) Besides(tensor string) string {
	const placements = "; what travels follows from the placements of "
	var copies []string
	for _, o := range c.Original.Ops {
		list := append(slices.Clone(o.In), o.Out)
		switch {
		case !slices.Contains(list, tensor):
		case len(o.In) > 1:
			return placements + strings.Join(list, ", ")
		default:
			copies = append(copies, list...)
		}
	}
	if len(copies) < 3 {
		return ""
	}
	slices.Sort(copies)
	return placements + strings.Join(slices.Compact(copies), ", ")
}

package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// written is a placement of a tensor of the schedule, with batches that are an axis of their own as that.
func (d *draft) written(t schedule.Tensor) string {
	declared, _ := d.original.Tensor(t.Name)
	if len(declared.Axes) <= len(t.Axes) {
		return written(t)
	}
	batches, rows, _ := factors(t.Axes[0].Extent)
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

// shifted refuses parts that are moved on by another number of ranks than one.
func (d *draft) shifted() error {
	s, operation := d.schedule, "chain"
	if d.single {
		operation = s.Ops[0].Name()
	}
	for i, t := range s.Tensors {
		if !d.single && slices.ContainsFunc(s.Ops, copies) {
			break // the stages say
		}
		j, k, ok := t.Sharded()
		if !ok {
			continue
		}
		n := t.Axes[j].Outer[k].Shift
		path := fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d].Shift", i, j, k)
		switch {
		case n == 0:
		case !slices.ContainsFunc(s.Ops, copies):
			return &schedule.FieldError{Path: path, Hint: "leave it out; a permutation is a Copy",
				Msg: fmt.Sprintf("no pass lowers a %s of parts that are moved on", operation)}
		case !d.schedule.Made(t.Name) || n != 1:
			o := d.schedule.Ops[0]
			return &schedule.FieldError{Path: path,
				Hint: fmt.Sprintf("set Shift to 1 in %s, and leave it out in %s", o.Out, o.In[0]),
				Msg: fmt.Sprintf("a shift by %d of %s: the one that is lowered moves parts on by one rank", n,
					t.Name)}
		}
	}
	return nil
}

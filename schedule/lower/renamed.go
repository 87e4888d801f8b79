package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// finish gives the program the schedule as it is declared.
func finish(d *draft) error {
	d.unmoved()
	d.program.Schedule = d.original
	apart(d)
	seen := map[string]bool{}
	for _, b := range d.program.Buffers {
		i := slices.IndexFunc(d.original.Tensors, func(t schedule.Tensor) bool { return t.Name == b.Name })
		if seen[b.Name] && i >= 0 {
			return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Name", i),
				Msg: "the plan has memory of its own called " + b.Name, Hint: "use another name"}
		}
		seen[b.Name] = true
	}
	return nil
}

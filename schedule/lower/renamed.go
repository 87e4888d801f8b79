package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// renamed gives the buffers the names that the schedule has for them.
func renamed(d *draft) error {
	d.unmoved()
	d.program.Schedule = d.original
	apart(d)
	names := map[string]string{}
	for name, role := range d.form.roles {
		if name != role {
			names[role] = name
		}
	}
	if len(names) > 0 {
		d.program.Rename(names)
	}
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

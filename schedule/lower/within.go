package lower

import (
	"fmt"

	"ovgen/schedule"
)

// within gives a tensor that lies within another the memory of that one. Which programs
// stay free of races then, the table of pipelines says, and the prover shows.
func within(d *draft) error {
	for i, t := range d.schedule.Tensors {
		if t.Within == "" {
			continue
		}
		if err := d.program.Merge(t.Name, t.Within); err != nil {
			return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Within", i), Msg: err.Error(), Hint: "leave it out"}
		}
	}
	return nil
}

// inner is the index of the tensor that lies within another, below 0 where none does.
func inner(s schedule.Schedule) int {
	for i, t := range s.Tensors {
		if t.Within != "" {
			return i
		}
	}
	return -1
}

package lower

import (
	"fmt"

	"ovgen/schedule"
)

// within gives a tensor that lies within another the memory of that one. Which programs
// stay free of races then, its way says, and the prover shows.
func within(d *draft) error {
	for i, t := range d.schedule.Tensors {
		if t.Within == "" {
			continue
		}
		if err := d.program.Merge(t.Name, t.Within); err != nil {
			return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Within", i), Msg: err.Error(),
				Hint: "leave it out"}
		}
	}
	return nil
}

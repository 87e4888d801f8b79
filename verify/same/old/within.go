package old

import (
	"fmt"

	"ovgen/schedule"
)

// within gives a tensor that lies within another the memory of that one. A lowering says
// whether its programs stay free of races then, and the prover shows it.
func within(d *draft) error {
	for i, t := range d.schedule.Tensors {
		if t.Within == "" {
			continue
		}
		if err := d.program.Merge(t.Name, t.Within); err != nil {
			return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Within", i), Msg: err.Error(),
				Hint: "leave it out, or sum for all ranks by schedule.Shot, which does not cut the result"}
		}
	}
	return nil
}

package lower

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// within gives a tensor that lies within another the memory of that one. A lowering says
// whether its programs stay free of races then, and the prover shows it.
func within(p *hostir.Program) error {
	for i, t := range p.Schedule.Tensors {
		if t.Within == "" {
			continue
		}
		if err := p.Merge(t.Name, t.Within); err != nil {
			return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Within", i), Msg: err.Error(),
				Hint: "leave it out, or sum for all ranks by schedule.Shot, which does not cut the result"}
		}
	}
	return nil
}

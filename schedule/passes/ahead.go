package passes

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// ahead lets kernels of products read weights that the schedule calls constant ahead of the end of the launch before
// them. The products of one kernel do so together. It refuses a schedule that calls constant what none reads so.
func ahead(p *hostir.Program) error {
	constant, read, other := map[string]bool{}, map[string]string{}, map[string]string{}
	for _, t := range p.Schedule.Tensors {
		constant[t.Name] = t.Constant
	}
	hostir.Steps(p.Body, func(s hostir.Step) {
		x, multiplies := s.Do.(hostir.Product)
		switch {
		case !multiplies || s.By == "":
		case constant[x.B.Buffer] && x.B.Peer.IsZero():
			read[x.B.Buffer] = s.By
		default:
			other[s.By] = x.B.Buffer
		}
	})
	for i, t := range p.Schedule.Tensors {
		by, reads := read[t.Name]
		at := fmt.Sprintf("Tensors[%d].Constant", i)
		switch beside, also := other[by]; {
		case !t.Constant:
		case !reads:
			return schedule.Refused(at, "leave it out", "no kernel of products has %s as its weight, as those of "+
				"FewRows and by weights of eight bits have", t.Name)
		case also:
			return schedule.Refused(at, "leave it out, or let both be Constant", "the kernels that read %s ahead also "+
				"multiply by %s, which is not", t.Name, beside)
		}
	}
	if len(read) == 0 {
		return nil
	}
	p.Body = hostir.ChangeSteps(p.Body, func(s hostir.Step) hostir.Step {
		x, multiplies := s.Do.(hostir.Product)
		s.Ahead = multiplies && s.By != "" && constant[x.B.Buffer]
		return s
	})
	return nil
}

package lower

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// point is what decides which program an operation is written as, before the later
// passes take the other choices.
type point struct {
	moves moves
	kind  schedule.PipelineKind
	order schedule.Order
}

// pipelines are the points that are lowered, each by a function in a file of its own.
var pipelines = map[point]func(*draft) error{
	{gather, schedule.PointToPoint, schedule.Shift}: gatherShift,
}

// pipeline writes the operation as steps.
func pipeline(d *draft) error {
	p := d.schedule.Pipeline
	write := pipelines[point{d.comm.moves, p.Kind, p.Order}]
	if write == nil {
		return &schedule.FieldError{Path: "Pipeline", Msg: fmt.Sprintf("no pass lowers %s as %s in order %s", d.comm.moves, p.Kind, p.Order),
			Hint: "leave Kind and Order out"}
	}
	return write(d)
}
// product is the schedule's operation on one chunk.
func product(s schedule.Schedule, o hostir.Origin, c, a hostir.View) hostir.Node {
	if s.Op == schedule.Matmul {
		return hostir.Matmul{Origin: o, C: c, A: a, B: whole("B")}
	}
	l := hostir.Linear{Origin: o, C: c, A: a, B: whole("B")}
	if _, ok := s.Tensor("Bias"); ok {
		l.Bias = whole("Bias")
	}
	return l
}

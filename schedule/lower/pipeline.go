package lower

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// point is a family of programs: a communication, and how it is cut into steps.
type point struct {
	moves moves
	kind  schedule.PipelineKind
	order schedule.Order
}

// entry is what writes the programs of a point, in a file of its own, for the choices
// that it or a pass behind it reads. A point may have several entries, for choices that
// make for another program.
type entry struct {
	point
	reads
	write func(*draft) error
}

// pipelines are the entries, those of a point in the order in which they are tried.
var pipelines = slices.Concat(gatherPipelines, reducePipelines, copyPipelines, layerPipelines)

// gatherPipelines gather A and multiply it.
var gatherPipelines = []entry{
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{ownShards: eitherShard, signals: list(schedule.Batched, schedule.InStep),
		compute: true, withStep: true, inLoop: true, gathered: true}, gatherShift},
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{ownShards: eitherShard, steps: fusable, compute: true, withStep: true, inLoop: true, gathered: true}, gatherShift},
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{protocols: list(schedule.Put), parts: true, steps: fusable, compute: true}, gatherPut},
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{parts: true, compute: true}, gatherShift},
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{products: list(schedule.Grouped)}, gatherGrouped},
	{point{gather, schedule.PointToPoint, schedule.Ring}, reads{directions: everyWay, compute: true, withStep: true}, gatherRing},
	{point{gather, schedule.PointToPoint, schedule.Ring}, reads{directions: everyWay, protocols: list(schedule.Put), compute: true}, gatherRingPut},
	{point{gather, schedule.Broadcast, schedule.Shift}, reads{protocols: list(schedule.Put), compute: true}, gatherBroadcast},
	{point{gatherChunks, schedule.Collective, schedule.Shift}, reads{compute: true, withStep: true}, gatherCollective},
}

var eitherShard = list(schedule.InPlace, schedule.Copied)

var fusable = list(schedule.Separate, schedule.Fused)

var anyPriority = list(schedule.Equal, schedule.Falling)

var everyWay = list(schedule.Forward, schedule.Backward, schedule.Both)

func list[T any](choices ...T) []T { return choices }

// pipeline writes the operation as steps: by the first entry that reads all choices.
func pipeline(d *draft) error {
	p := d.schedule.Pipeline
	at := point{d.comm.moves, p.Kind, p.Order}
	var there []entry
	for _, e := range pipelines {
		if e.point != at {
			continue
		}
		if len(e.refuses(d.schedule)) == 0 {
			if err := errors.Join(e.gathers(d.schedule), e.shares(d.schedule)); err != nil {
				return err
			}
			return e.write(d)
		}
		there = append(there, e)
	}
	if len(there) > 0 {
		return d.refuse(there)
	}
	return &schedule.FieldError{Path: d.missing(at), Msg: fmt.Sprintf("no pipeline does the %s as %q in order %q", at.moves, at.kind, at.order),
		Hint: "use " + strings.Join(points(at.moves), ", or ")}
}

// missing is the field that keeps a communication from being lowered.
func (d *draft) missing(at point) string {
	for _, e := range pipelines {
		if e.moves == at.moves && e.kind == at.kind && d.written.Pipeline.Order != "" {
			return "Pipeline.Order"
		}
	}
	return "Pipeline.Kind"
}

// points lists what a communication can be lowered as.
func points(m moves) []string {
	var texts []string
	for _, e := range pipelines {
		text := fmt.Sprintf("Kind %q with Order %q", e.kind, e.order)
		if e.moves == m && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// gathers refuses the caller's buffer for what was gathered where the entry has none.
func (e entry) gathers(s schedule.Schedule) error {
	i := slices.IndexFunc(s.Tensors, func(t schedule.Tensor) bool { return t.Name == "Gathered" })
	if e.gathered || i < 0 {
		return nil
	}
	return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d]", i), Msg: "this pipeline gathers into memory of the plan only", Hint: "leave it out"}
}

// shares refuses a tensor within another where the entry does not work in place.
func (e entry) shares(s schedule.Schedule) error {
	i := slices.IndexFunc(s.Tensors, func(t schedule.Tensor) bool { return t.Within != "" })
	if e.inPlace || i < 0 {
		return nil
	}
	return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Within", i), Msg: "this pipeline does not work in place",
		Hint: "leave it out, or take a bare all-gather or reduce-scatter, or a bare all-reduce of Kind schedule.TwoShot"}
}

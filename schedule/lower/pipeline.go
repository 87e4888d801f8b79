package lower

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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

// entry is a point that is lowered: what writes it, in a file of its own, and which
// other choices it reads.
type entry struct {
	write  func(*draft) error
	serves serves
}

// serves lists the choices, besides the default ones, that an entry or a pass behind
// it reads.
type serves struct {
	directions []schedule.Direction
	protocols  []schedule.Protocol
	own        []schedule.Own
	ownShards  []schedule.OwnShard
	signals    []schedule.Signals
	products   []schedule.Products
	reductions []schedule.Reduction
	copies     []schedule.CopyStream
	steps      []schedule.Steps
	starts     []schedule.Placement
	handles    []schedule.Placement
	parts      bool // Parts above one
}

// pipelines are the points that are lowered.
var pipelines = map[point]entry{
	{gather, schedule.PointToPoint, schedule.Shift}: {gatherShift, serves{
		ownShards: list(schedule.Copied), signals: list(schedule.InStep), copies: list(schedule.WithStep), starts: list(schedule.InLoop), handles: list(schedule.InLoop)}},
}

func list[T any](choices ...T) []T { return choices }

// pipeline writes the operation as steps.
func pipeline(d *draft) error {
	p := d.schedule.Pipeline
	e, ok := pipelines[point{d.comm.moves, p.Kind, p.Order}]
	if !ok {
		return &schedule.FieldError{Path: missing(d.comm.moves, p.Kind), Msg: fmt.Sprintf("no pass lowers the %s as %s in order %s", d.comm.moves, p.Kind, p.Order),
			Hint: "use " + strings.Join(points(d.comm.moves), ", or ")}
	}
	if err := e.serves.check(d.schedule); err != nil {
		return err
	}
	return e.write(d)
}

// missing is the field that keeps a communication from being lowered.
func missing(m moves, kind schedule.PipelineKind) string {
	for p := range pipelines {
		if p.moves == m && p.kind == kind {
			return "Pipeline.Order"
		}
	}
	return "Pipeline.Kind"
}

// points lists what a communication can be lowered as.
func points(m moves) []string {
	var texts []string
	for p := range pipelines {
		if p.moves == m {
			texts = append(texts, fmt.Sprintf("Kind %q with Order %q", p.kind, p.order))
		}
	}
	if slices.Sort(texts); len(texts) == 0 {
		return []string{"another placement: none of its pipelines is lowered yet"}
	}
	return texts
}

// check reports every choice that the entry does not read.
func (v serves) check(s schedule.Schedule) error {
	usual := schedule.Schedule{Op: s.Op, Tensors: s.Tensors}.WithDefaults()
	p, q := s.Pipeline, usual.Pipeline
	errs := []error{
		served("Pipeline.Direction", p.Direction, q.Direction, v.directions),
		served("Pipeline.Protocol", p.Protocol, q.Protocol, v.protocols),
		served("Pipeline.Own", p.Own, q.Own, v.own),
		served("Pipeline.OwnShard", p.OwnShard, q.OwnShard, v.ownShards),
		served("Pipeline.Signals", p.Signals, q.Signals, v.signals),
		served("Pipeline.Products", p.Products, q.Products, v.products),
		served("Pipeline.Reduction", p.Reduction, q.Reduction, v.reductions),
		served("Transport.Steps", s.Transport.Steps, usual.Transport.Steps, v.steps),
		served("Streams.Copy", s.Streams.Copy, usual.Streams.Copy, v.copies),
		served("Streams.Start", s.Streams.Start, usual.Streams.Start, v.starts),
		served("Streams.Handles", s.Streams.Handles, usual.Streams.Handles, v.handles),
	}
	if p.Parts > 1 && !v.parts {
		errs = append(errs, &schedule.FieldError{Path: "Pipeline.Parts", Msg: "this pipeline moves whole shards", Hint: "leave it out"})
	}
	return errors.Join(errs...)
}

// served refuses a choice that is neither the default nor one of those read.
func served[T ~string](path string, got, usual T, read []T) error {
	if got == usual || slices.Contains(read, got) {
		return nil
	}
	return &schedule.FieldError{Path: path, Msg: fmt.Sprintf("this pipeline does not read %q", string(got)),
		Hint: fmt.Sprintf("use one of %q", append(list(usual), read...))}
}

// placed says that the pipeline has put its nodes on streams itself, so that the
// passes that do that are left out.
func (d *draft) placed() bool { return len(d.program.Streams) > 0 }

// product is the schedule's operation on one chunk.
func product(s schedule.Schedule, o hostir.Origin, c, a hostir.View) hostir.Node {
	return further(s, o, c, a, "")
}

// products are the schedule's products of one operand: the parts of C, and of C2 and
// C3 where it has them, that c names.
func products(s schedule.Schedule, o hostir.Origin, c, a hostir.View) []hostir.Node {
	nodes := []hostir.Node{product(s, o, c, a)}
	for _, n := range []string{"2", "3"} {
		if _, ok := s.Tensor("B" + n); ok {
			c.Buffer = "C" + n
			nodes = append(nodes, further(s, hostir.Origin{Field: o.Field}, c, a, n))
		}
	}
	return nodes
}

// further is the product with B, B2 or B3.
func further(s schedule.Schedule, o hostir.Origin, c, a hostir.View, n string) hostir.Node {
	if s.Op == schedule.Matmul {
		return hostir.Matmul{Origin: o, C: c, A: a, B: whole("B" + n)}
	}
	l := hostir.Linear{Origin: o, C: c, A: a, B: whole("B" + n)}
	if _, ok := s.Tensor("Bias" + n); ok {
		l.Bias = whole("Bias" + n)
	}
	return l
}

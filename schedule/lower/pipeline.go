package lower

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
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

// reads lists the choices that an entry reads; nothing means the default one only.
type reads struct {
	directions []schedule.Direction
	protocols  []schedule.Protocol
	own        []schedule.Own
	ownShards  []schedule.OwnShard
	signals    []schedule.Signals
	products   []schedule.Products
	reductions []schedule.Reduction
	priorities []schedule.Priority
	steps      []schedule.Steps
	parts      bool // shards in several parts
	withStep   bool // copies on the streams of the steps
	inLoop     bool // start and handles in the loop
	gathered   bool // the gathered operand is the caller's
	inPlace    bool // an operand within the result, or the result within an operand
}

// pipelines are the entries, those of a point in the order in which they are tried.
var pipelines = slices.Concat(gatherPipelines, reducePipelines, copyPipelines, layerPipelines)

// gatherPipelines gather A and multiply it.
var gatherPipelines = []entry{
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{ownShards: eitherShard, signals: list(schedule.Batched, schedule.InStep),
		withStep: true, inLoop: true, gathered: true}, gatherShift},
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{ownShards: eitherShard, steps: fusable, withStep: true, inLoop: true, gathered: true}, gatherShift},
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{protocols: list(schedule.Put), parts: true, steps: fusable}, gatherPut},
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{parts: true}, gatherParts},
	{point{gather, schedule.PointToPoint, schedule.Shift}, reads{products: list(schedule.Grouped)}, gatherGrouped},
	{point{gather, schedule.PointToPoint, schedule.Ring}, reads{directions: everyWay, withStep: true}, gatherRing},
	{point{gather, schedule.PointToPoint, schedule.Ring}, reads{directions: everyWay, protocols: list(schedule.Put)}, gatherRingPut},
	{point{gather, schedule.Broadcast, schedule.Shift}, reads{protocols: list(schedule.Put)}, gatherBroadcast},
	{point{gatherChunks, schedule.Collective, schedule.Shift}, reads{withStep: true}, gatherCollective},
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
	var refused *refusals // of the entry that refuses least
	for _, e := range pipelines {
		if e.point != at {
			continue
		}
		r := e.refuses(d.schedule)
		if len(r.errs) == 0 {
			err := e.write(d)
			d.placed = len(d.program.Streams) > 0
			return err
		}
		if refused == nil || r.less(refused) {
			refused = r
		}
	}
	if refused != nil {
		return errors.Join(refused.errs...)
	}
	return &schedule.FieldError{Path: missing(at), Msg: fmt.Sprintf("no pass lowers the %s as %s in order %s", at.moves, at.kind, at.order),
		Hint: "use " + strings.Join(points(at.moves), ", or ")}
}

// missing is the field that keeps a communication from being lowered.
func missing(at point) string {
	for _, e := range pipelines {
		if e.moves == at.moves && e.kind == at.kind {
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
	if len(texts) == 0 {
		return []string{"another placement: no pipeline is known for this one"}
	}
	return texts
}

// refuses lists the choices that the entry does not read, those that make for another
// program first.
func (r reads) refuses(s schedule.Schedule) *refusals {
	usual := schedule.Schedule{Op: s.Op, Tensors: s.Tensors, Pipeline: schedule.Pipeline{Kind: s.Pipeline.Kind, Order: s.Pipeline.Order}}.WithDefaults()
	p, q := s.Pipeline, usual.Pipeline
	errs := &refusals{}
	oneOf(errs, "Pipeline.Direction", p.Direction, q.Direction, r.directions)
	oneOf(errs, "Pipeline.Protocol", p.Protocol, q.Protocol, r.protocols)
	oneOf(errs, "Pipeline.Products", p.Products, q.Products, r.products)
	oneOf(errs, "Pipeline.Reduction", p.Reduction, q.Reduction, r.reductions)
	oneOf(errs, "Pipeline.Own", p.Own, q.Own, r.own)
	oneOf(errs, "Pipeline.OwnShard", p.OwnShard, q.OwnShard, r.ownShards)
	oneOf(errs, "Pipeline.Signals", p.Signals, q.Signals, r.signals)
	oneOf(errs, "Streams.Priority", s.Streams.Priority, usualPriority(s), r.priorities)
	oneOf(errs, "Transport.Steps", s.Transport.Steps, usual.Transport.Steps, r.steps)
	errs.unless(r.parts || p.Parts <= 1, "Pipeline.Parts", "this pipeline moves whole shards", "leave it out")
	errs.unless(r.withStep || s.Streams.Copy == usual.Streams.Copy, "Streams.Copy", "this pipeline has its copies on a stream of their own", "leave it out")
	errs.unless(r.inLoop || s.Streams.Start == usual.Streams.Start, "Streams.Start", "this pipeline starts its streams ahead of the loop", "leave it out")
	errs.unless(r.inLoop || s.Streams.Handles == usual.Streams.Handles, "Streams.Handles", "this pipeline exchanges handles once", "leave it out")
	at := inner(s)
	errs.unless(r.inPlace || at < 0, fmt.Sprintf("Tensors[%d].Within", max(at, 0)),
		"with the other choices, no pipeline works in place", inPlaceHint)
	_, wanted := s.Tensor("Gathered")
	errs.unless(r.gathered || !wanted, "Tensors", "this pipeline gathers into memory of the plan only", "leave it out")
	return errs
}

// inPlaceHint names what works in place.
const inPlaceHint = "leave it out, or take a bare all-gather or reduce-scatter, or a bare all-reduce of Kind schedule.TwoShot"

// usualPriority is the one that the other choices go with.
func usualPriority(s schedule.Schedule) schedule.Priority {
	s.Streams.Priority = ""
	return s.WithDefaults().Streams.Priority
}

// refusals are the choices that an entry does not read, of those that were looked at.
type refusals struct {
	errs          []error
	looked, first int
}

// less prefers fewer of them, and of as many those that matter less.
func (r *refusals) less(o *refusals) bool {
	if len(r.errs) != len(o.errs) {
		return len(r.errs) < len(o.errs)
	}
	return r.first > o.first
}

func (r *refusals) unless(fits bool, path, problem, hint string) {
	r.looked++
	if fits {
		return
	}
	if len(r.errs) == 0 {
		r.first = r.looked
	}
	r.errs = append(r.errs, &schedule.FieldError{Path: path, Msg: problem, Hint: hint})
}

// oneOf refuses a choice that is not among those read.
func oneOf[T ~string](r *refusals, path string, got, usual T, read []T) {
	if read == nil {
		read = list(usual)
	}
	r.unless(slices.Contains(read, got), path, fmt.Sprintf("with the other choices, no pipeline reads %q", string(got)), fmt.Sprintf("use one of %q", read))
}

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

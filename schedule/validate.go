package schedule

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FieldError is one mistake in a schedule.
type FieldError struct {
	Path string // of the field: Tensors[1].Axes[0].Outer[0].Count
	Msg  string // what is wrong
	Hint string // what to do
}

// Error is "Tensors[1].Axes[0]: what is wrong (what to do)".
func (e *FieldError) Error() string {
	if e.Hint == "" {
		return e.Path + ": " + e.Msg
	}
	return e.Path + ": " + e.Msg + " (" + e.Hint + ")"
}

// FieldErrors takes apart what Validate returned.
func FieldErrors(err error) []*FieldError {
	var one *FieldError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*FieldError
		for _, e := range joined.Unwrap() {
			all = append(all, FieldErrors(e)...)
		}
		return all
	}
	if errors.As(err, &one) {
		return []*FieldError{one}
	}
	return nil
}

// Validate reports every mistake in the schedule, each a *FieldError, joined. A
// valid schedule can still be one that no pass lowers yet: package lower says so.
func (s Schedule) Validate() error {
	v := &validation{}
	s.checkOp(v)
	s.checkTensors(v)
	s.checkConstants(v)
	s.checkChoices(v)
	return errors.Join(v.errs...)
}

type validation struct{ errs []error }

func (v *validation) add(path, hint, format string, args ...any) {
	v.errs = append(v.errs, &FieldError{Path: path, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// shapes are the extents each operation gives its tensors; a tensor with several
// shapes has the one with as many axes as it declares.
var shapes = map[Op]map[string][][]Extent{
	Matmul: {"A": {{M, K}}, "B": {{K, N}}, "C": {{M, N}},
		"B2": {{K, N2}}, "C2": {{M, N2}}, "B3": {{K, N3}}, "C3": {{M, N3}}, "Gathered": {{M, K}}},
	Linear: {"A": {{M, K}}, "B": {{N, K}}, "Bias": {{N}}, "C": {{M, N}},
		"B2": {{N2, K}}, "Bias2": {{N2}}, "C2": {{M, N2}}, "B3": {{N3, K}}, "Bias3": {{N3}}, "C3": {{M, N3}}, "Gathered": {{M, K}}},
	Gradient: {"A": {{M, N}}, "B": {{M, K}}, "C": {{N, K}}},
	MLP:      {"A": {{M, K}}, "B": {{F, K}}, "Bias": {{F}}, "B2": {{N, F}}, "C": {{M, N}}},
	Copy:     {"A": {{M, N}, {D, D, M}}, "C": {{M, N}, {D, D, M}}},
	Sum:      {"A": {{D, M, N}}, "C": {{M, N}}},
}

// required are the tensors that each operation can't do without, and those of a
// further product, which come together.
var required = map[Op][]string{
	Matmul: {"A", "B", "C"}, Linear: {"A", "B", "C"}, Gradient: {"A", "B", "C"},
	MLP: {"A", "B", "B2", "C"}, Copy: {"A", "C"}, Sum: {"A", "C"},
}

// together are tensors that need another.
var together = map[string]string{"B2": "C2", "C2": "B2", "Bias2": "B2", "B3": "C3", "C3": "B3", "Bias3": "B3"}

// Extents are the symbols of the tensor's axes in the operation, nil where the
// operation has no such tensor.
func (op Op) Extents(t Tensor) []Extent {
	list := shapes[op][t.Name]
	for _, extents := range list {
		if len(extents) == len(t.Axes) {
			return extents
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func (s Schedule) checkOp(v *validation) {
	if s.Op == "" {
		v.add("Op", "set it to schedule.Matmul or schedule.Linear", "no operation")
	} else if shapes[s.Op] == nil {
		v.add("Op", "use schedule.Matmul, Linear, Gradient, MLP, Copy or Sum", "unknown operation %q", s.Op)
	}
}

func (s Schedule) checkTensors(v *validation) {
	seen := map[string]bool{}
	for i, t := range s.Tensors {
		path := fmt.Sprintf("Tensors[%d]", i)
		if seen[t.Name] {
			v.add(path+".Name", "declare each tensor once", "tensor %s is declared twice", t.Name)
		}
		seen[t.Name] = true
		if shapes[s.Op] != nil {
			s.checkShape(v, path, t)
		}
		t.check(v, path)
	}
	s.checkPlaces(v)
	for _, name := range required[s.Op] {
		if !seen[name] {
			v.add("Tensors", "declare it with its placement", "tensor %s is missing", name)
		}
	}
	for _, t := range s.Tensors {
		if other := together[t.Name]; other != "" && shapes[s.Op][other] != nil && !seen[other] {
			v.add("Tensors", "declare it with its placement", "tensor %s is missing, which %s goes with", other, t.Name)
		}
	}
}

// checkPlaces holds what lies within another tensor against that one.
func (s Schedule) checkPlaces(v *validation) {
	held := map[string]bool{}
	for i, t := range s.Tensors {
		if t.Within == "" {
			continue
		}
		path := fmt.Sprintf("Tensors[%d].Within", i)
		outer, ok := s.Tensor(t.Within)
		_, placed := t.PlaceWithin(outer)
		switch {
		case !ok || t.Within == t.Name:
			v.add(path, "name an operand where this is a result, a result where this is an operand",
				"there is no other tensor %q", t.Within)
		case t.Result() == outer.Result():
			v.add(path, "leave it out",
				"an operand lies within a result, or a result within an operand: %s and %s are neither", t.Name, outer.Name)
		case outer.Within != "" || held[outer.Name]:
			v.add(path, "leave one out", "one tensor lies within another, and in %s there are more", outer.Name)
		case !placed:
			v.add(path, "cut the outermost axis of one of the two over the ranks, evenly, or none",
				"%s %s has no place in %s %s", t.Name, t, outer.Name, outer)
		}
		held[t.Within] = true
	}
}

// checkShape holds a tensor's extents against those the operation gives it.
func (s Schedule) checkShape(v *validation, path string, t Tensor) {
	extents := s.Op.Extents(t)
	switch {
	case extents == nil:
		v.add(path+".Name", "it has "+strings.Join(slices.Sorted(maps.Keys(shapes[s.Op])), ", "), "%s has no tensor %q", s.Op, t.Name)
	case len(t.Axes) != len(extents):
		v.add(path+".Axes", s.Op.shape(t.Name), "%d axes where %d are needed", len(t.Axes), len(extents))
	default:
		for j, a := range t.Axes {
			if a.Extent.valid() && !a.Extent.constant() && a.Extent != extents[j] {
				v.add(fmt.Sprintf("%s.Axes[%d].Extent", path, j), fmt.Sprintf("use %s or a constant", extents[j]), "extent %q does not fit %s of a %s", a.Extent, t.Name, s.Op)
			}
		}
	}
}

// shape says which axes a tensor of the operation has: "a copy has A [M N] or [D D M]".
func (op Op) shape(name string) string {
	var list []string
	for _, extents := range shapes[op][name] {
		list = append(list, fmt.Sprint(extents))
	}
	return fmt.Sprintf("a %s has %s %s", op, name, strings.Join(list, " or "))
}

// checkConstants refuses axes that are one extent of the operation and are written as
// several: a product of 4096 columns with 8192 rows, or with K of them.
func (s Schedule) checkConstants(v *validation) {
	type use struct {
		extent Extent
		tensor string
	}
	first := map[Extent]use{}
	for i, t := range s.Tensors {
		extents := s.Op.Extents(t)
		if len(extents) != len(t.Axes) {
			continue
		}
		for j, a := range t.Axes {
			path := fmt.Sprintf("Tensors[%d].Axes[%d].Extent", i, j)
			before, seen := first[extents[j]]
			switch {
			case a.Extent != extents[j] && !a.Extent.constant():
			case extents[j] == D:
				if a.Extent != D {
					v.add(path, "use schedule.D", "the mesh has D ranks, not %s", a.Extent)
				}
			case !seen:
				first[extents[j]] = use{a.Extent, t.Name}
			case before.extent != a.Extent:
				v.add(path, "write the same in both", "%s of a %s is %s here and %s in %s", extents[j], s.Op, a.Extent, before.extent, before.tensor)
			}
		}
	}
}

func (t Tensor) check(v *validation, path string) {
	shards, streams := 0, 0
	for i, a := range t.Axes {
		at := fmt.Sprintf("%s.Axes[%d]", path, i)
		if !a.Extent.valid() {
			v.add(at+".Extent", "use a symbol such as M, or a positive constant", "%q is no extent", a.Extent)
		}
		v.within(at+".Extent", a.Extent)
		for j, s := range a.Outer {
			in := fmt.Sprintf("%s.Outer[%d]", at, j)
			switch s.Kind {
			case DeviceX:
				shards++
				if s.Count != D {
					v.add(in+".Count", "use schedule.DIDx(schedule.D)", "an axis is sharded over the whole mesh D, not %q", s.Count)
				}
			case StreamAxis:
				streams++
			case Plain:
			default:
				v.add(in+".Kind", "use schedule.DIDx, schedule.Stream or a plain split", "unknown kind of split %q", s.Kind)
			}
			if s.Kind != DeviceX && s.Shift != 0 {
				v.add(in+".Shift", "leave it out", "only parts that ranks hold can be shifted")
			}
			if s.Kind != DeviceX && s.Uneven {
				v.add(in+".Uneven", "leave it out", "only parts that ranks hold can be uneven")
			}
			if s.Most != "" && !s.Uneven {
				v.add(in+".Most", "leave it out, or set Uneven", "only uneven parts have a most")
			} else if s.Most != "" && s.Most != P && !s.Most.constant() {
				v.add(in+".Most", "use P or a positive constant", "%q is no number of rows", s.Most)
			}
			v.within(in+".Most", s.Most)
			v.within(in+".Count", s.Count)
			if s.Count != D && !s.Count.constant() {
				v.add(in+".Count", "use D or a positive constant", "%q is no number of parts", s.Count)
			}
		}
	}
	if shards > 1 {
		v.add(path+".Axes", "keep one DIDx split", "tensor %s is sharded %d times over the same mesh", t.Name, shards)
	}
	if streams > 1 {
		v.add(path+".Axes", "keep one Stream split", "tensor %s has %d stream axes", t.Name, streams)
	}
}

func (s Schedule) checkChoices(v *validation) {
	p, t := s.Pipeline, s.Transport
	oneOf(v, "Pipeline.Kind", p.Kind, PointToPoint, Collective, Broadcast, OneShot, TwoShot, Padded)
	oneOf(v, "Pipeline.Order", p.Order, Shift, Ring)
	oneOf(v, "Pipeline.Direction", p.Direction, Forward, Backward, Both)
	oneOf(v, "Pipeline.Protocol", p.Protocol, Get, Put)
	oneOf(v, "Pipeline.Own", p.Own, First, Last)
	oneOf(v, "Pipeline.OwnShard", p.OwnShard, InPlace, Copied)
	oneOf(v, "Pipeline.Signals", p.Signals, Batched, InStep)
	oneOf(v, "Pipeline.Products", p.Products, PerShard, Grouped)
	oneOf(v, "Pipeline.Reduction", p.Reduction, AtEnd, InSlot, InProduct, InKernel)
	oneOf(v, "Transport.Copy", t.Copy, CopyEngine, CopyKernel)
	oneOf(v, "Transport.Signal", t.Signal, StreamMemOp, SignalKernel)
	oneOf(v, "Transport.Steps", t.Steps, Separate, Fused)
	oneOf(v, "Streams.Priority", s.Streams.Priority, Equal, Falling)
	oneOf(v, "Streams.Copy", s.Streams.Copy, Apart, WithStep)
	oneOf(v, "Streams.Start", s.Streams.Start, Hoisted, InLoop)
	oneOf(v, "Streams.Handles", s.Streams.Handles, Hoisted, InLoop)
	for i, t := range s.Types {
		path := fmt.Sprintf("Types[%d]", i)
		oneOf(v, path, t, BF16, FP16, FP32)
		if t == "" {
			v.add(path, "use one of the element types", "no type")
		} else if slices.Contains(s.Types[:i], t) {
			v.add(path, "leave it out", "%s is there already", t)
		}
	}
	s.checkNumbers(v)
	s.checkCombinations(v)
}

// checkNumbers checks the choices that are numbers.
func (s Schedule) checkNumbers(v *validation) {
	p := s.WithDefaults().Pipeline
	if p.Kind == Collective && p.Chunks < 0 {
		v.add("Pipeline.Chunks", "set the number of steps", "a collective pipeline of %d chunks", p.Chunks)
	} else if p.Kind == Collective && p.Chunks == 0 {
		v.add("Pipeline.Kind", "cut A and C into a constant number of steps, or leave it out", "a collective pipeline of no number of chunks")
	}
	if p.Kind != Collective && p.Chunks != 0 {
		v.add("Pipeline.Chunks", "leave it out, or set Kind to schedule.Collective", "chunks are those of a collective pipeline")
	}
	if p.Parts < 0 || p.Parts > 64 {
		v.add("Pipeline.Parts", "use 1 to 64, or zero for one", "a shard in %d parts", p.Parts)
	}
	if s.Streams.Compute < 0 || s.Streams.Compute > 64 {
		v.add("Streams.Compute", "use 1 to 64, or zero for one a step", "%d compute streams", s.Streams.Compute)
	}
}

// checkCombinations refuses choices that contradict each other whatever the
// operation. Package lower refuses those that its pipelines don't read.
func (s Schedule) checkCombinations(v *validation) {
	p, t := s.Pipeline, s.Transport
	if t.Steps == Fused && t.Signal != SignalKernel {
		v.add("Transport.Steps", "set Signal to schedule.SignalKernel, and Copy to schedule.CopyKernel where ranks copy", "only kernels can be fused")
	}
	if s.Streams.Priority == Falling && s.Streams.Compute > 0 {
		v.add("Streams.Priority", "leave it out, or Streams.Compute", "streams that steps take in turn have no order of their own")
	}
	if p.Order == Ring && p.Kind != "" && p.Kind != PointToPoint {
		v.add("Pipeline.Order", "leave it out, or set Kind to schedule.PointToPoint", "a %s pipeline has no ring", p.Kind)
	}
	if p.Order != Ring && (p.Direction == Backward || p.Direction == Both) {
		v.add("Pipeline.Direction", "leave it out, or set Order to schedule.Ring", "only a ring has a direction")
	}
	if p.Parts > 1 && p.Order == Ring {
		v.add("Pipeline.Parts", "leave it out, or set Order to schedule.Shift", "the shards of a ring travel whole")
	}
	if p.Parts > 1 && p.Products == Grouped {
		v.add("Pipeline.Parts", "choose one of the two", "parts of a shard and products of several shards")
	}
}

func oneOf[T ~string](v *validation, path string, got T, allowed ...T) {
	if got != "" && !slices.Contains(allowed, got) {
		v.add(path, fmt.Sprintf("use one of %q", allowed), "unknown choice %q", got)
	}
}

// MaxExtent is the largest extent: it keeps the bytes of every tensor within an int64.
const MaxExtent = 1 << 30

// within refuses a constant that is larger than an extent may be.
func (v *validation) within(path string, e Extent) {
	if n, err := strconv.ParseInt(string(e), 10, 64); err == nil && e.constant() && n > MaxExtent {
		v.add(path, fmt.Sprintf("use at most %d", MaxExtent), "the extent %s is too large: the bytes of a tensor must fit an int64", e)
	}
}

func (e Extent) constant() bool {
	n, err := strconv.ParseInt(string(e), 10, 64)
	return err == nil && n > 0 && strconv.FormatInt(n, 10) == string(e)
}

func (e Extent) valid() bool {
	return slices.Contains([]Extent{M, K, N, N2, N3, F, P, D}, e) || e.constant()
}

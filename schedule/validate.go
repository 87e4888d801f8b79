package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	s.checkChoices(v)
	return errors.Join(v.errs...)
}

type validation struct{ errs []error }

func (v *validation) add(path, hint, format string, args ...any) {
	v.errs = append(v.errs, &FieldError{Path: path, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// shapes are the extents each operation gives its tensors.
var shapes = map[Op]map[string][]Extent{
	Matmul: {"A": {M, K}, "B": {K, N}, "C": {M, N}},
	Linear: {"A": {M, K}, "B": {N, K}, "Bias": {N}, "C": {M, N}},
}

func (s Schedule) checkOp(v *validation) {
	if s.Op == "" {
		v.add("Op", "set it to schedule.Matmul or schedule.Linear", "no operation")
	} else if shapes[s.Op] == nil {
		v.add("Op", "use schedule.Matmul or schedule.Linear", "unknown operation %q", s.Op)
	}
}

func (s Schedule) checkTensors(v *validation) {
	want := shapes[s.Op]
	seen := map[string]bool{}
	for i, t := range s.Tensors {
		path := fmt.Sprintf("Tensors[%d]", i)
		if seen[t.Name] {
			v.add(path+".Name", "declare each tensor once", "tensor %s is declared twice", t.Name)
		}
		seen[t.Name] = true
		if want != nil {
			extents, ok := want[t.Name]
			if !ok {
				v.add(path+".Name", "name it A, B, C or, for a linear layer, Bias", "%s has no tensor %q", s.Op, t.Name)
			} else if len(t.Axes) != len(extents) {
				v.add(path+".Axes", fmt.Sprintf("a %s has %s %v", s.Op, t.Name, extents), "%d axes where %d are needed", len(t.Axes), len(extents))
			} else {
				for j, a := range t.Axes {
					if a.Extent.valid() && !a.Extent.constant() && a.Extent != extents[j] {
						v.add(fmt.Sprintf("%s.Axes[%d].Extent", path, j), fmt.Sprintf("use %s or a constant", extents[j]), "extent %q does not fit %s of a %s", a.Extent, t.Name, s.Op)
					}
				}
			}
		}
		t.check(v, path)
	}
	for _, name := range []string{"A", "B", "C"} {
		if want != nil && !seen[name] {
			v.add("Tensors", "declare it with its placement", "tensor %s is missing", name)
		}
	}
}

func (t Tensor) check(v *validation, path string) {
	shards, streams := 0, 0
	for i, a := range t.Axes {
		at := fmt.Sprintf("%s.Axes[%d]", path, i)
		if !a.Extent.valid() || a.Extent == D {
			v.add(at+".Extent", "use M, K, N or a positive constant", "%q is no extent", a.Extent)
		}
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
			if !s.Count.valid() || s.Count == M || s.Count == K || s.Count == N {
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
	oneOf(v, "Pipeline.Kind", s.Pipeline.Kind, PointToPoint, Collective, Broadcast)
	oneOf(v, "Pipeline.Order", s.Pipeline.Order, Shift, Ring)
	oneOf(v, "Pipeline.Direction", s.Pipeline.Direction, Forward, Backward, Both)
	oneOf(v, "Pipeline.Protocol", s.Pipeline.Protocol, Get, Put)
	oneOf(v, "Pipeline.Own", s.Pipeline.Own, First, Last)
	oneOf(v, "Pipeline.OwnShard", s.Pipeline.OwnShard, InPlace, Copied)
	oneOf(v, "Pipeline.Signals", s.Pipeline.Signals, Batched, InStep)
	oneOf(v, "Transport.Copy", s.Transport.Copy, CopyEngine, CopyKernel)
	oneOf(v, "Transport.Signal", s.Transport.Signal, StreamMemOp, SignalKernel)
	oneOf(v, "Streams.Copy", s.Streams.Copy, Apart, WithStep)
	oneOf(v, "Streams.Start", s.Streams.Start, Hoisted, InLoop)
	oneOf(v, "Streams.Handles", s.Streams.Handles, Hoisted, InLoop)
	for i, t := range s.Types {
		oneOf(v, fmt.Sprintf("Types[%d]", i), t, BF16, FP16, FP32)
	}
	p := s.Pipeline
	if p.Kind == Collective && p.Chunks < 1 {
		v.add("Pipeline.Chunks", "set the number of steps", "a collective pipeline of %d chunks", p.Chunks)
	}
	if p.Kind != Collective && p.Chunks != 0 {
		v.add("Pipeline.Chunks", "leave it out, or set Kind to schedule.Collective", "chunks are those of a collective pipeline")
	}
	if s.Streams.Compute < 0 || s.Streams.Compute > 64 {
		v.add("Streams.Compute", "use 1 to 64, or zero for one a step", "%d compute streams", s.Streams.Compute)
	}
}

func oneOf[T ~string](v *validation, path string, got T, allowed ...T) {
	if got != "" && !slices.Contains(allowed, got) {
		v.add(path, fmt.Sprintf("use one of %q", allowed), "unknown choice %q", got)
	}
}

func (e Extent) constant() bool {
	n, err := strconv.ParseInt(string(e), 10, 64)
	return err == nil && n > 0 && strconv.FormatInt(n, 10) == string(e)
}

func (e Extent) valid() bool {
	return e == M || e == K || e == N || e == D || e.constant()
}

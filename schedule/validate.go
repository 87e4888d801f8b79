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
	Msg  string // the mistake
	Hint string // the remedy
}

// Refused is a mistake in a field.
func Refused(path, hint, format string, args ...any) error {
	return &FieldError{Path: path, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// Error is "Tensors[1].Axes[0]: the mistake (the remedy)".
func (e *FieldError) Error() string {
	if e.Hint == "" {
		return e.Path + ": " + e.Msg
	}
	return e.Path + ": " + e.Msg + " (" + e.Hint + ")"
}

// FieldErrors takes apart the error of Validate.
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

// Validate reports every mistake in the schedule, each a *FieldError, joined. Package lower may still refuse a valid
// schedule that no pass lowers yet.
func (s Schedule) Validate() error {
	v := &validation{}
	if s.checkSizes(v); len(v.errs) > 0 {
		return errors.Join(v.errs...)
	}
	s.checkIndices(v)
	if s.checkAlso(v); len(v.errs) > 0 {
		return errors.Join(v.errs...)
	}
	declared := s
	s = s.Apart()
	s.checkSummands(v)
	if s.checkPartials(v); len(v.errs) > 0 {
		return declared.AsDeclared(errors.Join(v.errs...))
	}
	s.checkMesh(v)
	s.checkOps(v)
	s.checkTensors(v)
	s.checkExtents(v)
	s.checkMultiples(v)
	s.checkMoves(v)
	s.checkTypes(v)
	s.checkScales(v)
	s.checkNumbers(v)
	s.checkInvariant(v)
	s.checkFewRows(v)
	return declared.AsDeclared(errors.Join(v.errs...))
}

type validation struct{ errs []error }

func (v *validation) add(path, hint, format string, args ...any) {
	v.errs = append(v.errs, &FieldError{Path: path, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

func (s Schedule) checkTensors(v *validation) {
	seen := map[string]bool{}
	for i, t := range s.Tensors {
		path := fmt.Sprintf("Tensors[%d]", i)
		if seen[t.Name] {
			v.add(path+".Name", "declare each tensor once", "tensor %s is declared twice", t.Name)
		}
		seen[t.Name] = true
		s.checkName(v, path, t)
		if _, scales := s.ScaledBy(t.Name); scales {
			t = t.inColumns()
		}
		t.check(v, path)
		s.checkConstant(v, path, t)
	}
	s.checkPlaces(v)
	s.checkMissing(v)
}

// checkPlaces checks each tensor that lies within another one against the outer tensor.
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
		case s.Made(t.Name) == s.Made(outer.Name):
			v.add(path, "leave it out",
				"an operand lies within a result, or a result within an operand: %s and %s are neither",
				t.Name, outer.Name)
		case outer.Within != "" || held[outer.Name]:
			v.add(path, "leave one out", "one tensor lies within another, and in %s there are more", outer.Name)
		case outer.Type.Coded():
			v.add(path, "leave it out", "%s has %s bits, and nothing else lies in its memory", outer.Name,
				outer.Type.bits())
		case !placed:
			v.add(path, "cut the outermost axis of one of the two over the ranks, evenly, or none",
				"%s %s has no place in %s %s", t.Name, t, outer.Name, outer)
		}
		held[t.Within] = true
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
				if a.Extent == W {
					v.add(at+".Extent", "use an extent that no axis has yet",
						"no pass spreads W over the ranks, the columns of a head")
				}
				if s.Count != D {
					v.add(in+".Count", "use schedule.DIDx(schedule.D)",
						"an axis is sharded over the mesh D, not %q", s.Count)
				}
			case DeviceY:
				v.add(in+".Kind", "use schedule.DIDx(schedule.D), over the ranks of all hosts",
					"no pass spreads an axis over hosts alone")
			case StreamAxis:
				streams++
			case Plain:
			default:
				v.add(in+".Kind", "use schedule.DIDx, schedule.Stream or a plain split",
					"unknown kind of split %q", s.Kind)
			}
			if s.Kind != DeviceX && s.Shift != 0 {
				v.add(in+".Shift", "leave it out", "only parts that ranks hold can be shifted")
			}
			if s.Kind != DeviceX && s.Uneven {
				v.add(in+".Uneven", "leave it out", "only parts that ranks hold can be uneven")
			}
			switch {
			case s.Balanced && !s.Uneven:
				v.add(in+".Balanced", "use schedule.Balanced(schedule.D)", "only uneven parts can be balanced")
			case s.Balanced && s.Most != "":
				v.add(in+".Most", "leave it out", "how many rows a balanced part has follows from the shape")
			}
			if s.Most != "" && !s.Uneven {
				v.add(in+".Most", "leave it out, or set Uneven", "only uneven parts have a most")
			} else if s.Most != "" && s.Most != P && !s.Most.Constant() {
				v.add(in+".Most", "use P or a positive constant", "%q is no number of rows", s.Most)
			}
			v.within(in+".Most", s.Most)
			v.within(in+".Count", s.Count)
			if s.Count != D && !s.Count.Constant() {
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

func oneOf[T ~string](v *validation, path string, got T, allowed ...T) {
	if got != "" && !slices.Contains(allowed, got) {
		v.add(path, fmt.Sprintf("use one of %q", allowed), "unknown choice %q", got)
	}
}

// MaxExtent is the largest extent: it keeps the bytes of every tensor within an int64.
const MaxExtent = 1 << 30

// within refuses a constant above MaxExtent.
func (v *validation) within(path string, e Extent) {
	if n, err := strconv.ParseInt(string(e), 10, 64); err == nil && e.Constant() && n > MaxExtent {
		v.add(path, fmt.Sprintf("use at most %d", MaxExtent),
			"the extent %s is too large: the bytes of a tensor must fit an int64", e)
	}
}

// Constant says that the extent is a number.
func (e Extent) Constant() bool {
	n, err := strconv.ParseInt(string(e), 10, 64)
	return err == nil && n > 0 && strconv.FormatInt(n, 10) == string(e)
}

func (e Extent) valid() bool {
	return e == D || slices.Contains(Extents(), e) || e.Constant()
}

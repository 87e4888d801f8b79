package prove_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// Each choice of each schedule of the catalog is changed to each of its values. Then what
// the ranks do changes too, and is proven; or a field that is written is refused. Choices
// that are only another name for the default are left out.
func TestEveryChoiceIsReadOrRefused(t *testing.T) {
	for _, n := range catalog.All() {
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			before := carried(t, n.Schedule)
			read := readBy(t, n.Schedule)
			for _, c := range changes() {
				s := copied(n.Schedule)
				if !c.change(&s) || reflect.DeepEqual(s.WithDefaults(), n.Schedule.WithDefaults()) {
					continue
				}
				p, err := lower.Lower("X", s)
				if err != nil {
					blamed(t, c.name, s, err)
					continue
				}
				if carried(t, s) == before {
					t.Errorf("%s changes nothing", c.name)
				}
				field, _, _ := strings.Cut(c.name, " ")
				said := slices.ContainsFunc(read, func(x lower.Choice) bool { return x.Field == field })
				if strings.Contains(field, ".") && !said {
					t.Errorf("%s changes what is done, and the choice is not said to be read", c.name)
				}
				if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3}}); err != nil {
					var cut *schedule.FieldError
					if !errors.As(err, &cut) { // a constant that 2 or 3 does not divide
						t.Errorf("%s: %v", c.name, err)
					}
				}
			}
		})
	}
}

// readBy are the choices that a schedule's program was made by.
func readBy(t *testing.T, s schedule.Schedule) []lower.Choice {
	t.Helper()
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	return lower.Read(p)
}

// What has no choice says none.
func TestChoicesRead(t *testing.T) {
	for _, test := range []struct {
		name string
		s    schedule.Schedule
		want string
	}{
		{"broadcast", catalog.Broadcast, "[{Transport.Copy copy engine} {Transport.Signal stream memory operation}]"},
		{"sums of what peers have", catalog.AllReduceOneShot, "[{Pipeline.Kind one-shot} {Transport.Steps fused} {Transport.Signal kernel}]"},
		{"pulled partial results", catalog.LinearReduceScatterGet, "[{Pipeline.Kind point-to-point} {Pipeline.Order shift} {Pipeline.Protocol get} {Pipeline.Reduction at the end} {Pipeline.Own last} " +
			"{Streams.Priority equal} {Transport.Steps separate} {Streams.Compute 2} {Transport.Copy copy engine} {Transport.Signal stream memory operation}]"},
	} {
		if got := fmt.Sprint(readBy(t, test.s)); got != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
	}
}

// fieldChange is one field set to one value; it says whether the schedule has the field.
type fieldChange struct {
	name   string
	change func(*schedule.Schedule) bool
}

func changes() []fieldChange {
	var list []fieldChange
	list = append(list, fieldChanges("Pipeline.Kind", func(s *schedule.Schedule) *schedule.PipelineKind { return &s.Pipeline.Kind },
		schedule.PointToPoint, schedule.Collective,
		schedule.Broadcast, schedule.OneShot, schedule.TwoShot, schedule.Padded)...)
	list = append(list, fieldChanges("Pipeline.Order", func(s *schedule.Schedule) *schedule.Order { return &s.Pipeline.Order },
		schedule.Shift, schedule.Ring)...)
	list = append(list, fieldChanges("Pipeline.Direction", func(s *schedule.Schedule) *schedule.Direction { return &s.Pipeline.Direction },
		schedule.Forward, schedule.Backward, schedule.Both)...)
	list = append(list, fieldChanges("Pipeline.Protocol", func(s *schedule.Schedule) *schedule.Protocol { return &s.Pipeline.Protocol },
		schedule.Get, schedule.Put)...)
	list = append(list, fieldChanges("Pipeline.Own", func(s *schedule.Schedule) *schedule.Own { return &s.Pipeline.Own },
		schedule.First, schedule.Last)...)
	list = append(list, fieldChanges("Pipeline.OwnShard", func(s *schedule.Schedule) *schedule.OwnShard { return &s.Pipeline.OwnShard },
		schedule.InPlace, schedule.Copied)...)
	list = append(list, fieldChanges("Pipeline.Signals", func(s *schedule.Schedule) *schedule.Signals { return &s.Pipeline.Signals },
		schedule.Batched, schedule.InStep)...)
	list = append(list, fieldChanges("Pipeline.Products", func(s *schedule.Schedule) *schedule.Products { return &s.Pipeline.Products },
		schedule.PerShard, schedule.Grouped)...)
	list = append(list, fieldChanges("Pipeline.Reduction", func(s *schedule.Schedule) *schedule.Reduction { return &s.Pipeline.Reduction },
		schedule.AtEnd, schedule.InSlot, schedule.InProduct, schedule.InKernel)...)
	list = append(list, fieldChanges("Pipeline.Chunks", func(s *schedule.Schedule) *int { return &s.Pipeline.Chunks },
		1, 2, 3)...)
	list = append(list, fieldChanges("Pipeline.Parts", func(s *schedule.Schedule) *int { return &s.Pipeline.Parts },
		2, 3, 4)...)
	list = append(list, fieldChanges("Transport.Copy", func(s *schedule.Schedule) *schedule.Mover { return &s.Transport.Copy },
		schedule.CopyEngine, schedule.CopyKernel)...)
	list = append(list, fieldChanges("Transport.Signal", func(s *schedule.Schedule) *schedule.Signaller { return &s.Transport.Signal },
		schedule.StreamMemOp, schedule.SignalKernel)...)
	list = append(list, fieldChanges("Transport.Steps", func(s *schedule.Schedule) *schedule.Steps { return &s.Transport.Steps },
		schedule.Separate, schedule.Fused)...)
	list = append(list, fieldChanges("Streams.Compute", func(s *schedule.Schedule) *int { return &s.Streams.Compute },
		1, 2, 3)...)
	list = append(list, fieldChanges("Streams.Priority", func(s *schedule.Schedule) *schedule.Priority { return &s.Streams.Priority },
		schedule.Equal, schedule.Falling)...)
	list = append(list, fieldChanges("Streams.Copy", func(s *schedule.Schedule) *schedule.CopyStream { return &s.Streams.Copy },
		schedule.Apart, schedule.WithStep)...)
	list = append(list, fieldChanges("Streams.Start", func(s *schedule.Schedule) *schedule.Placement { return &s.Streams.Start },
		schedule.Hoisted, schedule.InLoop)...)
	list = append(list, fieldChanges("Streams.Handles", func(s *schedule.Schedule) *schedule.Placement { return &s.Streams.Handles },
		schedule.Hoisted, schedule.InLoop)...)
	return append(list, tensorChanges()...)
}

// fieldChanges set a choice to each value, and leave it out.
func fieldChanges[T comparable](path string, field func(*schedule.Schedule) *T, values ...T) (list []fieldChange) {
	var zero T
	for _, v := range append(values, zero) {
		list = append(list, fieldChange{fmt.Sprintf("%s %v", path, v), func(s *schedule.Schedule) bool {
			*field(s) = v
			return true
		}})
	}
	return list
}

// tensorChanges are of each part of each tensor.
func tensorChanges() (list []fieldChange) {
	split := func(i, j, k int, what string, f func(*schedule.Split)) {
		list = append(list, fieldChange{fmt.Sprintf("%s of Tensors[%d].Axes[%d].Outer[%d]", what, i, j, k), func(s *schedule.Schedule) bool {
			if i >= len(s.Tensors) || j >= len(s.Tensors[i].Axes) || k >= len(s.Tensors[i].Axes[j].Outer) {
				return false
			}
			f(&s.Tensors[i].Axes[j].Outer[k])
			return true
		}})
	}
	for i := range 7 {
		list = append(list, fieldChange{fmt.Sprintf("Root of Tensors[%d]", i), func(s *schedule.Schedule) bool {
			if i >= len(s.Tensors) {
				return false
			}
			s.Tensors[i].Root = !s.Tensors[i].Root
			return true
		}})
		for j := range 3 {
			list = append(list, fieldChange{fmt.Sprintf("split of Tensors[%d].Axes[%d]", i, j), func(s *schedule.Schedule) bool {
				if i >= len(s.Tensors) || j >= len(s.Tensors[i].Axes) {
					return false
				}
				s.Tensors[i].Axes[j].Outer = append(s.Tensors[i].Axes[j].Outer, schedule.DIDx(schedule.D))
				return true
			}})
			for k := range 2 {
				for _, n := range []int{1, 2, -1} {
					split(i, j, k, fmt.Sprintf("Shift %d", n), func(s *schedule.Split) { s.Shift = n })
				}
				split(i, j, k, "Uneven", func(s *schedule.Split) { s.Uneven = !s.Uneven })
				for _, most := range []schedule.Extent{"", "3", schedule.P} {
					split(i, j, k, "Most "+string(most), func(s *schedule.Split) { s.Most = most })
				}
				for _, n := range []schedule.Extent{"2", "3", schedule.D} {
					split(i, j, k, "Count "+string(n), func(s *schedule.Split) { s.Count = n })
				}
				for _, kind := range []schedule.SplitKind{schedule.Plain, schedule.DeviceX, schedule.StreamAxis} {
					split(i, j, k, "Kind "+string(kind), func(s *schedule.Split) { s.Kind = kind })
				}
			}
		}
	}
	return list
}

// copied shares nothing that changes change.
func copied(s schedule.Schedule) schedule.Schedule {
	s.Tensors = slices.Clone(s.Tensors)
	for i := range s.Tensors {
		s.Tensors[i].Axes = slices.Clone(s.Tensors[i].Axes)
		for j := range s.Tensors[i].Axes {
			s.Tensors[i].Axes[j].Outer = slices.Clone(s.Tensors[i].Axes[j].Outer)
		}
	}
	return s
}

// carried is what the ranks of groups of 2, 3 and 4 do, and with which streams and memory.
func carried(t *testing.T, s schedule.Schedule) string {
	t.Helper()
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for d := 2; d <= 4; d++ {
		for r := range d {
			size := int64(d * 12)
			list, err := ops.Unroll(p, ops.Case{Ranks: d, Rank: r, M: size, K: size, N: size, ElementSize: 2, Counts: slices.Repeat([]int64{3}, d*d),
				Extents: map[string]int64{"F": size, "P": 3, "N2": size, "N3": size}})
			if err != nil {
				t.Fatalf("%v\n%s", err, hostir.Print(p))
			}
			b.WriteString(ops.Lines(list))
		}
	}
	for _, set := range p.Streams {
		fmt.Fprintf(&b, "%+v of %v\n", set, p.Constants)
	}
	for _, x := range p.Buffers {
		fmt.Fprintf(&b, "%s %s %s %s %v %v\n", x.Name, x.Elements, x.Chunk, x.Counts, x.Tensor, p.Checks)
	}
	hostir.Walk(p.Body, func(n hostir.Node) {
		if h, ok := n.(hostir.Share); ok {
			fmt.Fprintf(&b, "handles of %v in the loop\n", h.Buffers)
		}
	})
	return b.String()
}

// blamed checks that a refusal names fields, of choices only such that the schedule makes.
func blamed(t *testing.T, name string, s schedule.Schedule, err error) {
	t.Helper()
	fields := schedule.FieldErrors(err)
	if len(fields) == 0 {
		t.Errorf("%s: no field is named: %v", name, err)
	}
	for _, e := range fields {
		if e.Msg == "" || e.Hint == "" {
			t.Errorf("%s: a refusal without words or hint: %#v", name, e)
		}
		struct_, field, ok := strings.Cut(e.Path, ".")
		if !ok || strings.Contains(e.Path, "[") {
			continue
		}
		if reflect.ValueOf(s).FieldByName(struct_).FieldByName(field).IsZero() {
			t.Errorf("%s: a field is blamed that nobody wrote: %v", name, e)
		}
	}
}

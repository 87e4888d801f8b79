package lower_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// A schedule that no pass lowers is refused with the field that asked for it.
func TestRefused(t *testing.T) {
	linear := func(f func(*schedule.Schedule)) schedule.Schedule {
		s := catalog.AllGatherLinear
		s.Tensors = append([]schedule.Tensor{}, s.Tensors...)
		f(&s)
		return s
	}
	dims := func(axes ...schedule.Axis) []schedule.Axis { return axes }
	tests := []struct {
		name  string
		s     schedule.Schedule
		paths []string
	}{
		{"put in the step", linear(func(s *schedule.Schedule) {
			s.Pipeline.Protocol, s.Pipeline.Signals = schedule.Put, schedule.InStep
		}), []string{"Pipeline.Signals"}},
		{"broadcast by pulls", linear(func(s *schedule.Schedule) {
			s.Pipeline.Kind, s.Pipeline.Protocol = schedule.Broadcast, schedule.Get
		}), []string{"Pipeline.Protocol"}},
		{"one-shot", linear(func(s *schedule.Schedule) { s.Pipeline.Kind = schedule.OneShot }), []string{"Pipeline.Kind"}},
		{"start in the loop of a ring", linear(func(s *schedule.Schedule) {
			s.Pipeline.Order, s.Streams.Start = schedule.Ring, schedule.InLoop
		}), []string{"Streams.Start"}},
		{"fused ring", linear(func(s *schedule.Schedule) {
			s.Pipeline.Order = schedule.Ring
			s.Transport = schedule.Transport{Copy: schedule.CopyKernel, Signal: schedule.SignalKernel, Steps: schedule.Fused}
		}), []string{"Transport.Steps"}},
		{"gathered by pushes", linear(func(s *schedule.Schedule) {
			s.Tensors = append(s.Tensors, schedule.Tensor{Name: "Gathered", Axes: dims(schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.K))})
			s.Pipeline.Protocol = schedule.Put
		}), []string{"Tensors[4]"}},
		{"chunks of another number", func() schedule.Schedule {
			s := catalog.AllGatherLinearCollective8
			s.Pipeline.Chunks = 4
			return s
		}(), []string{"Tensors[0].Axes[0].Outer[0].Count"}},
		{"choices of a reduction", linear(func(s *schedule.Schedule) { s.Pipeline.Own, s.Pipeline.Reduction = schedule.Last, schedule.InSlot }), []string{"Pipeline.Reduction", "Pipeline.Own"}},
		{"padded even parts", func() schedule.Schedule {
			s := catalog.AllGather
			s.Pipeline.Kind = schedule.Padded
			return s
		}(), []string{"Pipeline.Kind"}},
		{"collective", linear(func(s *schedule.Schedule) { s.Pipeline.Kind, s.Pipeline.Chunks = schedule.Collective, 2 }), []string{"Pipeline.Kind"}},
		{"one shot in place", inPlace(catalog.AllReduceOneShot, 0, "C"), []string{"Tensors[0].Within"}},
		{"all-to-all in place", inPlace(catalog.AllToAll, 1, "A"), []string{"Tensors[1].Within"}},
		{"a product's operand in place", inPlace(catalog.AllGatherGateUp, 0, "Gathered"), []string{"Tensors[0].Within"}},
		{"no such tensor", inPlace(catalog.AllGather, 0, "D"), []string{"Tensors[0].Within"}},
		{"invalid", linear(func(s *schedule.Schedule) { s.Op = "" }), []string{"Op"}},
		{"A whole", linear(func(s *schedule.Schedule) {
			s.Tensors[0].Axes = dims(schedule.Dim(schedule.M), schedule.Dim(schedule.K))
		}), []string{"Tensors[0]"}},
		{"A streamed", linear(func(s *schedule.Schedule) {
			s.Tensors[0].Axes = dims(schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.K))
		}), []string{"Tensors[0]"}},
		{"B sharded", linear(func(s *schedule.Schedule) {
			s.Tensors[1].Axes = dims(schedule.Dim(schedule.N, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K))
		}), []string{"Tensors[1].Axes[0].Outer[0]"}},
		{"A sharded by columns", linear(func(s *schedule.Schedule) {
			s.Tensors[0].Axes = dims(schedule.Dim(schedule.M), schedule.Dim(schedule.K, schedule.DIDx(schedule.D)))
		}), []string{"Tensors[0]"}},
		{"two splits", linear(func(s *schedule.Schedule) {
			s.Tensors[0].Axes = dims(schedule.Dim(schedule.M, schedule.Split{Kind: schedule.Plain, Count: "2"}, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K))
		}), []string{"Tensors[0]"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := lower.Lower("X", test.s)
			var paths []string
			for _, e := range schedule.FieldErrors(err) {
				paths = append(paths, e.Path)
			}
			if diff := cmp.Diff(test.paths, paths); diff != "" {
				t.Errorf("field paths (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

// inPlace puts a tensor within another.
func inPlace(s schedule.Schedule, tensor int, within string) schedule.Schedule {
	s.Tensors = append([]schedule.Tensor{}, s.Tensors...)
	s.Tensors[tensor].Within = within
	return s
}

// Which of the two is within the other makes no difference to an all-reduce.
func TestEitherWithin(t *testing.T) {
	p, err := lower.Lower("X", catalog.AllReduceInPlace)
	if err != nil {
		t.Fatal(err)
	}
	other, err := lower.Lower("X", inPlace(catalog.AllReduceTwoShot, 1, "A"))
	if err != nil {
		t.Fatal(err)
	}
	body := func(p *hostir.Program) string { // what is behind the line that names the caller's buffers
		_, text, _ := strings.Cut(hostir.Print(p), "\n")
		return text
	}
	renamed := strings.NewReplacer("C@", "A@", "C[", "A[", "(C,", "(A,").Replace(body(p))
	if diff := cmp.Diff(renamed, body(other)); diff != "" {
		t.Error(diff)
	}
}

// Every node that runs has a stream that the program declares, whatever the choices.
func TestStreamsOfEveryChoice(t *testing.T) {
	for _, own := range []schedule.OwnShard{schedule.InPlace, schedule.Copied} {
		for _, signals := range []schedule.Signals{schedule.Batched, schedule.InStep} {
			for _, copies := range []schedule.CopyStream{schedule.Apart, schedule.WithStep} {
				for _, start := range []schedule.Placement{schedule.Hoisted, schedule.InLoop} {
					for _, compute := range []int{0, 1, 3} {
						s := catalog.AllGatherLinear
						s.Pipeline.OwnShard, s.Pipeline.Signals = own, signals
						s.Streams = schedule.Streams{Compute: compute, Copy: copies, Start: start}
						p, err := lower.Lower("X", s)
						if err != nil {
							t.Fatalf("%s, %s, %s, %s, %d: %v", own, signals, copies, start, compute, err)
						}
						declared := map[string]bool{}
						for _, set := range p.Streams {
							declared[set.Name] = true
						}
						hostir.Walk(p.Body, func(n hostir.Node) {
							for _, r := range hostir.Streams(n) {
								if !declared[r.Set] {
									t.Errorf("%s, %s, %s, %s, %d: %T is on stream %q\n%s", own, signals, copies, start, compute, n, r.Set, hostir.Print(p))
								}
							}
						})
					}
				}
			}
		}
	}
}

// What is inferred from the placements of A and C, beside what nvFuser's lowering
// infers, and that the error for others says what is nearest.
func TestCommunications(t *testing.T) {
	dims := func(axes ...schedule.Axis) []schedule.Axis { return axes }
	m, n := schedule.Dim(schedule.M), schedule.Dim(schedule.N)
	rows, columns := schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim(schedule.N, schedule.DIDx(schedule.D))
	shifted := schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1})
	tests := []struct {
		what  string
		a, c  []schedule.Axis
		root  bool
		wrong string // the tensor that has no communication
		hint  string // how it begins
	}{
		{what: "DID to none is an all-gather", a: dims(rows, n), c: dims(m, n)},
		{what: "root to none is a broadcast", a: dims(m, n), c: dims(m, n), root: true},
		{what: "DID to DID of another rank is a permutation", a: dims(rows, n), c: dims(shifted, n)},
		{what: "none to none is nothing", a: dims(m, n), c: dims(m, n), wrong: "Tensors[0]", hint: "nearest is the bare all-gather: place A [DIDx(D), M/D, N]"},
		{what: "none to DID is nothing", a: dims(m, n), c: dims(rows, n), wrong: "Tensors[0]", hint: "there is bare all-gather: A "},
		{what: "DID of columns", a: dims(m, columns), c: dims(m, n), wrong: "Tensors[0]", hint: "there is bare all-gather: A "},
		{what: "DID to columns", a: dims(rows, n), c: dims(m, columns), wrong: "Tensors[1]", hint: "there is bare all-gather: A "},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			_, err := lower.Lower("X", schedule.Schedule{Op: schedule.Copy,
				Tensors: []schedule.Tensor{{Name: "A", Axes: test.a, Root: test.root}, {Name: "C", Axes: test.c}}})
			if test.wrong == "" && err == nil {
				return
			}
			list := schedule.FieldErrors(err)
			if len(list) != 1 || list[0].Path != test.wrong || !strings.Contains(list[0].Msg, "no communication leads from A") || !strings.HasPrefix(list[0].Hint, test.hint) {
				t.Errorf("%v", err)
			}
		})
	}
}

package lower_test

import (
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
		{"choices of a reduction", linear(func(s *schedule.Schedule) { s.Pipeline.Own, s.Pipeline.Reduction = schedule.Last, schedule.InSlot }), []string{"Pipeline.Own", "Pipeline.Reduction"}},
		{"collective", linear(func(s *schedule.Schedule) { s.Pipeline.Kind, s.Pipeline.Chunks = schedule.Collective, 2 }), []string{"Pipeline.Kind"}},
		{"invalid", linear(func(s *schedule.Schedule) { s.Op = "" }), []string{"Op"}},
		{"A whole", linear(func(s *schedule.Schedule) {
			s.Tensors[0].Axes = dims(schedule.Dim(schedule.M), schedule.Dim(schedule.K))
		}), []string{"Tensors[0]"}},
		{"A streamed", linear(func(s *schedule.Schedule) {
			s.Tensors[0].Axes = dims(schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.K))
		}), []string{"Tensors[0]"}},
		{"B sharded", linear(func(s *schedule.Schedule) {
			s.Tensors[1].Axes = dims(schedule.Dim(schedule.N, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K))
		}), []string{"Tensors[1]"}},
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

package prove_test

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/prove"
)

// choices are the values of each field that an all-gather with a product may have.
var choices = [][]func(*schedule.Schedule){
	{ // what moves in which order
		func(s *schedule.Schedule) {},
		func(s *schedule.Schedule) { s.Pipeline.Order = schedule.Ring },
		func(s *schedule.Schedule) {
			s.Pipeline.Order, s.Pipeline.Direction = schedule.Ring, schedule.Backward
		},
		func(s *schedule.Schedule) {
			s.Pipeline.Order, s.Pipeline.Direction = schedule.Ring, schedule.Both
		},
		func(s *schedule.Schedule) { s.Pipeline.Kind = schedule.Broadcast },
	},
	{func(s *schedule.Schedule) {}, func(s *schedule.Schedule) { s.Pipeline.Protocol = schedule.Put }},
	{func(s *schedule.Schedule) {}, func(s *schedule.Schedule) { s.Pipeline.OwnShard = schedule.Copied }},
	{
		func(s *schedule.Schedule) {},
		func(s *schedule.Schedule) { s.Pipeline.Parts = 3 },
		func(s *schedule.Schedule) { s.Pipeline.Products = schedule.Grouped },
	},
	{func(s *schedule.Schedule) {}, func(s *schedule.Schedule) {
		s.Transport = schedule.Transport{Copy: schedule.CopyKernel, Signal: schedule.SignalKernel, Steps: schedule.Fused}
	}},
	{func(s *schedule.Schedule) {}, func(s *schedule.Schedule) { s.Streams.Copy = schedule.WithStep }},
	{func(s *schedule.Schedule) {}, func(s *schedule.Schedule) { s.Streams.Compute = 1 }, func(s *schedule.Schedule) { s.Streams.Compute = 3 }},
	{func(s *schedule.Schedule) {}, func(s *schedule.Schedule) { s.Streams.Start = schedule.InLoop }},
}

// Each combination of choices of an all-gather is refused by its fields, or proven,
// replay included.
func TestEveryGather(t *testing.T) {
	proven := 0
	var try func(s schedule.Schedule, left [][]func(*schedule.Schedule))
	try = func(s schedule.Schedule, left [][]func(*schedule.Schedule)) {
		if len(left) > 0 {
			for _, choose := range left[0] {
				chosen := s
				choose(&chosen)
				try(chosen, left[1:])
			}
			return
		}
		p, err := lower.Lower("X", s)
		if err != nil {
			if len(schedule.FieldErrors(err)) == 0 {
				t.Errorf("%+v: %v", s.Pipeline, err)
			}
			return
		}
		proven++
		r, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 3, 5}})
		if err != nil || !r.Replay() {
			t.Errorf("%+v %+v %+v: %v: %v", s.Pipeline, s.Transport, s.Streams, r, err)
		}
	}
	try(catalog.AllGatherLinear, choices)
	if proven < 90 {
		t.Errorf("only %d combinations are lowered", proven)
	}
}

// A matmul takes every pipeline that a linear layer does.
func TestMatmulGathers(t *testing.T) {
	for _, n := range catalog.All() {
		s := n.Schedule
		if s.Op != schedule.Linear || s.Reduces() {
			continue
		}
		s.Op, s.Tensors = schedule.Matmul, nil
		for _, x := range n.Schedule.Tensors {
			switch {
			case strings.HasPrefix(x.Name, "Bias"):
				continue
			case strings.HasPrefix(x.Name, "B"):
				x.Axes = []schedule.Axis{x.Axes[1], x.Axes[0]}
			}
			s.Tensors = append(s.Tensors, x)
		}
		p, err := lower.Lower(n.Name, s)
		if err != nil {
			t.Errorf("%s: %v", n.Name, err)
			continue
		}
		if r, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 3}}); err != nil || !r.Replay() {
			t.Errorf("%s: %v: %v", n.Name, r, err)
		}
	}
}

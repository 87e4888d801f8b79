package prove_test

import (
	"fmt"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// Each way of an all-gather, with each two of its options, is refused by its fields, or
// proven, replay included; for 5 ranks too where OVGEN_SOAK is set.
func TestEveryGather(t *testing.T) {
	proven, ranks := 0, []int{2, 3}
	if sampling.All() {
		ranks = append(ranks, 5)
	} else {
		t.Log("not for 5 ranks: OVGEN_SOAK is not set")
	}
	seen := map[schedule.Way]bool{}
	for _, way := range schedule.Ways() {
		for _, one := range append(scheduletest.With(way), way) {
			for _, two := range scheduletest.With(one) {
				if seen[two] {
					continue // as options in another order
				}
				seen[two] = true
				s := scheduletest.By(catalog.AllGatherLinear, "A", two)
				p, err := lower.Lower("X", s)
				if err != nil {
					blamed(t, fmt.Sprintf("%+v", two), []string{"Moves[0]"}, s, s, err)
					continue
				}
				proven++
				r, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks})
				naive, _ := two.(schedule.Naive)
				if err != nil || !r.Replay() && !naive.SignalsInStep {
					t.Errorf("%+v: %v: %v", two, r, err)
				}
			}
		}
	}
	if proven < 90 {
		t.Errorf("only %d combinations are lowered", proven)
	}
}

// A matmul takes every way that a linear layer does, but for tiles. No part of its weight's columns lies together, so
// that it could be gathered.
func TestMatmulGathers(t *testing.T) {
	tried := 0
	for _, n := range catalog.All() {
		s := n.Schedule
		_, tiles := s.Way("A").(schedule.Tiles)
		c, _ := s.Tensor("C")
		axis, _, spread := c.Sharded()
		b, _ := s.Tensor("B")
		_, _, cut := b.Sharded()
		weight := spread && axis == 0 || cut && !spread       // is gathered, or columns of the result are
		formulas := s.MadeFrom(s.Ops[0]) < len(s.Ops[0].Then) // have tensors of their own
		if tiles || weight || formulas || s.Ops[0].Name() != "linear" || s.Reduces() || len(s.Hidden()) > 0 {
			continue
		}
		tried++
		s.Tensors = nil
		for _, x := range n.Schedule.Tensors {
			switch {
			case strings.HasPrefix(x.Name, "Bias"):
				continue
			case strings.HasPrefix(x.Name, "B"):
				x.Axes = []schedule.Axis{x.Axes[1], x.Axes[0]}
			}
			s.Tensors = append(s.Tensors, x)
		}
		s.Ops = scheduletest.Ops("matmul", s.Tensors)
		p, err := lower.Lower(n.Name, s)
		if s.Scaled() && err != nil && strings.Contains(err.Error(), "matmul takes no operand of eight bits") {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", n.Name, err)
			continue
		}
		if r, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 3}}); err != nil || !r.Replay() {
			t.Errorf("%s: %v: %v", n.Name, r, err)
		}
	}
	if tried == 0 {
		t.Error("the catalog has no all-gather of a linear layer")
	}
}

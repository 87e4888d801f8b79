package explore_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// aheadOf is a block of few rows whose weights are read ahead.
func aheadOf() schedule.Schedule {
	s := catalog.BlockBehindAttentionPackets
	s.FewRows, s.Tensors = 64, slices.Clone(s.Tensors)
	for i := range s.Tensors {
		s.Tensors[i].Constant = slices.Contains([]string{"Projection", "Gate", "Up", "Down"}, s.Tensors[i].Name)
	}
	return s
}

// listChange is a change of a rank's operations, and the property that it breaks; empty: none.
type listChange struct {
	name  string
	of    func(list []ops.Op) []ops.Op
	wants prove.Property
}

// aheads are changes of what launches read ahead.
func aheads(t *testing.T) []listChange {
	ahead := func(list []ops.Op, at int) []ops.Op { // the rows of a launch
		list[at].Uses = slices.Clone(list[at].Uses)
		list[at].Uses[0].Ahead = true
		return list
	}
	return []listChange{
		{"weights", func(list []ops.Op) []ops.Op { return list }, ""},
		{"rows of the launch before", func(list []ops.Op) []ops.Op {
			return ahead(list, len(list)-1-slices.IndexFunc(reversed(list), isEarly))
		}, prove.Race},
		{"rows of the caller", func(list []ops.Op) []ops.Op {
			return ahead(list, slices.IndexFunc(list, isEarly))
		}, prove.Race},
		{"a weight that the run writes before", func(list []ops.Op) []ops.Op {
			return writesWeight(t, list, 1)
		}, prove.Remote},
		{"a weight that the run before writes", func(list []ops.Op) []ops.Op {
			return writesWeight(t, list, len(list)-1)
		}, prove.Remote},
	}
}

func isEarly(o ops.Op) bool { return o.Early }

// writesWeight writes a part of the first weight that a launch reads ahead.
func writesWeight(t *testing.T, list []ops.Op, at int) []ops.Op {
	to := list[slices.IndexFunc(list, isEarly)].Uses[1]
	if to.At.Buffer == "Gate" {
		t.Fatal("the first weight is Gate")
	}
	from := to
	from.At.Buffer, from.Ahead, to.Ahead, to.Write = "Gate", false, false, true
	from.Bytes = min(from.Bytes, 64)
	to.Bytes = from.Bytes
	return slices.Insert(list, at, ops.Op{Kind: ops.Copy, Stream: "main", Step: 99, Uses: []ops.Use{from, to}})
}

// TestAhead: prover and explorer let a launch read ahead what nobody writes, and nothing else.
func TestAhead(t *testing.T) {
	sampling.Test(t, 2, 3)
	p, err := lower.Lower("Ahead", aheadOf())
	if err != nil {
		t.Fatal(err)
	}
	shape := explore.ShapeOf(p, 2)
	shape.ElementBits = 16
	for _, e := range []string{"N", "K", "F"} {
		shape.Extents[e] = 512
	}
	for _, c := range aheads(t) {
		t.Run(c.name, func(t *testing.T) { judge(t, p, shape, c) })
	}
}

// judge has prover and explorer look at a change of rank 0's operations.
func judge(t *testing.T, p *hostir.Program, shape ops.Case, c listChange) {
	lists, err := shape.Unroll(p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(lists[0], isEarly) {
		t.Fatal("no launch is early")
	}
	lists[0] = c.of(lists[0])
	m, err := prove.Of(p, shape)
	if err != nil {
		t.Fatal(err)
	}
	_, err = prove.Lists(t.Context(), m, lists, 0)
	var wrong *prove.Counterexample
	if errors.As(err, &wrong) != (c.wants != "") || wrong != nil && wrong.Property != c.wants {
		t.Errorf("the prover says %v, want %q", err, c.wants)
	}
	sys, err := explore.Of(p, shape, lists, explore.Eager, explore.Eager)
	if err != nil {
		t.Fatal(err)
	}
	sys.First = true
	if v := explore.Explore(sys); v.Broke(explore.NoRace) != (c.wants != "") || c.wants == "" && !v.Safe() {
		t.Errorf("the explorer says %v", v)
	}
}

func reversed(list []ops.Op) []ops.Op {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

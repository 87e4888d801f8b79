package explore_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
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
	isAhead := func(o ops.Op) bool { return o.Early }
	weight := func(list []ops.Op) ops.Use { return list[slices.IndexFunc(list, isAhead)].Uses[1] }
	writes := func(list []ops.Op, at int) []ops.Op {
		to := weight(list)
		from := to
		from.At.Buffer, from.Ahead, to.Ahead, to.Write = "Gate", false, false, true
		if to.At.Buffer == "Gate" {
			t.Fatal("the first weight is Gate")
		}
		from.Bytes = min(from.Bytes, 64)
		to.Bytes = from.Bytes
		return slices.Insert(list, at, ops.Op{Kind: ops.Copy, Stream: "main", Step: 99,
			Uses: []ops.Use{from, to}})
	}
	for _, c := range []struct {
		name   string
		change func(list []ops.Op) []ops.Op
		want   prove.Property
	}{
		{"weights", func(list []ops.Op) []ops.Op { return list }, ""},
		{"rows of the launch before", func(list []ops.Op) []ops.Op {
			last := len(list) - 1 - slices.IndexFunc(reversed(list), isAhead)
			list[last].Uses = slices.Clone(list[last].Uses)
			list[last].Uses[0].Ahead = true
			return list
		}, prove.Race},
		{"rows of the caller", func(list []ops.Op) []ops.Op {
			first := slices.IndexFunc(list, isAhead)
			list[first].Uses = slices.Clone(list[first].Uses)
			list[first].Uses[0].Ahead = true
			return list
		}, prove.Race},
		{"a weight that the run writes before", func(list []ops.Op) []ops.Op { return writes(list, 1) }, prove.Remote},
		{"a weight that the run before writes", func(list []ops.Op) []ops.Op {
			return writes(list, len(list)-1)
		}, prove.Remote},
	} {
		t.Run(c.name, func(t *testing.T) {
			lists, err := shape.Unroll(p)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(lists[0], isAhead) {
				t.Fatal("no launch is early")
			}
			lists[0] = c.change(lists[0])
			m, err := prove.Of(p, shape)
			if err != nil {
				t.Fatal(err)
			}
			_, err = prove.Lists(t.Context(), m, lists, 0)
			var wrong *prove.Counterexample
			if errors.As(err, &wrong) != (c.want != "") || wrong != nil && wrong.Property != c.want {
				t.Errorf("the prover says %v, want %q", err, c.want)
			}
			sys, err := explore.Of(p, shape, lists, explore.Eager, explore.Eager)
			if err != nil {
				t.Fatal(err)
			}
			sys.First = true
			if v := explore.Explore(sys); v.Broke(explore.NoRace) != (c.want != "") || c.want == "" && !v.Safe() {
				t.Errorf("the explorer says %v", v)
			}
		})
	}
}

func reversed(list []ops.Op) []ops.Op {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

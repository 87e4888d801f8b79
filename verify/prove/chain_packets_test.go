package prove_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// The moves of a chain are proven, whichever of them packets, kernels that read their peers' memory and the copy engine
// do, and whether its last sum is for all ranks or for each rank's rows.
func TestChainsByPackets(t *testing.T) {
	own, all := catalog.BlockBehindAttention, scheduletest.Clone(catalog.BlockBehindAttention)
	all.Ops[len(all.Ops)-1].Then, all.Tensors[len(all.Tensors)-1].Axes[0].Outer = nil, nil
	for _, of := range []schedule.Schedule{own, all} {
		lowered := 0
		for _, s := range scheduletest.ByEach(of, []string{"R", "X", "C"}, nil, schedule.PushShot{},
			schedule.PushGather{}, schedule.GatherShot{}) {
			p, err := lower.Lower("X", s)
			if err != nil {
				continue // the gathers add up nothing, and PushShot gathers nothing
			}
			lowered++
			if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 3}}); err != nil {
				t.Errorf("%v: %v", s.Moves, err)
			}
		}
		if want := 2 * 3 * 2; lowered != want {
			t.Errorf("%d are lowered, want %d", lowered, want)
		}
	}
}

// Kernels need equally many blocks only where those signal each other: a chain whose gather has other columns than
// its sum is proven. With other numbers on two ranks, or in one launch, it is not.
func TestNumbersOfBlocks(t *testing.T) {
	s := scheduletest.Clone(catalog.GatedMLP)
	s.Moves = []schedule.Move{{Of: "A", Way: schedule.PushGather{}}, {Of: "C", Way: schedule.PushShot{Words: true}}}
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	at := ops.Case{Ranks: 2, Extents: hostir.Env{"M": 8, "K": 16, "N": 4, "F": 8}, ElementBits: 16}
	of := func(rank int) []ops.Op {
		list, err := ops.Unroll(p, at.At(rank))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	model, err := prove.Of(p, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(rank int, sum *ops.Op, other int64)
		want   prove.Property
	}{
		{"as they are", func(int, *ops.Op, int64) {}, ""},
		{"fewer bytes on one rank", func(rank int, sum *ops.Op, n int64) {
			for i := range sum.Uses {
				sum.Uses[i].Bytes -= n * int64(rank)
			}
		}, prove.Blocks},
		{"a launch cut in two ways", func(_ int, sum *ops.Op, n int64) {
			if sum.Kind == ops.Sum {
				sum.Uses[len(sum.Uses)-1].Bytes -= n
			}
		}, prove.Blocks},
	} {
		lists := [][]ops.Op{of(0), of(1)}
		for r, list := range lists {
			for i := range list {
				if o := &list[i]; o.ByBlocks && o.Kernel == "push" {
					o.Uses = slices.Clone(o.Uses)
					c.change(r, o, 4)
				}
			}
		}
		_, err := prove.Lists(t.Context(), model, lists, 0)
		wrong := (*prove.Counterexample)(nil)
		errors.As(err, &wrong)
		if c.want == "" && err != nil || c.want != "" && (wrong == nil || wrong.Property != c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

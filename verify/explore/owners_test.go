package explore_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// TestOwners: kernels in which the owner of a part makes its sum, or the owner of a row its norm, and sends it to all
// are safe for 1 to 8 ranks, by prover and explorer. If a rank leaves what landed for another run, or norms a row
// before its sum is there, both say so.
func TestOwners(t *testing.T) {
	ranks := []int{1, 2, 3, 4, 5, 6, 7, 8}
	for name, s := range map[string]schedule.Schedule{"AllReduceNormTwoShot": catalog.AllReduceNormTwoShot,
		"ReduceScatterNormGatherPackets": catalog.ReduceScatterNormGatherPackets,
		"AllReduceTwoShotPackets":        catalog.AllReduceTwoShotPackets,
		"LinearAllReduceTwoShotPackets":  catalog.LinearAllReduceTwoShotPackets} {
		p := lowered(t, name, s)
		if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, d := range ranks {
			for text, edit := range map[string]func([]ops.Op) []ops.Op{
				"as it is": func(list []ops.Op) []ops.Op { return list }, "packets that stay": leftThere,
				"norms first": normsFirst} {
				shape := explore.ShapeOf(p, d)
				lists, err := shape.Unroll(p)
				if err != nil {
					t.Fatal(err)
				}
				if text == "norms first" && !slices.ContainsFunc(lists[d-1], applies) {
					continue // the owners make sums alone
				}
				lists[d-1] = edit(lists[d-1])
				sys, err := explore.Of(p, shape, lists, explore.Eager, explore.Eager)
				if err != nil {
					t.Fatal(err)
				}
				model, err := prove.Of(p, shape)
				if err != nil {
					t.Fatal(err)
				}
				_, refused := prove.Lists(t.Context(), model, lists, 0)
				want := text == "as it is" || text == "packets that stay" && d == 1
				if v := explore.Explore(sys); v.Safe() != want || (refused == nil) != want {
					t.Errorf("%s, %d ranks, %s: the explorer says %v, the prover %v", name, d, text, v.Violations,
						refused)
				}
			}
		}
	}
}

// TestSentRows: a kernel that makes rows and sends them is safe for 1 to 8 ranks, by prover and explorer. If a rank
// leaves packets where they landed, sends codes that it has not made, or puts in their place what has not landed, both
// say so; and if its blocks share out rows of scales as if these were as long as rows of codes, the prover does. A
// commit takes one number of ranks above 3.
func TestSentRows(t *testing.T) {
	p := lowered(t, "AllGatherQuantisedRows", catalog.AllGatherQuantisedRows)
	ranks := []int{1, 2, 3, 4, 5, 6, 7, 8}
	if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks}); err != nil {
		t.Error(err)
	}
	for _, d := range ranks[1:] {
		if d > 3 && !sampling.Takes(d, 5) {
			continue
		}
		for text, edit := range map[string]func([]ops.Op) []ops.Op{
			"as it is": func(list []ops.Op) []ops.Op { return list }, "packets that stay": leftThere,
			"codes that are not made": madeLast, "scales that have not landed": copiedFirst,
			"scales as long as codes": unscaled} {
			shape := explore.ShapeOf(p, d)
			lists, err := shape.Unroll(p)
			if err != nil {
				t.Fatal(err)
			}
			lists[d-1] = edit(lists[d-1])
			sys, err := explore.Of(p, shape, lists, explore.Eager, explore.Eager)
			if err != nil {
				t.Fatal(err)
			}
			model, err := prove.Of(p, shape)
			if err != nil {
				t.Fatal(err)
			}
			_, refused := prove.Lists(t.Context(), model, lists, 0)
			want := text == "as it is"
			byBoth := text != "scales as long as codes"
			if v := explore.Explore(sys); (refused == nil) != want || v.Safe() != want && byBoth {
				t.Errorf("%d ranks, %s: the explorer says %v, the prover %v", d, text, v.Violations, refused)
			}
		}
	}
}

// applies reports whether an operation makes functions.
func applies(o ops.Op) bool { return o.Kind == ops.Apply }

// madeLast makes rows behind the first copy of them.
func madeLast(list []ops.Op) []ops.Op {
	made := slices.IndexFunc(list, applies)
	list[made], list[made+1] = list[made+1], list[made]
	return list
}

// copiedFirst puts scales in their places ahead of the wait for their packets.
func copiedFirst(list []ops.Op) []ops.Op {
	wait := 0
	for i, o := range list {
		if o.Kind == ops.Signal && !o.Words[0].Write {
			wait = i // for scales, the last one
		}
	}
	list[wait], list[wait+1] = list[wait+1], list[wait]
	return list
}

// unscaled forgets that copies move scales.
func unscaled(list []ops.Op) []ops.Op {
	for i := range list {
		list[i].Scaled = 0
	}
	return list
}

// leftThere leaves the packets of the last result where they landed.
func leftThere(list []ops.Op) []ops.Op {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Kind == ops.Take {
			return slices.Delete(list, i, i+1)
		}
	}
	return list
}

// normsFirst makes the norm ahead of the sum that it is of.
func normsFirst(list []ops.Op) []ops.Op {
	sum := slices.IndexFunc(list, func(o ops.Op) bool { return o.Kind == ops.Sum })
	norm := slices.IndexFunc(list, applies)
	made := list[norm]
	return slices.Insert(slices.Delete(list, norm, norm+1), sum, made)
}

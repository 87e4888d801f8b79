package explore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// packetRules break one clause each of what a kernel of packets may use, and have the prover's words for it.
var packetRules = []struct {
	name string
	edit func(rank int, o *ops.Op)
	says string
}{
	{"a place that another rank's packets have", func(_ int, o *ops.Op) {
		if o.Kind == ops.Copy {
			to := &o.Uses[1]
			to.At.Offset = int64(to.At.Rank) * to.Bytes
		}
	}, "is not its own part of what lands there"},
	{"packets read where they land at a peer", func(rank int, o *ops.Op) {
		for i, u := range o.Uses {
			if o.Kind == ops.Sum && u.At.Buffer == "landed" {
				o.Uses[i].At.Rank, o.Uses[i].At.Offset = int(u.At.Offset/u.Bytes), int64(rank)*u.Bytes
			}
		}
	}, "is not its own part of what lands there"},
	{"packets taken back that nobody reads", func(_ int, o *ops.Op) {
		if o.Kind == ops.Sum {
			o.Uses = slices.DeleteFunc(o.Uses, func(u ops.Use) bool { return u.At.Buffer == "landed" })
		}
	}, "is taken back, and the launch has not read it"},
	{"the sum written where packets land", func(rank int, o *ops.Op) {
		if last := len(o.Uses) - 1; o.Kind == ops.Sum {
			o.Uses[last].At = ops.Loc{Rank: rank, Buffer: "landed", Offset: int64(rank) * o.Uses[last].Bytes}
		}
	}, "is written where packets land"},
	{"packets whose flag nobody awaits", func(rank int, o *ops.Op) {
		if slices.ContainsFunc(o.Words, func(w ops.Word) bool {
			return w.At.Buffer == "arrived" && w.At.Rank == rank
		}) {
			o.Words = nil
		}
	}, "is read without its flag, or again"},
	{"packets read twice", func(_ int, o *ops.Op) {
		for i, u := range o.Uses {
			if o.Kind == ops.Sum && u.At.Buffer == "landed" {
				o.Uses = slices.Insert(o.Uses, i, u)
				return
			}
		}
	}, "is read without its flag, or again"},
	{"packets that a copy engine reads", func(_ int, o *ops.Op) {
		if o.Kind == ops.Sum {
			o.Kernel, o.ByBlocks = "", false
			o.Step++
		}
	}, "is of what lands, and this is no kernel that sends it"},
}

// TestPacketRules: each clause is the prover's, in its words, and the explorer's.
func TestPacketRules(t *testing.T) {
	p := lowered(t, "Rules", catalog.AllReducePackets)
	shape := explore.ShapeOf(p, 2)
	for _, c := range packetRules {
		lists, err := shape.Unroll(p)
		if err != nil {
			t.Fatal(err)
		}
		for r, list := range lists {
			for i := range list {
				if o := &list[i]; hostir.Takes(o.Kernel) {
					o.Words, o.Uses = slices.Clone(o.Words), slices.Clone(o.Uses)
					c.edit(r, o)
				}
			}
		}
		model, err := prove.Of(p, shape)
		if err != nil {
			t.Fatal(err)
		}
		_, err = prove.Lists(t.Context(), model, lists, 0)
		if refused := (*prove.Counterexample)(nil); !errors.As(err, &refused) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		sys, err := explore.Of(p, shape, lists, explore.Eager, explore.Eager)
		if err != nil {
			t.Fatal(err)
		}
		if v := explore.Explore(sys); !v.Broke(explore.Told) {
			t.Errorf("%s: the explorer says %v", c.name, v.Violations)
		}
	}
}

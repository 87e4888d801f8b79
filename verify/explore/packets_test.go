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
)

// peerFor reads, in place of packets, the memory of the peer that sent them: a packet does not say that the peer's
// other memory can be read.
func peerFor(lists [][]ops.Op) {
	sent := map[ops.Loc]ops.Loc{}
	for _, list := range lists {
		for _, o := range list {
			if o.Kind == ops.Copy && hostir.Takes(o.Kernel) {
				sent[o.Uses[1].At] = o.Uses[0].At
			}
		}
	}
	read(lists, func(_ int, u *ops.Use) {
		if at, lands := sent[u.At]; lands {
			u.At = at
		}
	})
}

// third reads the packets that landed at a third rank, which takes them back.
func third(lists [][]ops.Op) {
	read(lists, func(r int, u *ops.Use) {
		if u.At.Buffer == "landed" {
			u.At.Rank = len(lists) - r - int(u.At.Offset/u.Bytes) // of three ranks, the one that is neither
		}
	})
}

// read edits what kernels of packets read on each rank.
func read(lists [][]ops.Op, edit func(rank int, u *ops.Use)) {
	for r, list := range lists {
		for i, o := range list {
			if !hostir.Takes(o.Kernel) {
				continue
			}
			list[i].Uses = slices.Clone(o.Uses)
			for j := range list[i].Uses {
				if u := &list[i].Uses[j]; !u.Write {
					edit(r, u)
				}
			}
		}
	}
}

// twice takes all packets of a launch again, in a launch behind it.
func twice(lists [][]ops.Op) {
	for r, list := range lists {
		last := slices.IndexFunc(list, func(o ops.Op) bool { return o.Kind == ops.Take })
		var again []ops.Op
		for _, o := range list[:last+1] {
			if o.Step == list[last].Step && len(o.Uses) > 0 && o.Uses[0].At.Buffer == "landed" {
				o.Step = 100
				again = append(again, o)
			}
		}
		lists[r] = slices.Insert(list, last+1, again...)
	}
}

// undone leaves the packets where they landed.
func undone(lists [][]ops.Op) {
	for r, list := range lists {
		lists[r] = slices.DeleteFunc(list, func(o ops.Op) bool { return o.Kind == ops.Take })
	}
}

// packetCase is a program of packets whose lists are changed.
type packetCase struct {
	name  string
	of    schedule.Schedule
	ranks int
	edit  func([][]ops.Op)
	plain bool
	broke []explore.Property // empty: safe
}

var packetCases = []packetCase{
	{"as they are", catalog.AllReducePackets, 3, func([][]ops.Op) {}, false, nil},
	{"as they are, of plain data", catalog.AllReducePackets, 3, func([][]ops.Op) {}, true, nil},
	{"a peer's memory for packets", catalog.BlockBehindAttentionPackets, 2, peerFor, false,
		[]explore.Property{explore.Told}},
	{"packets of a third rank", catalog.AllReducePackets, 3, third, false, []explore.Property{explore.Told}},
	{"packets of a third rank, by the uses", catalog.AllReducePackets, 3, third, true,
		[]explore.Property{explore.NoRace, explore.Contents}},
	{"packets twice", catalog.AllGatherLinearPackets, 2, twice, false, []explore.Property{explore.Told}},
	{"packets twice, by the uses", catalog.AllGatherLinearPackets, 2, twice, true,
		[]explore.Property{explore.Contents}},
	{"packets that stay", catalog.AllReducePackets, 2, undone, false, []explore.Property{explore.Told}},
}

// A kernel of packets uses nothing but what packets tell of, by prover and explorer. Where the landing is said to be of
// plain data they know nothing of that, and see by the uses alone that packets are taken by another rank, or before.
func TestPackets(t *testing.T) {
	for _, c := range packetCases {
		t.Run(c.name, c.run)
	}
}

func (c packetCase) run(t *testing.T) {
	p, err := lower.Lower("X", c.of)
	if err != nil {
		t.Fatal(err)
	}
	shape := explore.ShapeOf(p, c.ranks)
	lists, err := shape.Unroll(p)
	if err != nil {
		t.Fatal(err)
	}
	c.edit(lists)
	model, err := prove.Of(p, shape)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := explore.Of(p, shape, lists, explore.Eager, explore.Eager)
	if err != nil {
		t.Fatal(err)
	}
	if c.plain {
		ofPlainData(model, sys, lists)
	}
	_, err = prove.Lists(t.Context(), model, lists, 0)
	v := explore.Explore(sys)
	if c.broke == nil {
		if err != nil {
			t.Error(err)
		}
		safe(t, v)
		return
	}
	if refused := (*prove.Counterexample)(nil); !errors.As(err, &refused) {
		t.Errorf("the prover says %v", err)
	}
	if !slices.ContainsFunc(c.broke, v.Broke) {
		t.Errorf("the explorer says %v, want one of %q broken", v.Violations, c.broke)
	}
}

// ofPlainData makes both checkers take packets for data that peers push.
func ofPlainData(model prove.Model, sys explore.System, lists [][]ops.Op) {
	for name, form := range model.Lands {
		form.Packets = false
		turn := sys.Turns[name]
		turn.Packets = false
		model.Lands[name], sys.Turns[name] = form, turn
	}
	for _, list := range lists {
		for i := range list {
			if hostir.Takes(list[i].Kernel) {
				list[i].Kernel = hostir.PushKernel
			}
		}
	}
}

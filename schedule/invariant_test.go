package schedule_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
)

// What can't keep the bits of a row is refused by its field, and nothing else is.
func TestInvariant(t *testing.T) {
	with := func(s schedule.Schedule, moves ...schedule.Move) schedule.Schedule {
		s.Invariant, s.Moves = true, moves
		return s
	}
	few := with(catalog.LinearAllReducePackets)
	few.FewRows = 64
	odd := catalog.LinearAllReducePackets
	odd.FewRows = 12
	summed := func(way schedule.Way, apart string) schedule.Schedule {
		spread := schedule.DIDx(schedule.D)
		x := schedule.Schedule{Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.K, spread)}},
			{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.K, spread)}},
			{Name: "E", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.F, spread)}},
			{Name: "B2", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.F, spread)}},
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, spread), schedule.Dim(schedule.N)}}},
			Ops: []schedule.Op{schedule.Linear("P", "A", "B"), schedule.Linear("C", "E", "B2", schedule.Add("P"))}}
		moves := []schedule.Move{{Of: "C", Way: way}}
		if apart != "" {
			moves = append(moves, schedule.Move{Of: apart, Way: schedule.Slots{}})
		}
		return with(x, moves...)
	}
	said := func(s schedule.Schedule, calls bool) schedule.Schedule {
		s.Ops = slices.Clone(s.Ops)
		for i, o := range s.Ops {
			if (o.Call != "") == calls {
				s.Ops[i] = o.AsInvariant()
			}
		}
		return s
	}
	gated, reduce := catalog.GatedMLP, catalog.LinearReduceScatter
	const ordered = " adds partial results in an order that the place of a row, or NCCL, decides (take one that adds " +
		"in the order of ranks, such as Slots or PushShot, or leave Invariant out)"
	const unasked = ": nothing asks for the word of an author but a call in a schedule that is Invariant (leave it out)"
	for _, test := range []struct {
		s    schedule.Schedule
		want string // nothing: it is taken
	}{
		{with(gated), ""},
		{with(gated, schedule.Move{Of: "A", Way: schedule.NCCL{}}), ""},
		{with(gated, schedule.Move{Of: "C", Way: schedule.PushTwoShot{}}), ""},
		{with(gated, schedule.Move{Of: "C", Way: schedule.Tiles{}}), "Moves[0].Way: New compares no algorithm of the " +
			"library with the order of tiles (use schedule.Slots or schedule.PushShot, or leave Invariant out)"},
		{with(gated, schedule.Move{Of: "C", Way: schedule.NCCL{}}), "Moves[0].Way: NCCL" + ordered},
		{with(reduce, schedule.Move{Of: "C", Way: schedule.RingSum{}}), "Moves[0].Way: RingSum" + ordered},
		{with(reduce, schedule.Move{Of: "C", Way: schedule.RingAccumulate{}}),
			"Moves[0].Way: RingAccumulate" + ordered},
		{with(gated, schedule.Move{Of: "A", Way: schedule.Tiles{}}), "Moves[0].Way: tiles of every second shard are " +
			"added from the back (use schedule.Pull or schedule.PushGather, or leave Invariant out)"},
		{with(catalog.LinearReduceScatterHosts), "Mesh: partial results of several hosts meet by NCCL, whose order " +
			"is its own (leave it out, or Invariant)"},
		{with(catalog.ColumnWeightGradient), "Ops[0]: C is a sum over the rows of A (leave Invariant out)"},
		{with(catalog.RotaryAttention), "Ops[4].Invariant: nobody says that a row which Attention makes has the " +
			"same bits beside any number of rows (write .AsInvariant() behind the call if so, or leave Invariant out " +
			"of the schedule)"},
		{said(with(catalog.RotaryAttention), true), ""},
		{said(catalog.RotaryAttention, true), "Ops[4].Invariant" + unasked},
		{said(with(reduce), false), "Ops[0].Invariant" + unasked},
		{odd, "FewRows: no kernel takes products of at most 12 rows (say 8, 16, 32 or 64, or leave it out)"},
		{few, ""},
		{summed(schedule.Slots{}, ""), ""},
		{summed(schedule.Stores{}, ""), "Moves[0]: it has P and C meet apart, and other ways round their sum once " +
			"(leave it out, or leave Invariant out)"},
		{summed(schedule.Slots{}, "P"), "Moves[1]: it has P and C meet apart, and other ways round their sum once " +
			"(leave it out, or leave Invariant out)"},
	} {
		got := ""
		if err := test.s.Validate(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

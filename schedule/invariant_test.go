package schedule_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
)

// invariant is a schedule that asks for equal bits, with such moves.
func invariant(s schedule.Schedule, moves ...schedule.Move) schedule.Schedule {
	s.Invariant, s.Moves = true, moves
	return s
}

// ofFew is a schedule whose products have at most so many rows.
func ofFew(s schedule.Schedule, rows int) schedule.Schedule {
	s.FewRows = rows
	return s
}

// summed is a sum of two products by a way; apart is a term that meets by slots, or none.
func summed(way schedule.Way, apart string) schedule.Schedule {
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
	return invariant(x, moves...)
}

// said is a schedule in which the author of each call, or of each other operation, says that it keeps the bits of rows.
func said(s schedule.Schedule, calls bool) schedule.Schedule {
	s.Ops = slices.Clone(s.Ops)
	for i, o := range s.Ops {
		if (o.Call != "") == calls {
			s.Ops[i] = o.AsInvariant()
		}
	}
	return s
}

// Ends of refusals.
const (
	ordered = " adds partial results in an order that the place of a row, or NCCL, decides (take one that adds " +
		"in the order of ranks, such as schedule.Slots or schedule.PushShot, or leave Invariant out)"
	few     = " adds up the depth as the library does, and the kernels of few rows in an order of their own (use "
	unasked = ": nothing asks for the word of an author but a call in a schedule that is Invariant (leave it out)"
)

// invariants are schedules that ask for equal bits, and their refusals; none: it is taken.
var invariants = []struct {
	s    schedule.Schedule
	want string
}{
	{invariant(catalog.GatedMLP), ""},
	{invariant(catalog.GatedMLP, schedule.Move{Of: "A", Way: schedule.NCCL{}}), ""},
	{invariant(catalog.GatedMLP, schedule.Move{Of: "C", Way: schedule.PushTwoShot{}}), ""},
	{invariant(catalog.GatedMLP, schedule.Move{Of: "C", Way: schedule.Tiles{}}), ""},
	{invariant(catalog.GatedMLP, schedule.Move{Of: "A", Way: schedule.Tiles{Columns: 128}}), ""},
	{ofFew(invariant(catalog.GatedMLP, schedule.Move{Of: "C", Way: schedule.Tiles{}}), 64),
		"Moves[0].Way: Tiles" + few + "schedule.Slots or schedule.PushShot, or leave FewRows out)"},
	{ofFew(invariant(catalog.GatedMLP, schedule.Move{Of: "A", Way: schedule.Tiles{}}), 64),
		"Moves[0].Way: Tiles" + few + "schedule.Pull or schedule.PushGather, or leave FewRows out)"},
	{ofFew(schedule.Schedule{Tensors: catalog.GatedMLP.Tensors, Ops: catalog.GatedMLP.Ops,
		Moves: []schedule.Move{{Of: "A", Way: schedule.Tiles{}}}}, 64), ""},
	{invariant(catalog.GatedMLP, schedule.Move{Of: "C", Way: schedule.NCCL{}}), "Moves[0].Way: NCCL" + ordered},
	{invariant(catalog.LinearReduceScatter, schedule.Move{Of: "C", Way: schedule.RingSum{}}),
		"Moves[0].Way: RingSum" + ordered},
	{invariant(catalog.LinearReduceScatter, schedule.Move{Of: "C", Way: schedule.RingAccumulate{}}),
		"Moves[0].Way: RingAccumulate" + ordered},
	{invariant(catalog.LinearReduceScatterHosts), "Mesh: partial results of several hosts meet by NCCL, whose order " +
		"is its own (leave it out, or Invariant)"},
	{invariant(catalog.ColumnWeightGradient), "Ops[0]: C is a sum over the rows of A (leave Invariant out)"},
	{invariant(catalog.RotaryAttention), "Ops[4].Invariant: nobody says that a row which Attention makes has the " +
		"same bits beside any number of rows (write .AsInvariant() behind the call if so, or leave Invariant out " +
		"of the schedule)"},
	{said(invariant(catalog.RotaryAttention), true), ""},
	{said(catalog.RotaryAttention, true), "Ops[4].Invariant" + unasked},
	{said(invariant(catalog.LinearReduceScatter), false), "Ops[0].Invariant" + unasked},
	{ofFew(catalog.LinearAllReducePackets, 12),
		"FewRows: no kernel takes products of at most 12 rows (say 8, 16, 32 or 64, or leave it out)"},
	{ofFew(invariant(catalog.LinearAllReducePackets), 64), ""},
	{summed(schedule.Slots{}, ""), ""},
	{summed(schedule.Stores{}, ""), "Moves[0]: it has P and C meet apart, and other ways round their sum once " +
		"(leave it out, or leave Invariant out)"},
	{summed(schedule.Slots{}, "P"), "Moves[1]: it has P and C meet apart, and other ways round their sum once " +
		"(leave it out, or leave Invariant out)"},
}

// What can't keep the bits of a row is refused by its field, and nothing else is.
func TestInvariant(t *testing.T) {
	for _, test := range invariants {
		got := ""
		if err := test.s.Validate(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

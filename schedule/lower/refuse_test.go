package lower_test

import (
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// tensor is A of [M, K], or another one, with the splits of its axes.
func tensor(name string, axes ...schedule.Axis) schedule.Tensor {
	return schedule.Tensor{Name: name, Axes: axes}
}

// What can't be lowered is refused at the field that is to blame, in words that say what
// to do.
func TestWordsOfRefusals(t *testing.T) {
	m, k, n, n2 := schedule.Dim(schedule.M), schedule.Dim(schedule.K), schedule.Dim(schedule.N), schedule.Dim(schedule.N2)
	mD, kD, nD := schedule.Dim(schedule.M, schedule.DIDx(schedule.D)),
		schedule.Dim(schedule.K, schedule.DIDx(schedule.D)), schedule.Dim(schedule.N, schedule.DIDx(schedule.D))
	steps := schedule.Dim(schedule.M, schedule.Stream(schedule.D))
	shifted := func(by int) schedule.Axis {
		return schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: by})
	}
	linear := func(tensors ...schedule.Tensor) schedule.Schedule {
		return scheduletest.Of("linear", tensors...)
	}
	changed := func(s schedule.Schedule, f func(*schedule.Schedule)) schedule.Schedule {
		s.Tensors = slices.Clone(s.Tensors)
		f(&s)
		return s
	}
	for _, test := range []struct {
		name string
		s    schedule.Schedule
		want []string
	}{
		{"column-parallel, and a whole bias", linear(tensor("A", mD, k), tensor("B", nD, k), tensor("Bias", n),
			tensor("C", steps, nD)), []string{
			"Tensors[2].Axes[0]: Bias has all columns N, and B is spread over the ranks by them: no pass gathers columns " +
				"(spread it as well, by schedule.DIDx(schedule.D), and gather C afterwards; or let each rank have a whole B)"}},
		{"column-parallel, A whole", linear(tensor("A", m, k), tensor("B", nD, k), tensor("C", m, nD)), []string{
			"Tensors[0]: nothing travels from A [M, K] to C [M, DIDx(D), N/D]: each rank makes its result of what it has " +
				"(there is all-gather: "}},
		{"row-parallel with a second product", linear(tensor("A", m, kD), tensor("B", n, kD), tensor("B2", n2, kD),
			tensor("C", mD, n), tensor("C2", mD, n2)), []string{
			"Tensors[2]: the reduce-scatter of one product does not read B2 (leave it out; a second product is a schedule " +
				"of its own)",
			"Tensors[4]: the reduce-scatter of one product does not read C2 (leave it out; a second product is a schedule " +
				"of its own)"}},
		{"all-reduce with a second product", linear(tensor("A", m, kD), tensor("B", n, kD), tensor("B2", n2, k),
			tensor("C", m, n), tensor("C2", m, n2)), []string{
			"Tensors[2]: the all-reduce of one product does not read B2 ",
			"Tensors[4]: the all-reduce of one product does not read C2 "}},
		{"constants that disagree", linear(tensor("A", mD, schedule.Dim("4096")), tensor("B", n, schedule.Dim("8192")),
			tensor("C", steps, n)), []string{
			"Tensors[1].Axes[1].Extent: extent \"8192\" where A has \"4096\" (write the same in both)"}},
		{"a constant and its symbol", linear(tensor("A", mD, schedule.Dim("4096")), tensor("B", n, k),
			tensor("C", steps, n)), []string{
			"Tensors[1].Axes[1].Extent: extent \"K\" where A has \"4096\" (write the same in both)"}},
		{"C without steps", linear(tensor("A", mD, k), tensor("B", n, k), tensor("C", m, n)), []string{
			"Tensors[2]: no communication leads from A [DIDx(D), M/D, K] to C [M, N] (nearest is the all-gather: place C " +
				"[Stream(D), M/D, N])"}},
		{"logits", linear(tensor("A", m, k), tensor("B", nD, k), tensor("C", m, n)), []string{
			"Tensors[2].Axes[1]: C has all columns N, and B is spread over the ranks by them: no pass gathers columns " +
				"(spread it as well, "}},
		{"a shift by two", scheduletest.Of("copy", tensor("A", mD, n), tensor("C", shifted(2), n)), []string{
			"Tensors[1].Axes[0].Outer[0].Shift: a shift by 2 of C: the one that is lowered moves parts on by one rank (set " +
				"Shift to 1 in C, and leave it out in A)"}},
		{"A of a layer shifted", linear(tensor("A", shifted(1), k), tensor("B", n, k), tensor("C", steps, n)), []string{
			"Tensors[0].Axes[0].Outer[0].Shift: no pass lowers a linear of parts that are moved on (leave it out; a " +
				"permutation is a Copy)"}},
		{"all-to-all with rows", scheduletest.Of("copy", tensor("A", schedule.Dim(schedule.D, schedule.DIDx(schedule.D)),
			schedule.Dim(schedule.D), m, n), tensor("C", m, n)), []string{
			"Tensors[1].Axes: 2 axes where 4 are needed (Ops[0] is \"...->...\")"}},
		{"a bound on the parts of an all-to-all", changed(catalog.AllToAllV, func(s *schedule.Schedule) {
			s.Tensors[0].Axes = slices.Clone(s.Tensors[0].Axes)
			s.Tensors[0].Axes[0].Outer = []schedule.Split{{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true,
				Most: schedule.P}}
		}), []string{"Tensors[0].Axes[0].Outer[0].Most: an all-to-all makes room for M elements a rank, whatever its " +
			"parts are (leave it out)"}},
		{"a way of sums for a gather", scheduletest.By(catalog.AllGatherLinear, "A", schedule.Slots{}), []string{
			"Moves[0].Way: no pass does the all-gather by Slots (use Pull, Push, Grouped, Ring, PushRing, Broadcast, Naive, " +
				"or leave it out)"}},
		{"streams of a bare all-gather", scheduletest.By(catalog.AllGather, "A", schedule.Pull{Streams: 4}), []string{
			"Moves[0].Way: no pass does the bare all-gather by Pull (use Get, Padded, or leave it out)"}},
		{"a move of a weight", scheduletest.By(catalog.TensorParallelMLP, "B", schedule.Get{}), []string{
			"Moves[0].Of: B does not travel (move A or C)"}},
		{"one kernel for a ring's step", scheduletest.By(catalog.AllGatherLinear, "A",
			schedule.Ring{By: schedule.OneKernel}), []string{
			`Moves[0].Way.By: unknown choice "one kernel" ` +
				`(use one of ["copy engine" "kernel copies" "kernel signals" "kernels"])`}},
		{"uneven rows of a sum by slots", scheduletest.By(catalog.ReduceScatterV, "C", schedule.Slots{}), []string{
			"Moves[0].Way: no pass does the bare reduce-scatter of uneven parts by Slots (use Shot, or leave it out)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := lower.Lower("X", test.s)
			fields := schedule.FieldErrors(err)
			if len(fields) != len(test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			for i, e := range fields {
				if !strings.HasPrefix(e.Error(), test.want[i]) {
					t.Errorf("got  %s\nwant %s", e, test.want[i])
				}
			}
		})
	}
}

// What is left open is the fastest known way that the placements leave.
func TestDefaultsFollowPlacements(t *testing.T) {
	for _, test := range []struct {
		name string
		s    schedule.Schedule
		want []schedule.Move
	}{
		{"a gather", catalog.AllGatherLinear, []schedule.Move{{Of: "A", Way: schedule.Pull{}}}},
		{"chunks of a gather", catalog.AllGatherLinearCollective8, []schedule.Move{{Of: "A", Way: schedule.Collective{}}}},
		{"partial results", catalog.LinearReduceScatterOneShot, []schedule.Move{{Of: "C", Way: schedule.Slots{}}}},
		{"a sum for all", catalog.AllReduceTwoShot, []schedule.Move{{Of: "C", Way: schedule.TwoShot{}}}},
		{"a sum of uneven parts", catalog.ReduceScatterV, []schedule.Move{{Of: "C", Way: schedule.Shot{}}}},
		{"what rank 0 has", catalog.Broadcast, []schedule.Move{{Of: "A", Way: schedule.Get{}}}},
		{"batches of two layers", catalog.TensorParallelMLPBatches,
			[]schedule.Move{{Of: "A", Way: schedule.Get{}}, {Of: "C", Way: schedule.LayerSlots{}}}},
	} {
		test.s.Moves = nil
		got, err := lower.Lower("X", test.s)
		if err != nil || !slices.Equal(got.Schedule.Moves, test.want) {
			t.Errorf("%s: %v, %v, want %v", test.name, got, err, test.want)
		}
	}
}

package lower_test

import (
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
)

// tensor is A of [M, K], or another one, with the splits of its axes.
func tensor(name string, axes ...schedule.Axis) schedule.Tensor {
	return schedule.Tensor{Name: name, Axes: axes}
}

// What can't be lowered is refused at the field that is to blame, in words that say what
// to do.
func TestWordsOfRefusals(t *testing.T) {
	m, k, n, n2 := schedule.Dim(schedule.M), schedule.Dim(schedule.K), schedule.Dim(schedule.N), schedule.Dim(schedule.N2)
	mD, kD, nD := schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K, schedule.DIDx(schedule.D)), schedule.Dim(schedule.N, schedule.DIDx(schedule.D))
	steps := schedule.Dim(schedule.M, schedule.Stream(schedule.D))
	shifted := func(by int) schedule.Axis {
		return schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: by})
	}
	linear := func(tensors ...schedule.Tensor) schedule.Schedule {
		return schedule.Schedule{Op: schedule.Linear, Tensors: tensors}
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
		{"column-parallel, the weight over its columns", linear(tensor("A", mD, k), tensor("B", nD, k), tensor("Bias", nD), tensor("C", steps, nD)), []string{
			"Tensors[1].Axes[0].Outer[0]: B is each rank's own here, and N its columns (drop DIDx: N is then this rank's columns; pass N/D as N)",
			"Tensors[2].Axes[0].Outer[0]: Bias is each rank's own here, and N its columns (drop DIDx: N is then this rank's columns; pass N/D as N)",
			"Tensors[3].Axes[1].Outer[0]: C is each rank's own here, and N its columns (drop DIDx: N is then this rank's columns; pass N/D as N)"}},
		{"column-parallel, A whole", linear(tensor("A", m, k), tensor("B", nD, k), tensor("C", m, nD)), []string{
			"Tensors[0]: nothing travels from A [M, K] to C [M, DIDx(D), N/D]: each rank makes its result of what it has (there is all-gather: "}},
		{"row-parallel with a second product", linear(tensor("A", m, kD), tensor("B", n, kD), tensor("B2", n2, kD), tensor("C", mD, n), tensor("C2", mD, n2)), []string{
			"Tensors[2]: the reduce-scatter of one product does not read B2 (leave it out; a second product is a schedule of its own)",
			"Tensors[4]: the reduce-scatter of one product does not read C2 (leave it out; a second product is a schedule of its own)"}},
		{"all-reduce with a second product", linear(tensor("A", m, kD), tensor("B", n, kD), tensor("B2", n2, k), tensor("C", m, n), tensor("C2", m, n2)), []string{
			"Tensors[2]: the all-reduce of one product does not read B2 ", "Tensors[4]: the all-reduce of one product does not read C2 "}},
		{"constants that disagree", linear(tensor("A", mD, schedule.Dim("4096")), tensor("B", n, schedule.Dim("8192")), tensor("C", steps, n)), []string{
			"Tensors[1].Axes[1].Extent: K of a linear is 8192 here and 4096 in A (write the same in both)"}},
		{"a constant and its symbol", linear(tensor("A", mD, schedule.Dim("4096")), tensor("B", n, k), tensor("C", steps, n)), []string{
			"Tensors[1].Axes[1].Extent: K of a linear is K here and 4096 in A (write the same in both)"}},
		{"C without steps", linear(tensor("A", mD, k), tensor("B", n, k), tensor("C", m, n)), []string{
			"Tensors[2]: no communication leads from A [DIDx(D), M/D, K] to C [M, N] (nearest is the all-gather: place C [Stream(D), M/D, N])"}},
		{"logits", linear(tensor("A", m, k), tensor("B", nD, k), tensor("C", m, n)), []string{
			"Tensors[0]: no communication leads from A [M, K] to C [M, N] (there is all-gather: A [DIDx(D), M/D, K], B [N, K], C [Stream(D), M/D, N]; " +
				"all-gather in chunks: A [4, DIDx(D), M/(4*D), K], B [N, K], C [Stream(4), D, M/(4*D), N]; reduce-scatter: "}},
		{"a shift by two", schedule.Schedule{Op: schedule.Copy, Tensors: []schedule.Tensor{tensor("A", mD, n), tensor("C", shifted(2), n)}}, []string{
			"Tensors[1].Axes[0].Outer[0].Shift: a shift by 2 of C: the one that is lowered moves parts on by one rank (set Shift to 1 in C, and leave it out in A)"}},
		{"A of a layer shifted", linear(tensor("A", shifted(1), k), tensor("B", n, k), tensor("C", steps, n)), []string{
			"Tensors[0].Axes[0].Outer[0].Shift: no pass lowers a linear of parts that are moved on (leave it out; a permutation is a Copy)"}},
		{"all-to-all with rows", schedule.Schedule{Op: schedule.Copy, Tensors: []schedule.Tensor{
			tensor("A", schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), schedule.Dim(schedule.D), m, n), tensor("C", m, n)}}, []string{
			"Tensors[0].Axes: 4 axes where 2 are needed (a copy has A [M N] or [D D M])"}},
		{"a bound on the parts of an all-to-all", changed(catalog.AllToAllV, func(s *schedule.Schedule) {
			s.Tensors[0].Axes = slices.Clone(s.Tensors[0].Axes)
			s.Tensors[0].Axes[0].Outer = []schedule.Split{{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true, Most: schedule.P}}
		}), []string{"Tensors[0].Axes[0].Outer[0].Most: an all-to-all makes room for M elements a rank, whatever its parts are (leave it out)"}},
		{"groups that are pushed", changed(catalog.AllGatherLinearGrouped, func(s *schedule.Schedule) { s.Pipeline.Protocol = schedule.Put }), []string{
			`Pipeline.Products: "grouped" does not go with Pipeline.Protocol "put" (leave one of them out)`}},
		{"the own rows first", changed(catalog.LinearReduceScatter, func(s *schedule.Schedule) { s.Pipeline.Own = schedule.First }), []string{
			`Pipeline.Own: "first" does not go with Pipeline.Reduction "at the end" (the default) (leave it out, or set Pipeline.Reduction to "in slots")`}},
		{"streams of a bare all-gather", changed(catalog.AllGather, func(s *schedule.Schedule) { s.Streams.Compute = 4 }), []string{
			`Streams.Compute: no bare all-gather with Kind "point-to-point" and Order "shift" reads "4" (leave it out)`}},
		{"kernels for copies that there are not", changed(catalog.AllReduceOneShot, func(s *schedule.Schedule) { s.Transport.Copy = schedule.CopyKernel }), []string{
			"Transport.Copy: no rank copies from or to another one here (leave it out)"}},
		{"fused copies by the copy engine", changed(catalog.AllGatherLinearFused, func(s *schedule.Schedule) { s.Transport.Copy = "" }), []string{
			"Transport.Steps: only kernels can be fused, and ranks copy here (set Copy to schedule.CopyKernel)"}},
		{"an MLP in batches that nothing cuts", changed(catalog.TensorParallelMLP, func(s *schedule.Schedule) {
			s.Pipeline.Kind, s.Pipeline.Chunks = schedule.Collective, 2
		}), []string{`Pipeline.Kind: no pipeline does the all-gather, reduce-scatter as "collective" in order "shift" (use Kind "point-to-point" with Order "shift")`}},
		{"uneven rows of a sum by slots", changed(catalog.ReduceScatterV, func(s *schedule.Schedule) {
			s.Pipeline.Kind, s.Transport = schedule.PointToPoint, schedule.Transport{}
		}), []string{`Pipeline.Kind: no pipeline does the bare reduce-scatter of uneven parts as "point-to-point" in order "shift" (use Kind "one-shot" with Order "shift")`}},
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

// What is left open is the fastest known choice that the placements leave.
func TestDefaultsFollowPlacements(t *testing.T) {
	bare := func(s schedule.Schedule) schedule.Schedule {
		return schedule.Schedule{Op: s.Op, Tensors: s.Tensors}
	}
	ring := bare(catalog.LinearReduceScatter)
	ring.Pipeline.Order = schedule.Ring
	spread := bare(catalog.AllGatherLinear)
	spread.Pipeline.Kind = schedule.Broadcast
	for _, test := range []struct {
		name string
		s    schedule.Schedule
		want schedule.Pipeline
	}{
		{"a sum for all", bare(catalog.AllReduceTwoShot), schedule.Pipeline{Kind: schedule.TwoShot}},
		{"a sum of uneven parts", bare(catalog.ReduceScatterV), schedule.Pipeline{Kind: schedule.OneShot}},
		{"what rank 0 has", bare(catalog.Broadcast), schedule.Pipeline{Kind: schedule.Broadcast}},
		{"chunks of an all-gather", bare(catalog.AllGatherLinearCollective8), schedule.Pipeline{Kind: schedule.Collective, Chunks: 8}},
		{"batches of an MLP", bare(catalog.TensorParallelMLPBatches), schedule.Pipeline{Kind: schedule.Collective, Chunks: 2}},
		{"a ring of partial results", ring, schedule.Pipeline{Order: schedule.Ring, Protocol: schedule.Get, Reduction: schedule.InKernel}},
		{"a shard broadcast", spread, schedule.Pipeline{Kind: schedule.Broadcast, Protocol: schedule.Put}},
	} {
		got, err := lower.Lower("X", test.s)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		s := bare(test.s)
		s.Pipeline = test.want
		if got.Schedule.Pipeline != s.WithDefaults().Pipeline {
			t.Errorf("%s: %+v, want %+v", test.name, got.Schedule.Pipeline, s.WithDefaults().Pipeline)
		}
	}
}

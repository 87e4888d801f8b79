package explain

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// oneStream is why ways of one launch overlap nothing.
const oneStream = "this way communicates on the stream of the products"

// overlapping are schedules and what TestOverlaps wants said of their communications.
var overlapping = []struct {
	name string
	s    schedule.Schedule
	want []string
}{
	{"a gather", catalog.AllGatherMatmul, []string{
		"A: all-gather by Pull (the default), pipelined with C = matmul(A, B)"}},
	{"once", catalog.AllGatherLinearBalancedOnce, []string{
		"A: all-gather of balanced rows by Pull (the default, with options), " +
			"not pipelined: Moves[0].Way.Once: all rows are multiplied when all shards are there"}},
	{"tiles", catalog.AllGatherLinearTiles, []string{
		"A: all-gather by Tiles (in place of Pull), pipelined with C = linear(A, B), bias(Bias)"}},
	{"tiles and sums", catalog.LinearReduceScatterTiles, []string{
		"C: reduce-scatter by Tiles (in place of Slots), pipelined with C = linear(A, B)"}},
	{"one shot", catalog.LinearAllReduceOneShot, []string{
		"C: all-reduce by Shot (in place of Slots), not pipelined: Moves[0].Way: " + oneStream}},
	{"the default of a sum alone", changed(catalog.LinearReduceScatterQuantised, func(s *schedule.Schedule) {
		i := slices.IndexFunc(s.Tensors, func(t schedule.Tensor) bool { return t.Name == "C" })
		s.Tensors[i].Axes = slices.Clone(s.Tensors[i].Axes)
		s.Tensors[i].Axes[0].Outer, s.Moves = nil, nil
	}), []string{"C: all-reduce by TwoShot (the default), not pipelined: Moves[0].Way: " + oneStream}},
	{"tiles of a stage", changed(scheduletest.By(catalog.GatedMLP, "A", schedule.Tiles{}),
		func(s *schedule.Schedule) { s.Types = catalog.AllGatherLinearTiles.Types }), []string{
		"A: all-gather by Tiles (in place of Pull), pipelined with U = linear(A, Up)",
		"C: reduce-scatter by Slots (the default), pipelined with " +
			"G = linear(A, Gate), swiglu(U); C = linear(G, Down), add(Residual)"}},
	{"a ring", catalog.LinearReduceScatterRing, []string{
		"C: reduce-scatter by RingAccumulate (in place of Slots), not pipelined: Moves[0].Way: " + oneStream}},
	{"no product", catalog.AllGather, []string{
		"A: all-gather by Pull (the default), not pipelined: Ops: no product stands beside it"}},
	{"a chain", catalog.BlockBehindAttention, []string{
		"R: reduce-scatter by Slots (the default), pipelined with " +
			"R = linear(Attention, Projection), add(Residual)",
		"X: all-gather by Pull (the default), pipelined with U = linear(X, Up); " +
			"G = linear(X, Gate), swiglu(U); C = linear(G, Down), add(R)",
		"C: reduce-scatter by Slots (the default), pipelined with U = linear(X, Up); " +
			"G = linear(X, Gate), swiglu(U); C = linear(G, Down), add(R)"}},
	{"in parts", scheduletest.By(catalog.BlockBehindAttention, "R", schedule.Slots{Parts: 2}), []string{
		"R: reduce-scatter by Slots (the default, with options), pipelined with " +
			"R = linear(Attention, Projection), add(Residual); own rows are summed in 2 parts beside " +
			"X = copy(R), rmsnorm(Norm); U = linear(X, Up); " +
			"G = linear(X, Gate), swiglu(U)",
		"X: all-gather by Pull (the default), pipelined with U = linear(X, Up); " +
			"G = linear(X, Gate), swiglu(U); C = linear(G, Down), add(R)",
		"C: reduce-scatter by Slots (the default), pipelined with U = linear(X, Up); " +
			"G = linear(X, Gate), swiglu(U); C = linear(G, Down), add(R)"}},
	{"a chain with one shot", scheduletest.By(catalog.BlockBehindAttention, "R", schedule.Shot{}), []string{
		"R: reduce-scatter by Shot (in place of Slots), not pipelined: Moves[0].Way: " + oneStream,
		"X: all-gather by Pull (the default), pipelined with U = linear(X, Up); " +
			"G = linear(X, Gate), swiglu(U); C = linear(G, Down), add(R)",
		"C: reduce-scatter by Slots (the default), pipelined with U = linear(X, Up); " +
			"G = linear(X, Gate), swiglu(U); C = linear(G, Down), add(R)"}},
	{"a chain with NCCL", scheduletest.By(catalog.TensorParallelMLP, "A", schedule.NCCL{}), []string{
		"A: all-gather by NCCL (in place of Pull), not pipelined: Moves[0].Way: " + oneStream,
		"C: reduce-scatter by Slots (the default), pipelined with " +
			"H = linear(A, B), bias(Bias), gelu; C = linear(H, B2)"}},
}

// Each communication says with which products it is pipelined, or the field that is why not.
func TestOverlaps(t *testing.T) {
	for _, test := range overlapping {
		p, err := lower.Lower("X", test.s)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, o := range Overlaps(p) {
			got = append(got, o.String())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// changed is a schedule with changes.
func changed(s schedule.Schedule, change func(*schedule.Schedule)) schedule.Schedule {
	s = scheduletest.Clone(s)
	change(&s)
	return s
}

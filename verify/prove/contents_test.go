package prove_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// computation is a schedule for two ranks whose rows are one element of 4 bytes.
func computation(kind string, m int64, tensors ...schedule.Tensor) *prove.Computation {
	return &prove.Computation{Schedule: scheduletest.Of(kind, tensors...),
		Extents: hostir.Env{"D": 2, "M": m, "K": 1, "N": 1}, ElementBits: 32}
}

func tensor(name string, axes ...schedule.Axis) schedule.Tensor {
	return schedule.Tensor{Name: name, Axes: axes}
}

var (
	wholeB  = tensor("B", schedule.Dim(schedule.K), schedule.Dim(schedule.N))
	wholeC  = tensor("C", schedule.Dim(schedule.M), schedule.Dim(schedule.N))
	sharded = schedule.Dim(schedule.M, schedule.DIDx(schedule.D))
)

// C's four rows are made of both ranks' two rows of A.
var gathers = computation("matmul", 4, tensor("A", sharded, schedule.Dim(schedule.K)), wholeB, wholeC)

// gather is a safe all-gather and product of a rank and its peer's, with places for
// what a mistake changes.
func gather(r, peer, own, others string) string {
	return "main post ready " + peer + "; main C[" + own + "] = A * B; main wait ready " + peer +
		"; main S[0:8] = A@" + peer +
		"; main post read " + peer + "; main wait read " + peer + "; main C[" + others + "] = S[0:8] * B"
}

var gatherOfOne = gather("1", "0", "8:16", "0:8")

var gatherOfBoth = []string{gather("0", "1", "0:8", "8:16"), gatherOfOne}

var contentsCases = []listCase{
	{name: "gather and multiply", ranks: gatherOfBoth},
	{name: "chunks swapped", ranks: []string{gather("0", "1", "8:16", "0:8"), gatherOfOne}, want: prove.Contents,
		text: []string{"chunk 0 of C@0 lacks matmul(A@0[0], B@0[0]); has what does not belong there, " +
			"matmul(A@1[0], B@0[0])"}},
	{name: "a chunk twice", ranks: []string{gather("0", "1", "0:8", "0:8"), gatherOfOne}, want: prove.Contents,
		text: []string{"chunk 0 of C@0 is written twice"}},
	{name: "a function of another chunk", ranks: gatherOfBoth, want: prove.Contents,
		edit: func(l [][]ops.Op) { l[0] = applied(l[0], ops.Use{At: ops.Loc{Buffer: "S"}, Bytes: 8}) },
		text: []string{"chunk 0 of C@0 is written twice"}},
	{name: "a function in place that the schedule lacks", ranks: gatherOfBoth, want: prove.Contents,
		edit: func(l [][]ops.Op) { l[0] = applied(l[0], ops.Use{At: ops.Loc{Buffer: "C"}, Bytes: 8}) },
		text: []string{"chunk 0 of C@0 lacks matmul(A@0[0], B@0[0])"}},
	{name: "a chunk missing", ranks: gatherOfBoth, edit: func(l [][]ops.Op) { l[0] = append(l[0][:7:7], l[0][8:]...) },
		want: prove.Contents,
		text: []string{"chunk 2 of C@0 holds what nothing in this run has written"}},
	{name: "gathered after the product", ranks: gatherOfBoth, edit: func(l [][]ops.Op) {
		l[0][4], l[0][7] = l[0][7], l[0][4]
	}, want: prove.Window},
	{name: "multiplied before the gather", ranks: gatherOfBoth,
		edit: func(l [][]ops.Op) { l[0] = append(append(l[0][:1:1], l[0][7]), append(l[0][1:7:7], l[0][8])...) },
		want: prove.Contents, text: []string{"nothing in this run has written", "missing: a write of the chunk"}},
	{name: "half of the shard", ranks: gatherOfBoth, edit: func(l [][]ops.Op) {
		l[0][4].Uses[0].Bytes, l[0][4].Uses[1].Bytes = 4, 4
	}, want: prove.Contents},
	{name: "rows swapped", ranks: gatherOfBoth, want: prove.Contents, text: []string{"chunk 2 of C@0"},
		edit: func(l [][]ops.Op) {
			half := l[0][4]
			half.Uses = []ops.Use{half.Uses[0], half.Uses[1]}
			half.Uses[0].Bytes, half.Uses[1].Bytes = 4, 4
			half.Uses[1].At.Offset = 4
			other := half
			other.Uses = []ops.Use{half.Uses[0], half.Uses[1]}
			other.Uses[0].At.Offset, other.Uses[1].At.Offset = 4, 0
			l[0] = append(append(l[0][:4:4], half, other), l[0][5:]...)
		}},
	{name: "half a row", ranks: gatherOfBoth, want: prove.Contents,
		edit: func(l [][]ops.Op) { l[0][4].Uses[0].Bytes, l[0][4].Uses[1].Bytes = 6, 6 }},
	{name: "own shard copied from itself", ranks: gatherOfBoth,
		edit: func(l [][]ops.Op) { l[0][4].Uses[0].At.Rank = 0 },
		want: prove.Contents,
		text: []string{"chunk 2 of C@0 lacks matmul(A@1[0], B@0[0])"}},
	{name: "another B", ranks: gatherOfBoth, edit: func(l [][]ops.Op) {
		l[0][7].Uses[1] = ops.Use{At: ops.Loc{Buffer: "S", Offset: 0}, Bytes: 4}
	}, want: prove.Contents,
		text: []string{"lacks matmul(A@1[0], B@0[0])"}},
	{name: "part of B", ranks: gatherOfBoth, edit: func(l [][]ops.Op) { l[0][2].Uses[1].Bytes = 2 },
		want: prove.Contents},
	{name: "another form", ranks: gatherOfBoth, edit: func(l [][]ops.Op) { l[0][2].Form = "linear" },
		want: prove.Contents},
	{name: "sizes that don't fit", ranks: gatherOfBoth, edit: func(l [][]ops.Op) { l[0][2].Uses[0].Bytes = 4 },
		want: prove.Contents},
	{name: "adds to what nobody wrote",
		ranks: []string{"main post ready 1; main C[0:8] += A * B; main wait ready 1; main S[0:8] = A@1; main " +
			"post read 1; main wait read 1; main C[8:16] = S[0:8] * B", gatherOfOne},
		want: prove.Contents, text: []string{"nothing in this run has written"}},
	{name: "adds a second time", ranks: []string{"main post ready 1; main C[0:8] = A * B; main C[0:8] += A * B; " +
		"main wait ready 1; main S[0:8] = A@1; main post read 1; main wait read 1; main C[8:16] = S[0:8] * B",
		gatherOfOne},
		want: prove.Contents, text: []string{"chunk 0 of C@0 has more than once matmul(A@0[0], B@0[0])"}},
}

// applied is rank 0's list with a function of a chunk, whose result is the product's, behind the copy.
func applied(list []ops.Op, of ops.Use) []ops.Op {
	relu := list[4]
	relu.Kind, relu.Form = ops.Apply, schedule.ReLU().Word
	relu.Uses = []ops.Use{of, {Write: true, At: ops.Loc{Buffer: "C"}, Bytes: 8}}
	return slices.Insert(slices.Clone(list), 5, relu)
}

func TestContents(t *testing.T) {
	model.Computes = gathers
	defer func() { model.Computes = nil }()

	for _, c := range contentsCases {
		t.Run(c.name, c.run)
	}
}

// A run must not use rows that the run before gathered, though they lie in the same place
// and nothing races.
func TestContentsStale(t *testing.T) {
	model.Computes = computation("matmul", 4, tensor("A", schedule.Dim(schedule.M), schedule.Dim(schedule.K)), wholeB,
		wholeC)
	model.Computes.Extents["D"] = 1
	model.Buffers[0].Bytes = 16
	defer func() { model.Computes, model.Buffers[0].Bytes = nil, 8 }()
	listCase{ranks: []string{"main C[0:16] = S[0:16] * B; main S[0:16] = A"}, want: prove.Contents,
		text: []string{"nothing in this run has written"}}.run(t)
	listCase{ranks: []string{"main S[0:16] = A; main C[0:16] = S[0:16] * B"}}.run(t)
}

// Each rank's A is whole, C its rows of the sum of both; the peer's rows are put into
// the second half of S.
func TestContentsReduced(t *testing.T) {
	model.Computes = computation("sum", 4, tensor("A", schedule.Dim(schedule.D, schedule.DIDx(schedule.D)),
		schedule.Dim(schedule.M), schedule.Dim(schedule.N)),
		tensor("C", sharded, schedule.Dim(schedule.N)))
	model.Buffers[0].Bytes, model.Buffers[2].Bytes = 16, 8
	defer func() { model.Computes, model.Buffers[0].Bytes, model.Buffers[2].Bytes = nil, 8, 16 }()
	put := func(peer, theirs, sum string) string {
		return "main post ready " + peer + "; main wait ready " + peer + "; main S@" + peer + "[8:16] = A[" + theirs +
			"]; main post read " + peer +
			"; main wait read " + peer + "; main C[0:8] = " + sum
	}
	first, second := put("1", "8:16", "A[0:8] + S[8:16]"), put("0", "0:8", "S[8:16] + A[8:16]")
	for _, c := range []listCase{
		{name: "in order", ranks: []string{first, second}},
		{name: "in another order", ranks: []string{first, put("0", "0:8", "A[8:16] + S[8:16]")}, want: prove.Contents,
			text: []string{"chunk 0 of C@1 is (A@1[2] + A@0[2]), but the schedule promises one sum in " +
				"the order of ranks"}},
		{name: "one term twice", ranks: []string{put("1", "8:16", "A[0:8] + S[8:16] + S[8:16]"), second},
			want: prove.Contents,
			text: []string{"chunk 0 of C@0 has more than once A@1[0]"}},
		{name: "one term missing", ranks: []string{put("1", "8:16", "A[0:8] + A[8:16]"), second}, want: prove.Contents,
			text: []string{"chunk 0 of C@0 lacks A@1[0]; has what does not belong there, A@0[2]"}},
		{name: "the wrong rows put", ranks: []string{put("1", "0:8", "A[0:8] + S[8:16]"), second}, want: prove.Contents,
			text: []string{"chunk 0 of C@1"}},
		{name: "a put without leave", ranks: []string{first,
			"main S@0[8:16] = A[0:8]; main post ready 0; main wait ready 0; main post read 0; main wait read 0; main " +
				"C[0:8] = S[8:16] + A[8:16]"},
			want: prove.Window},
		{name: "sizes that don't fit", ranks: []string{put("1", "8:16", "A[0:4] + S[8:16]"), second},
			want: prove.Contents},
	} {
		t.Run(c.name, c.run)
	}
}

// A write that no rule of the table covers is refused.
func TestContentsUnknown(t *testing.T) {
	defer func() { model.Computes = nil }()
	strange := computation("matmul", 4, tensor("A", sharded, schedule.Dim(schedule.K)), wholeB, wholeC)
	strange.Schedule.Ops[0].Index = "mk,kn->nm"
	for name, c := range map[string]*prove.Computation{
		"operation": strange,
		"rows cut otherwise": computation("matmul", 4, tensor("A", schedule.Dim(schedule.K),
			schedule.Dim(schedule.M, schedule.DIDx(schedule.D))), wholeB, wholeC),
		"no such extent": computation("matmul", 4,
			tensor("A", schedule.Dim("Q"), schedule.Dim(schedule.K)), wholeB, wholeC),
		"more rows than there is room for": computation("matmul", 8, tensor("A", sharded, schedule.Dim(schedule.K)),
			wholeB, wholeC),
	} {
		model.Computes = c
		listCase{name: name, ranks: []string{gather("0", "1", "0:8", "8:16"), gather("1", "0", "8:16", "0:8")},
			want: prove.Contents}.run(t)
	}
}

package prove_test

import (
	"testing"

	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// C's four rows of 4 bytes are made of both ranks' two rows of A of 4 bytes.
var result = prove.Result{C: "C", A: "A", B: "B", RowC: 4, RowA: 4, Sharded: true}

// gather is a safe all-gather and product of a rank and its peer's, with places for
// what a mistake changes.
func gather(r, peer, own, others string) string {
	return "main post ready " + peer + "; main C[" + own + "] = A * B; main wait ready " + peer + "; main S[0:8] = A@" + peer +
		"; main post read " + peer + "; main wait read " + peer + "; main C[" + others + "] = S[0:8] * B"
}

func TestContents(t *testing.T) {
	model.Result = &result
	defer func() { model.Result = nil }()
	second := gather("1", "0", "8:16", "0:8")
	both := []string{gather("0", "1", "0:8", "8:16"), second}
	for _, c := range []listCase{
		{name: "gather and multiply", ranks: both},
		{name: "chunks swapped", ranks: []string{gather("0", "1", "8:16", "0:8"), second}, want: prove.Contents,
			text: []string{"row 0 of C@0 is made of row 0 of rank 1's A of run 1, where row 0 of rank 0's A of run 1 is meant"}},
		{name: "a chunk twice", ranks: []string{gather("0", "1", "0:8", "0:8"), second}, want: prove.Contents, text: []string{"bytes 0 to 8 of C@0 are written twice"}},
		{name: "a chunk missing", ranks: both, edit: func(l [][]ops.Op) { l[0] = append(l[0][:7:7], l[0][8:]...) }, want: prove.Contents,
			text: []string{"bytes 8 to 16 hold what nothing in this run has written"}},
		{name: "gathered after the product", ranks: both, edit: func(l [][]ops.Op) { l[0][4], l[0][7] = l[0][7], l[0][4] }, want: prove.Window},
		{name: "multiplied ahead of the gather", ranks: both, edit: func(l [][]ops.Op) { l[0] = append(append(l[0][:1:1], l[0][7]), append(l[0][1:7:7], l[0][8])...) },
			want: prove.Contents, text: []string{"nothing in this run has written", "missing: a write of these bytes"}},
		{name: "half of the shard", ranks: both, edit: func(l [][]ops.Op) { l[0][4].Uses[0].Bytes, l[0][4].Uses[1].Bytes = 4, 4 }, want: prove.Contents},
		{name: "rows swapped", ranks: both, want: prove.Contents, text: []string{"row 2 of C@0"},
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
		{name: "half a row", ranks: both, want: prove.Contents,
			edit: func(l [][]ops.Op) { l[0][4].Uses[0].Bytes, l[0][4].Uses[1].Bytes = 6, 6 }},
		{name: "own shard copied from itself", ranks: both, edit: func(l [][]ops.Op) { l[0][4].Uses[0].At.Rank = 0 }, want: prove.Contents,
			text: []string{"row 2 of C@0 is made of row 0 of rank 0's A"}},
		{name: "another B", ranks: both, edit: func(l [][]ops.Op) { l[0][2].Uses[1] = ops.Use{At: ops.Loc{Buffer: "S", Offset: 8}, Bytes: 4} }, want: prove.Contents,
			text: []string{"where B of its rank and run"}},
		{name: "part of B", ranks: both, edit: func(l [][]ops.Op) { l[0][2].Uses[1].Bytes = 2 }, want: prove.Contents},
		{name: "no operand", ranks: both, edit: func(l [][]ops.Op) { l[0][2].Uses = l[0][2].Uses[1:] }, want: prove.Contents},
		{name: "sizes that don't fit", ranks: both, edit: func(l [][]ops.Op) { l[0][2].Uses[0].Bytes = 4 }, want: prove.Contents},
	} {
		t.Run(c.name, c.run)
	}
}

// What was gathered in the run before is not what this run has to use, though it lies
// in the same place and nothing races.
func TestContentsStale(t *testing.T) {
	model.Result = &prove.Result{C: "C", A: "A", B: "B", RowC: 8, RowA: 4}
	defer func() { model.Result = nil }()
	listCase{ranks: []string{"main C[0:16] = S[0:8] * B; main S[0:8] = A"}, want: prove.Contents, text: []string{"nothing in this run has written"}}.run(t)
	listCase{ranks: []string{"main S[0:8] = A; main C[0:16] = S[0:8] * B"}}.run(t)
}

package ops_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/ops"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The golden files are what rank 1 of three enqueues for C[6,4] = A[6,5] * B in
// fp32: two rows a rank.
func TestUnroll(t *testing.T) {
	nvfuser := catalog.AllGatherLinear
	nvfuser.Moves = []schedule.Move{{Of: "A", Way: schedule.Naive{Copied: true, SignalsInStep: true,
		HandlesInLoop: true, WithStep: true, Streams: 2}}}
	for name, s := range map[string]schedule.Schedule{
		"allgathermatmul": catalog.AllGatherMatmul,
		"kernels":         catalog.AllGatherLinearKernels,
		"nvfuser":         nvfuser,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := lower.Lower(name, s)
			if err != nil {
				t.Fatal(err)
			}
			list, err := ops.Unroll(p, ops.Case{Ranks: 3, Rank: 1, ElementBits: 32,
				Extents: hostir.Env{"M": 6, "K": 5, "N": 4}})
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".txt")
			got := ops.Lines(list)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("operations differ (-want +got; -update if meant):\n%s", diff)
			}
		})
	}
}

// Every list is well formed: events are recorded before they are waited for, and
// each post of a rank is awaited by its peer.
func TestUnrolledListsFit(t *testing.T) {
	for d := 1; d <= 8; d++ {
		p, err := lower.Lower("AllGatherLinear", catalog.AllGatherLinear)
		if err != nil {
			t.Fatal(err)
		}
		posts, waits := map[ops.Loc]int{}, map[ops.Loc]int{}
		for r := range d {
			list, err := ops.Unroll(p, ops.Case{Ranks: d, Rank: r, ElementBits: 16,
				Extents: hostir.Env{"M": int64(2 * d), "K": 3, "N": 4}})
			if err != nil {
				t.Fatal(err)
			}
			recorded := map[int]bool{}
			for _, o := range list {
				if o.Kind == ops.Record {
					recorded[o.Event] = true
				}
				if o.Kind == ops.WaitEvent && !recorded[o.Event] {
					t.Errorf("%d ranks, rank %d: event %d is waited for before it is recorded", d, r, o.Event)
				}
				for _, w := range o.Words {
					switch {
					case !w.Write:
						waits[w.At]++
					case w.Value == 1 && w.At.Rank != r:
						posts[w.At]++
					}
				}
			}
		}
		if diff := cmp.Diff(waits, posts); diff != "" {
			t.Errorf("%d ranks: words waited for and posted differ (-waits +posts):\n%s", d, diff)
		}
	}
}

func TestUnrollRefuses(t *testing.T) {
	none, one := hostir.Const(0), hostir.Const(1)
	for name, x := range map[string]struct {
		node hostir.Node
		want string
	}{
		"unknown buffer":   {hostir.Set(hostir.StreamRef{}, hostir.Whole("X"), hostir.Whole("X")), "no buffer X"},
		"unknown variable": {hostir.Let{Name: "x", Value: hostir.Var("q")}, "q has no value"},
		"nil":              {nil, "nil"},
		"columns of a buffer of rows": {
			hostir.Set(hostir.StreamRef{}, hostir.Columns("A", one), hostir.Chunk("A", none)),
			"A[:, 1]: chunks are parts of columns where the buffer has rows for them"},
		"rows of a buffer of columns": {hostir.Set(hostir.StreamRef{}, hostir.Chunk("A", none), hostir.Chunk("C", one)),
			"C[1]: chunks are parts of columns where the buffer has rows for them"},
		"columns of a product": {hostir.Multiply(hostir.StreamRef{}, hostir.Linear, hostir.Whole("A"),
			hostir.Whole("A"), hostir.Columns("C", one)), "only a copy by the copy engine takes a part of the columns"},
	} {
		list, err := ops.Unroll(&hostir.Program{Name: "Broken", Body: []hostir.Node{x.node}, Buffers: []hostir.Buffer{
			{Name: "A", Elements: hostir.Const(8), Chunk: hostir.Const(4)},
			{Name: "C", Elements: hostir.Const(8), Chunk: hostir.Const(4), Rows: hostir.Const(2)}}}, ops.Case{Ranks: 2})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %d operations and %v, want %q", name, len(list), err, x.want)
		}
	}
}

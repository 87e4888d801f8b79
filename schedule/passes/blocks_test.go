package passes_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// A kernel of the caller's that some shape would launch with no block is refused, with the multiple to state.
func TestBlocks(t *testing.T) {
	for _, x := range []struct {
		blocks string
		of     map[schedule.Extent]string
		want   string // nothing: it is lowered
	}{
		{"M*(N/D)", nil, ""},
		{"(M+63)/64", nil, ""},
		{"(M*N/D+255)/256", nil, ""},
		{"N/D/128", nil, `Ops[1].Kernel.Blocks: "N/D/128", of O, are 0 blocks at N = 1, D = 1 ` +
			`(state Multiples, of N "128*D", or round up as (M+63)/64 does)`},
		{"N/D/128", map[schedule.Extent]string{"N": "64*D"}, `Ops[1].Kernel.Blocks: "N/D/128", of O, are 0 blocks ` +
			`at N = 64, D = 1 (state Multiples with which it is 1 at least, or round up as (M+63)/64 does)`},
		{"N/D/128", map[schedule.Extent]string{"N": "128*D"}, ""},
		{"M*(N/D/W)", map[schedule.Extent]string{"N": "W*D"}, ""},
		{"M*(N/D/W)", nil, `Ops[1].Kernel.Blocks: "M*(N/D/W)", of O, are 0 blocks at W = 4096, M = 1, N = 1, D = 1 ` +
			`(state Multiples, of N "W*D", or round up as (M+63)/64 does)`},
		{"M/2", map[schedule.Extent]string{"K": "2"}, `Ops[1].Kernel.Blocks: "M/2", of O, are 0 blocks at M = 1, ` +
			`D = 1 (state Multiples, of M "2", or round up as (M+63)/64 does)`},
		{"0*M", nil, `Ops[1].Kernel.Blocks: "0*M", of O, are 0 blocks at M = 1, D = 1 ` +
			`(state Multiples with which it is 1 at least, or round up as (M+63)/64 does)`},
	} {
		s := schedule.Schedule{Multiples: x.of,
			Tensors: append(scheduletest.Tensors("A[M K] W[N/D K] Wo[K N/D] C[M K]"),
				schedule.Tensor{Name: "Q", Axes: []schedule.Axis{schedule.Dim(schedule.W)}}),
			Ops: []schedule.Op{schedule.Linear("H", "A", "W"), schedule.CallKernel("O", "Scale", "mn,w->mn",
				schedule.Kernel{File: "own.cu", Name: "scale", Blocks: x.blocks}, "H", "Q"),
				schedule.Linear("C", "O", "Wo")}}
		got := ""
		if _, err := lower.Lower("X", s); err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%q, %v:\ngot  %s\nwant %s", x.blocks, x.of, got, x.want)
		}
	}
}

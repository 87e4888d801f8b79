package explore_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// A sum whose own rows go on in two parts through a norm to the next product: the prover and the explorer agree on what
// each part needs.
func TestAcross(t *testing.T) {
	s := schedule.Schedule{Tensors: scheduletest.Tensors("A[M K/D] B[N K/D] Norm[N] B2[K/D N] C[M:D K/D]"),
		Ops: []schedule.Op{schedule.Linear("X", "A", "B"), schedule.Copy("Y", "X", schedule.RMSNorm("Norm")),
			schedule.Linear("C", "Y", "B2")},
		Moves: []schedule.Move{{Of: "X", Way: schedule.Slots{Parts: 2}}}}
	// place is that of the n-th operation of a kind on a stream, from 0.
	place := func(l []ops.Op, kind ops.Kind, stream string, n int) int {
		for i, o := range l {
			if o.Kind != kind || o.Stream != stream {
				continue
			}
			if n == 0 {
				return i
			}
			n--
		}
		t.Fatalf("no %s %d on %s:\n%s", kind, n, stream, ops.Lines(l))
		return 0
	}
	const partials, product = 1, 2 // on main, of part 1 of the own rows, and of part 0 of the next operation
	agree(t, "Across", s, []change{
		{"as they are", func(l []ops.Op) []ops.Op { return l }, ""},
		{"a product before its part is normed", func(l []ops.Op) []ops.Op {
			from, to := place(l, ops.Product, "main", product), place(l, ops.Product, "main", partials)
			o := l[from]
			return slices.Insert(slices.Delete(l, from, from+1), to, o)
		}, prove.Race},
		{"a sum before the partial results of its part", func(l []ops.Op) []ops.Op {
			i := place(l, ops.Product, "main", partials)
			for j := i; ; j++ { // put waits for them after main has waited for put
				if l[j].Kind == ops.WaitEvent && l[j].Stream == "put" {
					return slices.Delete(l, j, j+1)
				}
			}
		}, prove.Race},
		{"both norms of one part", func(l []ops.Op) []ops.Op {
			a, b := place(l, ops.Apply, "put", 0), place(l, ops.Apply, "put", 1)
			l[b].Uses = slices.Clone(l[b].Uses)
			l[b].Uses[0] = l[a].Uses[0]
			return l
		}, prove.Contents},
		{"peers may read before the second norm", func(l []ops.Op) []ops.Op {
			norm := place(l, ops.Apply, "put", 1)
			for j := norm; ; j++ {
				if l[j].Kind == ops.Signal && l[j].Stream == "put" {
					o := l[j]
					return slices.Insert(slices.Delete(l, j, j+1), norm, o)
				}
			}
		}, prove.Race},
	})
}

package explore_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// An operand of which each rank has some columns is gathered for a product: the prover and the explorer agree on where
// the columns lie.
func TestColumnsOfOperands(t *testing.T) {
	columns := func(l []ops.Op, own bool) int {
		return slices.IndexFunc(l, func(o ops.Op) bool {
			return o.Kind == ops.Copy && (o.Uses[0].At.Rank == o.Uses[1].At.Rank) == own
		})
	}
	for name, tensors := range map[string]string{
		"first": "A[M K/D] B[N K] C[M N]", "second": "A[M K] B[N K/D] C[M N]"} {
		t.Run(name, func(t *testing.T) {
			s := scheduletest.Usual("linear", schedule.Schedule{Tensors: scheduletest.Tensors(tensors)})
			agree(t, "Columns", s, []change{
				{"as they are", func(l []ops.Op) []ops.Op { return l }, ""},
				{"a peer's columns in the place of the own", func(l []ops.Op) []ops.Op {
					own, peers := columns(l, true), columns(l, false)
					l[own].Uses[1].At.Offset, l[peers].Uses[1].At.Offset = l[peers].Uses[1].At.Offset,
						l[own].Uses[1].At.Offset
					return l
				}, prove.Contents},
			})
		})
	}
}

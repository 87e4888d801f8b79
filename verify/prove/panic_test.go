package prove_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/verify/ops/opstest"
	"ovgen/verify/prove"
)

// The prover has an answer for every list: proven, or a counterexample, or an error.
func TestNoPanic(t *testing.T) {
	for name, s := range map[string]schedule.Schedule{"AllToAllV": catalog.AllToAllV,
		"ReduceScatterV":   catalog.ReduceScatterV,
		"AllGatherVPadded": catalog.AllGatherVPadded, "LinearReduceScatterRing": catalog.LinearReduceScatterRing,
		"AllReduceOneShot":        catalog.AllReduceOneShot,
		"LinearReduceScatterNCCL": catalog.LinearReduceScatterNCCL} {
		m, lists, err := prove.Unroll(program(t, name, s), 3)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				_, err := prove.Lists(t.Context(), m, opstest.Spoil(r, lists), 2)
				if c := (*prove.Counterexample)(nil); errors.As(err, &c) {
					_ = c.Error()
				}
			})
		})
	}
}

// A use that is shifted by its own size, into room that no count fills, is not whole
// chunks.
func TestBesideTheCounts(t *testing.T) {
	for _, d := range []int{2, 3} {
		m, lists, err := prove.Unroll(program(t, "AllToAllV", catalog.AllToAllV), d)
		if err != nil {
			t.Fatal(err)
		}
		beside := 0
		for r, list := range lists {
			for i, o := range list {
				for j, u := range o.Uses {
					for _, by := range []int64{u.Bytes, -u.Bytes} {
						c := o
						c.Uses = slices.Clone(o.Uses)
						c.Uses[j].At.Offset += by
						spoilt := slices.Clone(lists)
						spoilt[r] = slices.Clone(list)
						spoilt[r][i] = c
						var wrong *prove.Counterexample
						if _, err := prove.Lists(t.Context(), m, spoilt, 2); !errors.As(err, &wrong) {
							t.Errorf("rank %d: %s: %v", r, c, err)
						} else if strings.Contains(wrong.Problem, "not whole chunks") {
							beside++
						}
					}
				}
			}
		}
		if beside == 0 {
			t.Errorf("D = %d: no use lies beside the counts", d)
		}
	}
}

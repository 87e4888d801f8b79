//go:build cgo

package programtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/generated/programs"
	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// TestBalancedRows runs what takes any number of rows, also fewer than there are ranks.
func TestBalancedRows(t *testing.T) {
	for _, name := range []string{"allgatherlinearbalanced", "linearreducescatterbalanced",
		"linearreducescatterbalancedoneshot", "allgatherlinearbalancedonce"} {
		i := slices.IndexFunc(programs.All, func(p harness.Program) bool { return p.Name == name })
		p := &programs.All[i]
		for _, x := range []struct{ ranks, rows int }{{2, 1}, {3, 7}, {4, 6}, {5, 3}} {
			s := harness.Shape{M: x.rows, K: 8 * x.ranks, N: 12, Type: driver.BF16}.Fit(p, x.ranks)
			synctest.Test(t, func(t *testing.T) {
				if err := runShape(t.Context(), p, s, x.ranks, 1, uint64(x.rows)); err != nil {
					t.Errorf("%s, %d ranks, %d rows: %v", name, x.ranks, x.rows, err)
				}
			})
		}
	}
}

// TestLongRows makes norms of rows that fill a block's threads once and twice, and of longer ones, whose packets are
// sent in turns.
func TestLongRows(t *testing.T) {
	for _, name := range []string{"allreducenorm", "allreducenormtwoshot"} {
		i := slices.IndexFunc(programs.All, func(p harness.Program) bool { return p.Name == name })
		p := &programs.All[i]
		for _, columns := range []int{2048, 4096, 4104, 6144, 8192, 12288} {
			for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
				s := harness.Shape{M: 4, N: columns, Type: typ}.Fit(p, 2)
				synctest.Test(t, func(t *testing.T) {
					if err := runShape(t.Context(), p, s, 2, 1, uint64(columns)); err != nil {
						t.Errorf("%s, %d columns of %s: %v", name, columns, typ, err)
					}
				})
			}
		}
	}
}

// TestFewRows decodes: from one row on, whether or not the ranks divide the rows, of the sums that leave every rank
// all of them.
func TestFewRows(t *testing.T) {
	for _, name := range []string{"allreduceoneshot", "allreducetwoshot", "allreduceinplace", "linearallreduceoneshot",
		"linearallreducetwoshot"} {
		i := slices.IndexFunc(programs.All, func(p harness.Program) bool { return p.Name == name })
		p := &programs.All[i]
		for ranks := 2; ranks <= 4; ranks++ {
			t.Run(fmt.Sprintf("%s, %d ranks", name, ranks), func(t *testing.T) {
				rows := []int{1, 2, 3, 5, 7, 65}
				if name == "allreduceoneshot" || name == "allreduceinplace" { // which have no product, or a like above
					rows = []int{1, 65}
				}
				for _, rows := range rows {
					s := harness.Shape{M: rows, K: 12, N: 12, Type: driver.BF16}.Fit(p, ranks)
					synctest.Test(t, func(t *testing.T) {
						if err := runShape(t.Context(), p, s, ranks, 1, uint64(rows)); err != nil {
							t.Errorf("%d rows: %v", rows, err)
						}
					})
				}
				s := harness.Shape{M: ranks + 1, K: 24, N: 48*ranks + 1, Type: driver.BF16}.Fit(p, ranks)
				if err := p.Fits(s, ranks); strings.HasSuffix(name, "oneshot") != (err == nil) ||
					err != nil && !strings.Contains(err.Error(), "M times N is") {
					t.Errorf("a sum that can't be cut: %v", err)
				}
			})
		}
	}
}

package prove

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// A row that a formula reads by column is as long as the rows of its result: a block's row has a block's columns.
func TestRowsOfOperands(t *testing.T) {
	use := func(name string, bytes int64) ops.Use {
		return ops.Use{At: ops.Loc{Buffer: name}, Bytes: bytes, Write: name == "C"}
	}
	for row, fits := range map[int64]bool{16: true, 8: false, 32: false} {
		of, beside, to := use("A", 64), use("V", 2*row), use("C", 64)
		o := &ops.Op{Kind: ops.Apply, Uses: []ops.Use{of, beside, to}, Lies: []schedule.Lies{schedule.ByColumn},
			Columns: 16}
		one := func(u ops.Use) *chunks { return &chunks{Use: u, sizes: []int64{u.Bytes}, element: 16} }
		why := (&symbols{}).unlike(o, []*chunks{one(beside)}, one(to))
		if fits != (why == "") || !fits && !strings.Contains(why, "is none of a result with rows of 16") {
			t.Errorf("a row of %d: %q", row, why)
		}
	}
}

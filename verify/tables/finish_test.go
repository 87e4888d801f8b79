package tables

import (
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

// TestFinish: for each block's part a sum by blocks reads the same elements of an operand in place, all of an operand
// by column, and of an operand by row one number for each row that the part has elements of.
func TestFinish(t *testing.T) {
	table := kernels.Table{Peers: 2, Types: []driver.Type{driver.BF16}, Kernels: []kernels.Kernel{{Kind: kernels.Push,
		Terms: 1, Added: 1, ByBlocks: true, Finish: &kernels.Made{Key: "k", Word: "f", Operands: []kernels.Operand{
			{Lies: kernels.ByRow, Type: driver.FP32}, {}, {Lies: kernels.ByColumn}}}}}}
	k := table.Code()[0]
	l := k.Row.(kernels.Row)
	p := make([]uint64, l.At.Size)
	const columns, elements, blocks = 96, 5 * 96, 4
	p[l.At.Block], p[l.At.Dst], p[l.At.Bytes], p[l.At.N] = blocks, 100_000, elements, 1
	p[l.At.Terms], p[l.At.Lands.Added] = 200_000, 300_000
	for i, x := range []uint64{10_000, 20_000, 30_000, columns} {
		p[l.At.Finish+i] = x
	}
	if k.Finish != "k" || k.FinishEnd != l.At.Finish+4 {
		t.Errorf("numbers of %q end with parameter %d, and its operands begin with %d", k.Finish, k.FinishEnd,
			l.At.Finish)
	}
	var want []touch.Touch
	for b := range int64(blocks) {
		from, bytes := kernels.Part(2*elements, b, blocks)
		data := func(kind touch.Kind, at, bytes int64, typ driver.Type) touch.Touch {
			return touch.Touch{Kind: kind, At: driver.Ptr(at), Bytes: bytes, Type: typ, Block: int(b) + 1}
		}
		first, last := from/2/columns, ((from+bytes)/2-1)/columns
		want = append(want, data(touch.Read, 200_000+from, bytes, driver.BF16),
			data(touch.Read, 300_000+from, bytes, driver.BF16),
			data(touch.Read, 10_000+4*first, 4*(last-first+1), driver.FP32),
			data(touch.Read, 20_000+from, bytes, driver.BF16), data(touch.Read, 30_000, 2*columns, driver.BF16),
			data(touch.Write, 100_000+from, bytes, driver.BF16))
	}
	if got := touched(t, k, p); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

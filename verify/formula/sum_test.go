package formula

import "testing"

// roundings are the most roundings that a number goes through in a sum of that many columns, counted as kernels add:
// 512 parts at most take units of 8 columns in turn, and then are added by halves.
func roundings(width int) float64 {
	parts := 1
	for parts < 512 && parts*8 < width {
		parts *= 2
	}
	most := make([]int, parts) // of a number that is in a part already; -1: none is
	for i := range most {
		most[i] = -1
	}
	for i := range (width + 7) / 8 * 8 { // columns beyond the width are as none
		most[i/8%parts]++
	}
	for half := parts / 2; half > 0; half /= 2 {
		for i := range half {
			most[i] = max(most[i], most[i+half]) + 1
		}
	}
	return float64(most[0])
}

// TestDepthCounted: a sum has as many roundings as are counted, no more and no fewer.
func TestDepthCounted(t *testing.T) {
	for _, width := range []int{1, 7, 8, 9, 16, 24, 40, 96, 128, 1000, 4088, 4096, 4104, 8192, 16384, 20000} {
		if got, want := depth(width), roundings(width); got != want {
			t.Errorf("a sum of %d columns is of %g roundings, want %g", width, got, want)
		}
	}
}

// TestSumEnds: the ends of a sum are off by shares of their own sizes, whatever the other end is; and what has more
// digits than fp32 is not one value.
func TestSumEnds(t *testing.T) {
	const n, most = 1000, 0x1p20
	least, greatest := make([]Value, n), make([]Value, n)
	for i := range n {
		least[i], greatest[i] = Value{1, 1, most}, Value{-1, -most, -1}
	}
	if v := sum(least); v.Lo < n*(1-0x1p-16) || v.Lo > n || v.Hi < n*most || v.Hi > n*most*(1+0x1p-16) {
		t.Errorf("a sum from %d is %v", n, v)
	}
	if v := sum(greatest); v.Hi > -n*(1-0x1p-16) || v.Hi < -n || v.Lo > -n*most || v.Lo < -n*most*(1+0x1p-16) {
		t.Errorf("a sum up to %d is %v", -n, v)
	}
	if v := sum([]Value{Point(0x1p24), Point(1)}); v.IsPoint() {
		t.Errorf("a sum of 25 digits is %v in any order", v)
	}
	if v := sum([]Value{Point(0x1p24 - 1), Point(1)}); v != Point(0x1p24) {
		t.Errorf("a sum of 24 digits is %v", v)
	}
}

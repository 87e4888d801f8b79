package driver

import "testing"

// Memory of elements that share a byte is measured in bits, and never too small.
func TestWholeBytes(t *testing.T) {
	for bits, bytes := range map[int64]int64{0: 0, 8: 1, 4 * 6: 3, 16: 2} {
		if got := wholeBytes(bits); got != bytes {
			t.Errorf("%d bits are %d bytes, want %d", bits, got, bytes)
		}
	}
	for _, bits := range []int64{4, 3 * 4, 12} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d bits are taken for whole bytes", bits)
				}
			}()
			wholeBytes(bits)
		}()
	}
}

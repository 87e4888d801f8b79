package driver

import "testing"

// Memory of elements that share a byte is measured in bits, and never too small.
func TestWholeBytes(t *testing.T) {
	for n, bytes := range map[int]int64{0: 0, 2: 1, 6: 3} {
		if got := E2M1.Bytes(n); got != bytes {
			t.Errorf("%d elements of 4 bits are %d bytes, want %d", n, got, bytes)
		}
	}
	for _, n := range []int{1, 3, 7} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d elements of 4 bits are taken for whole bytes", n)
				}
			}()
			E2M1.Bytes(n)
		}()
	}
}

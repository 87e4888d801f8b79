package driver

import "testing"

// Memory of elements that share a byte is measured in bits, and never too small.
func TestWholeBytes(t *testing.T) {
	const nibble = Type(0)
	elements[nibble] = element{name: "nibble", exponent: 2, digits: 2}
	defer func() { elements[nibble] = element{} }()
	for n, bytes := range map[int]int64{0: 0, 2: 1, 6: 3} {
		if got := nibble.Bytes(n); got != bytes {
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
			nibble.Bytes(n)
		}()
	}
}

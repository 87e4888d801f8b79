package alike

import (
	"bytes"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// memory is a device's, from address 1 on.
type memory struct {
	driver.Driver
	bytes []byte
}

func (m memory) StreamSynchronize(driver.Stream) error { return nil }

func (m memory) MemcpyDtoH(to []byte, from driver.Ptr) error {
	copy(to, m.bytes[from-1:])
	return nil
}

// TestSums: each byte of an operand counts, in its first piece, in its last and between, and no byte behind it.
func TestSums(t *testing.T) {
	const size = 2*piece + 5
	m := memory{bytes: make([]byte, size+1)}
	operands := []plan.BufferPart{{Name: "Norm", At: []driver.Ptr{0, 1}, Bytes: size}}
	sum := func() []byte {
		list, err := sums(m, operands, 1, 0)
		if err != nil || len(list) != sumBytes {
			t.Fatalf("%d bytes, %v", len(list), err)
		}
		return list
	}
	same := sum()
	for _, at := range []int{0, piece - 1, piece, 2*piece - 1, 2 * piece, size - 1, size} {
		m.bytes[at] = 1
		if differs := !bytes.Equal(sum(), same); differs != (at < size) {
			t.Errorf("byte %d of %d is another: the sum differs: %t", at, size, differs)
		}
		m.bytes[at] = 0
	}
}

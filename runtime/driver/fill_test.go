package driver_test

import (
	"encoding/binary"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// host is a driver whose memory is a slice, from address 0 on.
type host struct {
	driver.Driver
	memory []byte
}

func (h *host) MemcpyHtoD(to driver.Ptr, from []byte) error {
	copy(h.memory[to:], from)
	return nil
}

func (h *host) MemcpyDtoDAsync(to, from driver.Ptr, bytes int64, _ driver.Stream) error {
	copy(h.memory[to:int64(to)+bytes], h.memory[from:int64(from)+bytes])
	return nil
}

func (h *host) MemsetD32Async(to driver.Ptr, value uint32, count int64, _ driver.Stream) error {
	for i := range count {
		binary.LittleEndian.PutUint32(h.memory[int64(to)+4*i:], value)
	}
	return nil
}

func (h *host) Memcpy2DAsync(c driver.Memcpy2D, _ driver.Stream) error {
	for row := range c.Height {
		to, from := int64(c.Dst)+row*c.DstPitch, int64(c.Src)+row*c.SrcPitch
		copy(h.memory[to:to+c.Width], h.memory[from:from+c.Width])
	}
	return nil
}

func (h *host) StreamSynchronize(driver.Stream) error { return nil }

// TestOrderShows: sums of the numbers that products in order are compared by have other bits in 16 bits where an
// accumulator adds the depth from the back, by steps of 64, or in halves.
func TestOrderShows(t *testing.T) {
	const rows, columns, sampled = 256, 512, 16
	for _, typ := range []driver.Type{driver.BF16, driver.FP16} {
		for _, depth := range []int{128, 512, 4096, 8192, 16384} {
			for _, transposed := range []bool{true, false} {
				a, b := int64(rows*depth)*2, int64(columns*depth)*2
				d := &host{memory: make([]byte, a+b+4*columns)}
				m := driver.MatmulDesc{M: rows, K: depth, N: columns, Type: typ, Transposed: transposed}
				if err := driver.Fill(d, 0, a+b, typ, 0); err != nil {
					t.Fatal(err)
				}
				if err := driver.Cancel(d, m, rows, driver.Operands{B: driver.Ptr(a)}, driver.Ptr(a+b), 0); err != nil {
					t.Fatal(err)
				}
				numbers, err := reference.Decode(typ, d.memory[:a+b])
				if err != nil {
					t.Fatal(err)
				}
				back, halves := 0, 0
				for i := range sampled * sampled {
					row, column := i/sampled*(rows/sampled), i%sampled*(columns/sampled)
					term := func(k int) float64 {
						at := column*depth + k
						if !transposed {
							at = k*columns + column
						}
						return float64(numbers[row*depth+k]) * float64(numbers[rows*depth+at])
					}
					want := narrowed(t, typ, sum(term, 0, depth, 1))
					back += differs(narrowed(t, typ, sum(term, 0, depth, -1)), want)
					halves += differs(narrowed(t, typ, sum(term, 0, depth/2, 1)+sum(term, depth/2, depth, 1)), want)
				}
				if least := sampled * sampled / 8; back < least || halves < least {
					t.Errorf("%s, depth %d, transposed %t: of %d sums %d show the other direction and %d halves, want "+
						"at least %d", typ, depth, transposed, sampled*sampled, back, halves, least)
				}
			}
		}
	}
}

// sum adds products of a range of the depth as one accumulator does, 16 at a time, in steps of 64 from the front or
// from the back.
func sum(term func(k int) float64, from, to, direction int) (sum float32) {
	first, last := from, to-64
	if direction < 0 {
		first, last = last, first
	}
	for step := first; direction*step <= direction*last; step += direction * 64 {
		for at := step; at < step+64; at += 16 {
			group := 0.0
			for k := at; k < at+16; k++ {
				group += term(k)
			}
			sum = float32(float64(sum) + group)
		}
	}
	return sum
}

func narrowed(t *testing.T, typ driver.Type, x float32) uint16 {
	t.Helper()
	return binary.LittleEndian.Uint16(reference.Encode(typ, []float32{x}))
}

func differs(x, y uint16) int {
	if x != y {
		return 1
	}
	return 0
}

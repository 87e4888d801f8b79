package templates

import (
	"fmt"
	"strings"
)

// filled is the result of fill, computed apart: n integers from an index on, then n reals.
func filled(seed uint32, first uint64, n int, limit uint32) string {
	var integers, reals strings.Builder
	for i := range uint64(n) {
		x := hash(seed, first+i)
		value := 0
		if x>>8 < limit {
			value = int(x&1)*2 - 1
		}
		fmt.Fprintf(&integers, "%d ", value)
		fmt.Fprintf(&reals, "%.9g ", float32(x>>8)/(1<<23)-1)
	}
	return integers.String() + reals.String()
}

// strided is the result of fill for n elements, run of every stride, added to themselves in
// that unit.
func strided(seed uint32, first uint64, n, run, stride int, limit uint32, unit int) string {
	var text strings.Builder
	for i := range n {
		value := 0
		if x := hash(seed, first+uint64(i/run*stride+i%run)); x>>8 < limit {
			value = (int(x&1)*2 - 1) * 2 * unit
		}
		fmt.Fprintf(&text, "%d ", value)
	}
	return text.String()
}

// inRows is the result of fill for n integers from an index on, in rows of a length.
func inRows(seed uint32, first uint64, n, row int, limit uint32) string {
	var text strings.Builder
	for i := range uint64(n) {
		value, times := 0, 1<<(hash(seed+1, (first+i)/uint64(row))%3)
		if x := hash(seed, first+i); x>>8 < limit {
			value = (int(x&1)*2 - 1) * times
		}
		fmt.Fprintf(&text, "%d ", value)
	}
	return text.String()
}

func hash(seed uint32, index uint64) uint32 {
	x := index*0x9E3779B97F4A7C15 + uint64(seed)*0xD1B54A32D192ED03
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	x ^= x >> 32
	return uint32(x)
}

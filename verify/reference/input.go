package reference

import (
	"cmp"
	"math"

	"ovgen/runtime/driver"
)

// Hash is the hash of an element's global index: the same number on host and device, on every rank that has the
// element.
func Hash(seed uint32, index int64) uint32 {
	x := uint64(index)*0x9E3779B97F4A7C15 + uint64(seed)*0xD1B54A32D192ED03
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	x ^= x >> 32
	return uint32(x)
}

// Input is a tensor given by its seed. Its elements are -Size, 0 or Size or, if Real, uniform in [-1, 1) with 24 bits.
type Input struct {
	Seed  uint32
	Limit uint32  // out of 1<<24: the share of elements that are not zero
	Size  float32 // a power of two; zero means 1
	Real  bool
	// Scales are 1 or 2.
	Scales bool
	// Row is the number of elements of a row; all elements of a row are 1, 2 or 4 times as large. 0: no row is larger.
	Row int
}

// At is the element with that global index, before rounding to a type.
func (in Input) At(index int64) float32 {
	if in.Row == 0 {
		return in.small(index)
	}
	return in.small(index) * float32(int(1)<<(Hash(in.Seed+1, index/int64(in.Row))%3))
}

// squaresOfRows is the mean of the squares of the factors 1, 2 and 4 of rows.
const squaresOfRows = (1 + 4 + 16) / 3.

// small is an element without the factor of its row.
func (in Input) small(index int64) float32 {
	x := Hash(in.Seed, index)
	size := cmp.Or(in.Size, 1)
	switch {
	case in.Scales:
		return float32(1 + x>>16&1)
	case in.Real:
		return float32(x>>8)/(1<<23) - 1
	case x>>8 >= in.Limit:
		return 0
	case x&1 == 1:
		return size
	}
	return -size
}

// Values are the elements [0, n) as the type holds them.
func (in Input) Values(t driver.Type, n int) Values {
	v, f := make([]float64, n), formatOf(t)
	inRows(n, 1, func(first, end int) {
		for i := first; i < end; i++ {
			v[i] = float64(f.round(in.At(int64(i))))
		}
	})
	return points(v)
}

// dense is the Limit under which no integer is zero.
const dense = 1 << 24

// Exact is the largest magnitude up to which every integer is a value of t.
func Exact(t driver.Type) int { return 1 << t.Digits() }

// sigmas is the number of standard deviations between zero and Exact: with 8, one of 1e15 elements goes beyond, and a
// check of the result finds that element.
const sigmas = 8

// Limit is the density of the integers of both operands of a product over k for which its partial sums stay exact in t:
// the sum of k products, each not zero with probability q*q, deviates by q*sqrt(k).
func Limit(k int, t driver.Type) uint32 {
	return limit(float64(Exact(t)) / sigmas / math.Sqrt(float64(max(k, 1))))
}

func limit(density float64) uint32 { return uint32(dense * min(density, 1)) }

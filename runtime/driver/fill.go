package driver

import (
	"errors"
	"math/rand/v2"
	"unsafe"
)

// OrderRows is the number of rows of the product whose bits all rows have that are made in order (MatmulDesc.InOrder).
const OrderRows = 128

// period is the number of words after which numbers repeat. It is odd, or the rows of a matrix would be the same few.
const period = 1<<18 - 3

// Fill writes numbers of ordinary size to the operands of products that are tried, since zeros draw less power and
// would make a run look faster. A product that adds to C finds such numbers there too. Fill writes a block of
// pseudo-random numbers between 1/128 and 1, of both signs, and doubles it until the memory is full.
func Fill(d Driver, p Ptr, bytes int64, t Type, s Stream) error {
	block := make([]uint32, min(bytes/4, period))
	rng := rand.New(rand.NewPCG(1, 2))
	bits, digits := int(t.Bits()), t.Digits()
	keep := uint32(1)<<(bits-1) | uint32(1)<<(digits-1) - 1 // sign and fraction
	first := uint32(1)<<(t.Exponent()-1) - 8                // the exponent of 1/128
	for i := range block {
		r, e := rng.Uint32(), rng.Uint32N(7)
		for at := 0; at < 32; at += bits {
			block[i] |= r&(keep<<at) | (first+e)<<(digits-1+at)
		}
	}
	full := int64(len(block)) * 4
	if err := d.MemcpyHtoD(p, unsafe.Slice((*byte)(unsafe.Pointer(&block[0])), full)); err != nil {
		return err
	}
	for ; full < bytes; full *= 2 {
		if err := d.MemcpyDtoDAsync(p+Ptr(full), p, min(full, bytes-full), s); err != nil {
			return err
		}
	}
	return d.StreamSynchronize(s)
}

// Cancel makes the order of a product's sums show in results of 16 bits: a sum begins with 2^18 and ends with taking it
// away, so all between is rounded at that size. For that the first and last numbers of A's rows and B's columns become
// 512, but A's last -512. with has room for the first numbers of all rows, or of all columns.
func Cancel(d Driver, m MatmulDesc, rows int, o Operands, with Ptr, s Stream) error {
	size, depth := m.Type.Size(), int64(m.K)
	across, down := depth*size, size // in B, from a column to the next, and along one
	if !m.Transposed {
		across, down = size, int64(m.N)*size
	}
	set := func(number uint32, at Ptr, across int64, count int) error {
		return errors.Join(d.MemsetD32Async(with, number|number<<16, int64(count+1)/2, s),
			d.Memcpy2DAsync(Memcpy2D{at, across, with, size, size, int64(count)}, s))
	}
	number := uint32(1<<(m.Type.Exponent()-1)+8) << (m.Type.Digits() - 1)
	return errors.Join(set(number, o.A, depth*size, rows), set(number|1<<15, o.A+Ptr((depth-1)*size), depth*size, rows),
		set(number, o.B, across, m.N), set(number, o.B+Ptr((depth-1)*down), across, m.N))
}

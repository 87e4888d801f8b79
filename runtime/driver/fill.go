package driver

import (
	"math/rand/v2"
	"unsafe"
)

// Fill writes numbers of ordinary size to the operands of products that are tried, since zeros draw less power and
// would make a run look faster. A product that adds to C finds such numbers there too. Fill writes a block of
// pseudo-random numbers between 1/128 and 1, of both signs, and doubles it until the memory is full.
func Fill(d Driver, p Ptr, bytes int64, t Type, s Stream) error {
	block := make([]uint32, min(bytes/4, 1<<18))
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

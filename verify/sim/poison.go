package sim

import (
	"encoding/binary"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// New memory is filled in steps of a chunk. Memory of more than filled bytes, a workspace of products, is filled at its
// ends alone, a chunk each, and reads as zeros between them, so that its pages are taken when they are written.
const (
	filled      = 4 << 20
	poisonChunk = 64 << 10
	odd         = 0x0101010101010101 // in each byte of a word the bit that makes it odd
)

// poison fills the file of new memory with bytes that the seed picks and that are not 0: CUDA promises nothing of new
// memory, and a program that takes it for zeros goes wrong here for certain.
func (c *Context) poison(fd int, b *block) error {
	random := rand.New(rand.NewPCG(c.world.cfg.Seed, uint64(b.owner)<<32|uint64(b.number)))
	chunk := make([]byte, poisonChunk)[:min(b.bytes, poisonChunk)]
	for at := 0; at < len(chunk); at += 8 {
		binary.NativeEndian.PutUint64(chunk[at:cap(chunk)], random.Uint64()|odd)
	}
	for at := int64(0); at < b.bytes; {
		n, err := unix.Pwrite(fd, chunk[:min(b.bytes-at, int64(len(chunk)))], at)
		if err != nil {
			return err
		}
		at += int64(n)
		if b.bytes > filled {
			at = max(at, b.bytes-poisonChunk)
		}
	}
	return nil
}

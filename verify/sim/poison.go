package sim

import (
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// poisoned is how many bytes at each end of new memory are filled, in steps of a chunk; between them larger memory
// reads as zeros, so that its pages are taken when they are written.
const (
	poisoned    = 2 << 20
	poisonChunk = 64 << 10
)

// poison fills the file of new memory with bytes that the seed picks and that are not 0: CUDA promises nothing of new
// memory, and a program that takes it for zeros goes wrong here for certain.
func (c *Context) poison(fd int, b *block) error {
	random := rand.New(rand.NewPCG(c.world.cfg.Seed, uint64(b.owner)<<32|uint64(b.number)))
	chunk := make([]byte, min(b.bytes, poisonChunk))
	for i := range chunk {
		chunk[i] = byte(1 + random.IntN(255))
	}
	for at := int64(0); at < b.bytes; {
		n, err := unix.Pwrite(fd, chunk[:min(b.bytes-at, int64(len(chunk)))], at)
		if err != nil {
			return err
		}
		at += int64(n)
		if tail := b.bytes - poisoned; at == poisoned && tail > at {
			at = tail
		}
	}
	return nil
}

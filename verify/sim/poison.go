package sim

import (
	"encoding/binary"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// New memory is filled a chunk at a time. Memory of more than atOnce bytes that no other context knows, such as a
// workspace of products, which few products use, is filled where it is used: its other pages are never taken. A kernel
// that reads there what it does not say it reads finds zeros.
const (
	atOnce      = 4 << 20
	poisonChunk = 64 << 10
	odd         = 0x0101010101010101 // in each byte of a word the bit that makes it odd
)

// poison fills chunks of new memory with bytes that the seed picks and that are not 0: CUDA promises nothing of new
// memory, and a program that takes it for zeros goes wrong here for certain.
func (w *World) poison(fd int, b *block, from, to int64) error {
	var chunk []byte
	for i := from / poisonChunk; i*poisonChunk < to; i++ {
		if b.filled != nil {
			if b.filled[i] {
				continue
			}
			b.filled[i] = true
		}
		if chunk == nil {
			chunk = w.chunk(b)
		}
		for at := i * poisonChunk; at < min((i+1)*poisonChunk, b.bytes); {
			n, err := unix.Pwrite(fd, chunk[at-i*poisonChunk:min(poisonChunk, b.bytes-i*poisonChunk)], at)
			if err != nil {
				return err
			}
			at += int64(n)
		}
	}
	return nil
}

// chunk is what each chunk of a block is filled with, as far as the block reaches.
func (w *World) chunk(b *block) []byte {
	random := rand.New(rand.NewPCG(w.cfg.Seed, uint64(b.owner)<<32|uint64(b.number)))
	chunk := make([]byte, poisonChunk)
	for at := 0; at < len(chunk) && int64(at) < b.bytes; at += 8 {
		binary.NativeEndian.PutUint64(chunk[at:], random.Uint64()|odd)
	}
	return chunk
}

// spoil fills what nobody has used of a range, all of which is about to be used or known to others.
func (w *World) spoil(m *mapping, from, to int64) error {
	if m.block == nil || m.block.filled == nil {
		return nil
	}
	return w.poison(m.fd, m.block, from, to)
}

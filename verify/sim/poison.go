package sim

import (
	"encoding/binary"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// New memory is filled in chunks. Memory of more than atOnce bytes that no other context knows is filled at its first
// use: few products use their whole workspace, for example, and so its other pages are never taken. A kernel that reads
// bytes there without declaring the read finds zeros.
const (
	atOnce      = 4 << 20
	poisonChunk = 64 << 10
	odd         = 0x0101010101010101 // in each byte of a word the bit that makes it odd
)

// poison fills chunks of new memory with bytes that the seed picks and that are not 0. CUDA promises nothing about the
// contents of new memory, and a program that takes them for zeros goes wrong here for certain.
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

// chunk is the contents of each new chunk of a block, up to the end of the block.
func (w *World) chunk(b *block) []byte {
	random := rand.New(rand.NewPCG(w.cfg.Seed, uint64(b.owner)<<32|uint64(b.number)))
	chunk := make([]byte, poisonChunk)
	for at := 0; at < len(chunk) && int64(at) < b.bytes; at += 8 {
		binary.NativeEndian.PutUint64(chunk[at:], random.Uint64()|odd)
	}
	return chunk
}

// spoil fills the unused bytes of a range, since the whole range is about to be used or to be known to others.
func (w *World) spoil(m *mapping, from, to int64) error {
	if m.block == nil || m.block.filled == nil {
		return nil
	}
	return w.poison(m.fd, m.block, from, to)
}

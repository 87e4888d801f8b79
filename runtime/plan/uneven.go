package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/driver"
)

// uneven is a buffer whose chunks differ: where each begins, by rank and chunk, as
// the counts of the last Bind have it.
type uneven struct {
	unit    int64 // bytes that a count counts
	chunks  int
	index   func(rank, chunk int) int
	room    int64     // bytes from a chunk to the next; 0: what it has
	offsets [][]int64 // with the end
	sizes   [][]int64
}

// Counts says that Bind takes n counts, the same on all ranks.
func (b *Builder) Counts(n int) { b.plan.counts = make([]int, n) }

// Uneven says that a buffer's chunks differ: chunk c of rank q has unit bytes times
// the index(q, c)-th count. What the buffer was declared with is the most that the
// chunks of a rank may have.
func (b *Builder) Uneven(f *Buffer, unit int64, chunks int, index func(rank, chunk int) int) {
	f.uneven = &uneven{unit: unit, chunks: chunks, index: index, offsets: make([][]int64, b.plan.Size()), sizes: make([][]int64, b.plan.Size())}
	for r := range f.uneven.offsets {
		f.uneven.offsets[r], f.uneven.sizes[r] = make([]int64, chunks+1), make([]int64, chunks)
	}
}

// Padded says that the chunks of an uneven buffer lie that many bytes apart, whatever
// their counts, which must leave them as much at most.
func (b *Builder) Padded(f *Buffer, room int64) {
	if f.uneven.room = room; room <= 0 || room > f.bytes/int64(f.uneven.chunks) {
		b.mistake("buffer %s has %d bytes: they are no %d chunks of %d", f.name, f.bytes, f.uneven.chunks, room)
	}
}

// Part is the address of a chunk of this rank's buffer.
func (b *Buffer) Part(chunk int) driver.Ptr { return b.PeerPart(b.rank, chunk) }

// PeerPart is the address of a chunk of that rank's buffer, as mapped here.
func (b *Buffer) PeerPart(rank, chunk int) driver.Ptr {
	return b.Peer(rank, b.uneven.offsets[rank][chunk])
}

// Size is the bytes of a chunk of this rank's buffer.
func (b *Buffer) Size(chunk int) int64 { return b.PeerSize(b.rank, chunk) }

// PeerSize is the bytes of a chunk of that rank's buffer.
func (b *Buffer) PeerSize(rank, chunk int) int64 {
	return b.uneven.sizes[rank][chunk]
}

// Room is the bytes of a chunk with its padding.
func (b *Buffer) Room() int64 { return b.uneven.room }

// size is what a rank has of the buffer.
func (b *Buffer) size(rank int) int64 {
	switch {
	case b.root && rank != 0:
		return 0
	case b.uneven != nil:
		return b.uneven.offsets[rank][b.uneven.chunks]
	}
	return b.bytes
}

// count takes the counts of a Bind and says whether they are new.
func (p *Plan) count(counts []int) (changed bool, err error) {
	if len(counts) != len(p.counts) {
		return true, fmt.Errorf("%d counts, and the program has %d uneven parts", len(counts), len(p.counts))
	}
	for i, n := range counts {
		if n < 0 {
			return true, fmt.Errorf("count %d is %d", i, n)
		}
	}
	if slices.Equal(counts, p.counts) {
		return false, nil
	}
	copy(p.counts, counts)
	for _, buffers := range [][]*Buffer{p.bindable, p.staged} {
		for _, f := range buffers {
			if f.uneven == nil {
				continue
			}
			if err := f.lay(counts); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}

// lay sets the offsets of the chunks.
func (b *Buffer) lay(counts []int) error {
	u := b.uneven
	for r, at := range u.offsets {
		for c := range u.chunks {
			count := int64(counts[u.index(r, c)])
			if count > b.bytes/u.unit { // as bytes it may be too large for an int64
				return fmt.Errorf("%s: chunk %d of rank %d has a count of %d, and the shape has room for %d", b.name, c, r, count, b.bytes/u.unit)
			}
			n := u.unit * count
			if u.room > 0 && n > u.room {
				return fmt.Errorf("%s: the counts give chunk %d %d bytes, and the shape has room for %d", b.name, c, n, u.room)
			}
			u.sizes[r][c], at[c+1] = n, at[c]+max(n, u.room)
		}
		if end := at[u.chunks]; end > b.bytes {
			return fmt.Errorf("%s: the counts give rank %d %d bytes, and the shape has room for %d", b.name, r, end, b.bytes)
		}
	}
	return nil
}

// agreeOnCounts compares the counts that the ranks have come with; a program without
// any needs no such step.
func (p *Plan) agreeOnCounts(ctx context.Context, what string, wrong error) error {
	if len(p.counts) == 0 {
		return nil
	}
	mine, err := json.Marshal(p.counts)
	all, err := p.agree(ctx, what, mine, errors.Join(wrong, err))
	if err != nil {
		return err
	}
	values := make([]string, len(all))
	for r, b := range all {
		values[r] = string(b)
	}
	if len(slices.Compact(slices.Clone(values))) > 1 {
		return &DisagreementError{What: "counts", Values: values, Do: "call Bind with the counts of all ranks, the same on each"}
	}
	return nil
}

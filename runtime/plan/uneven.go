package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/driver"
)

// uneven describes a buffer whose chunks differ in size.
type uneven struct {
	unit   int64 // bytes for each unit of a count
	chunks int
	index  func(rank, chunk int) int
	room   int64 // bytes from one chunk to the next; 0: the chunk's size
	*table       // of the last Bind
}

// table has the offsets of each rank's chunks, the end of the last chunk, and the sizes of the chunks.
type table struct {
	offsets [][]int64
	sizes   [][]int64
}

func newTable(ranks, chunks int) *table {
	t := &table{make([][]int64, ranks), make([][]int64, ranks)}
	for r := range t.offsets {
		t.offsets[r], t.sizes[r] = make([]int64, chunks+1), make([]int64, chunks)
	}
	return t
}

// chunking has the chunks of all uneven buffers for given counts.
type chunking struct {
	counts []int
	tables map[*Buffer]*table
}

// Counts says that Bind takes n counts, the same on all ranks.
func (b *Builder) Counts(n int) { b.plan.counts = n }

// Rows says that the products take n rows, the sum over all parts: Bind refuses counts with another sum.
func (b *Builder) Rows(n int) { b.plan.rows = n }

// Balanced says that the rows are divided into uneven parts as evenly as possible: where the number of ranks does not
// divide the rows, the first ranks have one row more than the others. Bind then takes no counts.
func (b *Builder) Balanced(rows int) {
	for r := range b.Size() {
		b.plan.balanced = append(b.plan.balanced, (rows+b.Size()-1-r)/b.Size())
	}
}

// Parts declares a matrix product for each of the balanced parts; it is d with the rows of the part.
func (b *Builder) Parts(d driver.MatmulDesc) (list []*Product) {
	for _, d.M = range b.plan.balanced {
		list = append(list, b.Matmul(d))
	}
	return list
}

// Uneven says that a buffer's chunks differ in size: chunk c of rank q has unit bytes times the index(q, c)-th count.
// The chunks of a rank have together at most the bytes that the buffer was declared with.
func (b *Builder) Uneven(f *Buffer, unit int64, chunks int, index func(rank, chunk int) int) {
	f.uneven = &uneven{unit: unit, chunks: chunks, index: index, table: newTable(b.plan.Size(), chunks)}
}

// Padded says that the chunks of an uneven buffer begin room bytes apart, for all counts. No chunk may have more than
// room bytes.
func (b *Builder) Padded(f *Buffer, room int64) {
	if f.uneven.room = room; room <= 0 || room > f.bytes/int64(f.uneven.chunks) {
		b.mistake("buffer %s has %d bytes: they are no %d chunks of %d", f.name, f.bytes, f.uneven.chunks, room)
	}
}

// Part is the address of a chunk of this rank's buffer.
func (b *Buffer) Part(chunk int) driver.Ptr { return b.PeerPart(b.rank, chunk) }

// PeerPart is the address of a chunk of the given rank's buffer, as mapped here.
func (b *Buffer) PeerPart(rank, chunk int) driver.Ptr {
	return b.Peer(rank, b.uneven.offsets[rank][chunk])
}

// Size is the bytes of a chunk of this rank's buffer.
func (b *Buffer) Size(chunk int) int64 { return b.PeerSize(b.rank, chunk) }

// PeerSize is the bytes of a chunk of the given rank's buffer.
func (b *Buffer) PeerSize(rank, chunk int) int64 {
	return b.uneven.sizes[rank][chunk]
}

// Total is the bytes of all chunks of this rank's buffer.
func (b *Buffer) Total() int64 { return b.size(b.rank) }

// Room is the bytes of a chunk with its padding.
func (b *Buffer) Room() int64 { return b.uneven.room }

// size is the bytes that a rank has of the buffer.
func (b *Buffer) size(rank int) int64 { return (*chunking)(nil).size(b, rank) }

// size is the bytes that a rank has of a buffer by these counts or, where c is nil, by the counts of the last Bind.
func (c *chunking) size(f *Buffer, rank int) int64 {
	switch {
	case f.root && rank != 0:
		return 0
	case f.uneven == nil:
		return f.bytes
	case c == nil:
		return f.uneven.offsets[rank][f.uneven.chunks]
	}
	return c.tables[f].offsets[rank][f.uneven.chunks]
}

// adopt makes c the chunks of the buffers.
func (c *chunking) adopt() {
	if c == nil {
		return
	}
	for f, t := range c.tables {
		f.uneven.table = t
	}
}

// count computes the chunks of the uneven buffers by the counts of a Bind, and keeps the present chunks where the
// counts have not changed.
func (p *Plan) count(to *target, counts []int) error {
	if len(counts) != p.counts {
		return fmt.Errorf("%d counts, and the program has %d uneven parts", len(counts), p.counts)
	}
	if p.counts == 0 || p.chunks != nil && slices.Equal(counts, p.chunks.counts) {
		to.chunks = p.chunks
		return nil
	}
	rows := 0
	for i, n := range counts {
		if rows += n; n < 0 {
			return fmt.Errorf("count %d is %d", i, n)
		}
	}
	if p.rows > 0 && rows != p.rows {
		return fmt.Errorf("the counts are of %d rows, and products take %d", rows, p.rows)
	}
	chunks, err := p.chunking(counts)
	if err == nil {
		to.chunks = chunks
	}
	return err
}

// balance computes the chunks of the uneven buffers by the rows of balanced parts, if the program has balanced parts.
func (p *Plan) balance() (err error) {
	if p.balanced == nil {
		return nil
	}
	if p.chunks, err = p.chunking(p.balanced); err == nil {
		p.chunks.adopt()
	}
	return err
}

// chunking computes the chunks of all uneven buffers by the counts.
func (p *Plan) chunking(counts []int) (*chunking, error) {
	c := &chunking{slices.Clone(counts), map[*Buffer]*table{}}
	for _, f := range slices.Concat(p.bindable, p.staged) {
		if f.uneven == nil {
			continue
		}
		t, err := f.lay(counts)
		if err != nil {
			return nil, err
		}
		c.tables[f] = t
	}
	return c, nil
}

// lay computes the offsets and sizes of the buffer's chunks by the counts.
func (b *Buffer) lay(counts []int) (*table, error) {
	u, t := b.uneven, newTable(len(b.at), b.uneven.chunks)
	for r, at := range t.offsets {
		for c := range u.chunks {
			count := int64(counts[u.index(r, c)])
			if count > b.bytes/u.unit { // the bytes of a larger count may not fit an int64
				return nil, fmt.Errorf("%s: chunk %d of rank %d has a count of %d, and the shape has room for %d",
					b.name, c, r, count, b.bytes/u.unit)
			}
			n := u.unit * count
			if u.room > 0 && n > u.room {
				return nil, fmt.Errorf("%s: the counts give chunk %d %d bytes, and the shape has room for %d",
					b.name, c, n, u.room)
			}
			t.sizes[r][c], at[c+1] = n, at[c]+max(n, u.room)
		}
		if end := at[u.chunks]; end > b.bytes {
			return nil, fmt.Errorf("%s: the counts give rank %d %d bytes, and the shape has room for %d",
				b.name, r, end, b.bytes)
		}
	}
	return t, nil
}

// agreeOnCounts compares the counts of the ranks; a program without counts needs no such step.
func (p *Plan) agreeOnCounts(ctx context.Context, what string, to *target, wrong error) error {
	if p.counts == 0 {
		return nil
	}
	var counts []int
	if wrong == nil {
		counts = to.chunks.counts
	}
	mine, err := json.Marshal(counts)
	all, err := p.agree(ctx, what, mine, errors.Join(wrong, err))
	if err != nil {
		return err
	}
	values := make([]string, len(all))
	for r, b := range all {
		values[r] = string(b)
	}
	if len(slices.Compact(slices.Clone(values))) > 1 {
		return &DisagreementError{What: "counts", Values: values,
			Do: "call Bind with the counts of all ranks, the same on each"}
	}
	return nil
}

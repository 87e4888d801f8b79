package explore

import (
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// blocks is how many blocks a kernel has whose blocks signal each for itself: two already run in
// all orders to each other, and work at two parts. A device that has begun a launch goes on with
// any of its blocks: they are there together, or start in an order that is the same everywhere.
const blocks = 2

// byBlocks adds the operations of such a launch, for each block: they follow the stream's steps so far,
// and the stream's next operation follows them all.
func (b *rankBuilder) byBlocks(list []ops.Op) {
	stream := list[0].Stream
	if b.one {
		stream = hostir.MainStream
	}
	waits, start := b.waits, slices.Clone(b.last(stream))
	var ended []int32
	for block := range int64(blocks) {
		b.streams[stream], b.waits, b.block = start, waits, block
		for _, o := range list {
			part := b.part(o, block)
			b.op(&part)
		}
		ended = union(ended, b.streams[stream])
	}
	b.streams[stream], b.block = ended, 0
}

// part is a block's part of an operation: its part of each use, and its words, which lie behind the words
// of earlier blocks. The first block notes the step for all.
func (b *rankBuilder) part(o ops.Op, block int64) ops.Op {
	words, uses := o.Words, o.Uses
	o.Words, o.Uses = nil, nil
	for _, w := range words {
		if ops.IsStep(w.At) && block > 0 {
			continue
		}
		w.At.Offset += block * b.Words[w.At.Buffer] / blocks
		o.Words = append(o.Words, w)
	}
	for _, u := range uses {
		o.Uses = append(o.Uses, b.partOf(u, block))
	}
	return o
}

// partOf is a block's part of a use.
func (m *machine) partOf(u ops.Use, block int64) ops.Use {
	elements := u.Bytes / m.ElementSize
	from, to := elements*block/blocks, elements*(block+1)/blocks
	u.At.Offset, u.Bytes = u.At.Offset+from*m.ElementSize, (to-from)*m.ElementSize
	return u
}

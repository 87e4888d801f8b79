package explore

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// blocks is the number of blocks of a kernel whose blocks signal each for itself. Two suffice: they already run in all
// orders to each other, and work on two parts. A device that has begun a launch may go on with any of its blocks: the
// blocks run together, or start in an order that is the same everywhere.
const blocks = 2

// rowIn is the number of elements of a launch by blocks that stay together: a row of its formulas, or one element.
func rowIn(list []ops.Op) int64 {
	row := int64(1)
	for _, o := range list {
		row = max(row, o.Columns)
	}
	return row
}

// launchOf lists the operations at the head of a list that belong to one launch by blocks.
func launchOf(list []ops.Op) []ops.Op {
	n := 0
	for n < len(list) && list[n].ByBlocks && list[n].Step == list[0].Step && list[n].Stream == list[0].Stream {
		n++
	}
	return list[:n]
}

// byBlocks adds the operations of a launch by blocks, once for each block. Each block follows the stream's steps so
// far, and the stream's next operation follows all blocks.
func (b *rankBuilder) byBlocks(list []ops.Op) {
	stream, row := list[0].Stream, rowIn(list)
	if b.one {
		stream = hostir.MainStream
	}
	waits, start := b.waits, slices.Clone(b.last(stream))
	var ended []int32
	count := int64(blocks)
	if b.cutInColumns(list) {
		count = 1
	}
	for block := range count {
		b.streams[stream], b.waits, b.block = start, waits, block
		for _, o := range list {
			part := o
			if count > 1 {
				part = b.part(o, block, row)
			}
			b.op(&part)
		}
		ended = union(ended, b.streams[stream])
	}
	b.streams[stream], b.block = ended, 0
}

// cutInColumns reports whether operations use memory whose columns are cut. There no range has the rows of one block,
// so one block takes all.
func (m *machine) cutInColumns(list []ops.Op) bool {
	return slices.ContainsFunc(list, func(o ops.Op) bool {
		return slices.ContainsFunc(o.Uses, func(u ops.Use) bool { _, cut := m.Columns[u.At.Buffer]; return cut })
	})
}

// part is a block's part of an operation: its part of each use, and its words, which lie behind the words of earlier
// blocks. The first block writes the step word for all blocks.
func (b *rankBuilder) part(all ops.Op, block, row int64) ops.Op {
	o := all
	o.Words, o.Uses = nil, nil
	for _, w := range all.Words {
		if ops.IsStep(w.At) && block > 0 {
			continue
		}
		w.At.Offset += block * b.Words[w.At.Buffer] / blocks
		o.Words = append(o.Words, w)
	}
	for i, u := range all.Uses {
		if n := b.together(&all, u, i, row); n > 0 {
			u = b.partOf(u, block, n)
		}
		o.Uses = append(o.Uses, u)
	}
	return o
}

// together is the number of elements of a use that a block takes together, where a row of the launch has row elements;
// 0 if each block takes the whole use.
func (m *machine) together(o *ops.Op, u ops.Use, use int, row int64) int64 {
	lies, scales := o.LiesOf(use), o.OfScales(use)
	switch {
	case scales && m.Narrow[u.At.Buffer] == 0: // of fp32, behind the result
		return schedule.FP32.Bits() / m.bitsOf(u.At.Buffer)
	case lies == schedule.ByRow && o.Columns > 0: // of any type
		rows := 8 * o.Source().Bytes / m.bitsOf(o.Source().At.Buffer) / o.Columns
		return 8 * u.Bytes / m.bitsOf(u.At.Buffer) / max(rows, 1)
	case lies == schedule.ByRow || scales:
		return 1
	case lies == schedule.InPlace && m.Wide[u.At.Buffer]: // two numbers for each element
		return 2 * row
	case lies == schedule.InPlace:
		return row
	}
	return 0
}

// partOf is a block's part of a use: whole rows.
func (m *machine) partOf(u ops.Use, block, row int64) ops.Use {
	bits := m.bitsOf(u.At.Buffer)
	rows := 8 * u.Bytes / bits / row
	from, to := rows*block/blocks*row, rows*(block+1)/blocks*row
	u.At.Offset, u.Bytes = u.At.Offset+from*bits/8, (to-from)*bits/8
	return u
}

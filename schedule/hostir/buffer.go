package hostir

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
)

// Buffer is memory that the program names.
type Buffer struct {
	Name   string
	Tensor schedule.Tensor // its placement
	Owner  Owner
	// Shared says that peers read it.
	Shared bool
	// Elements is the size of this rank's memory. Chunk is the size of one chunk, the unit in which views index the
	// buffer: a shard, a step's rows, or a part of one.
	Elements, Chunk Expr
	// Counts is set if chunks differ: the size of chunk c of rank q is Chunk times the Counts(q, c)-th of Bind's
	// counts. Elements is then the most for which New makes room.
	Counts Expr
	// Rows is set if chunks are parts of the columns: chunk c has the c-th part of each of Rows rows. Copies take such
	// a chunk, and other work takes the whole buffer.
	Rows Expr
	// Inner is a tensor that lies in the buffer's memory beside the buffer's tensor. Without a name there is none.
	Inner Inner
	// Room is the stride of such chunks, in elements. Absent: each chunk begins where the chunk before ends.
	Room Expr
	// Lands says that packets land in the buffer.
	Lands Landing
}

// Pad gives each rank's chunk room for the most rows that a rank may have.
func (b *Buffer) Pad(most schedule.Extent) {
	columns := b.Tensor.Axes[len(b.Tensor.Axes)-1]
	b.Tensor.Axes = []schedule.Axis{schedule.Dim(schedule.D), schedule.Dim(most), columns}
	b.Room = Mul(Extent(most), b.Chunk)
	b.Elements = Mul(Size, b.Room)
}

// Cut lets the buffer be indexed by parts of the first axis that a rank has more than one index of.
func (b *Buffer) Cut(parts ...schedule.Extent) {
	axes, first := slices.Clone(b.Tensor.Axes), 0
	ofRank := func(a schedule.Axis) bool {
		return a.Extent == schedule.D && len(a.Outer) > 0 && a.Outer[0].Kind == schedule.DeviceX
	}
	for ofRank(axes[first]) {
		first++
	}
	axes[first].Outer = nil
	for _, n := range parts {
		axes[first].Outer = append(axes[first].Outer, schedule.DIDx(n))
	}
	b.Chunk = Elements(schedule.Tensor{Axes: axes})
}

// CutColumns lets the buffer, which has rows and columns, be indexed by parts of the columns.
func (b *Buffer) CutColumns(parts schedule.Extent) {
	rows, columns := b.Tensor.Axes[0], b.Tensor.Axes[1]
	columns.Outer = append(slices.Clone(columns.Outer), schedule.DIDx(parts))
	b.Rows = Elements(schedule.Tensor{Axes: []schedule.Axis{rows}})
	b.Chunk = Elements(schedule.Tensor{Axes: []schedule.Axis{rows, columns}})
}

// Count gives the buffer's chunks counts of rows; of elements where rows have different lengths. New makes room for the
// most rows that a part may have; absent: for all of the tensor, which one rank may have.
func (b *Buffer) Count(counts, most Expr) {
	rows, columns := b.Tensor.Axes[0], b.Tensor.Axes[1:]
	if len(columns) > 1 {
		rows, columns = columns[1], columns[2:]
	}
	if b.Counts, b.Chunk = counts, Const(1); len(columns) > 0 {
		b.Chunk = Elements(schedule.Tensor{Axes: columns})
	}
	if most.IsZero() {
		most = Extent(rows.Extent)
	}
	b.Elements = Times(most, b.Chunk)
}

// Bits is the number of bits of an element, given that of the plan's elements.
func (b Buffer) Bits(plan int64) int64 { return cmp.Or(b.Tensor.Type.Bits(), plan) }

// Bytes is the number of bytes of elements, given the bits of the plan's elements. Elements that share a byte with
// others have none, nor have elements of a type that is no tensor's own.
func (b Buffer) Bytes(elements, plan int64) (int64, error) {
	bits := elements * b.Bits(plan)
	if t := b.Tensor.Type; t != "" && t.Bits() == 0 {
		return 0, fmt.Errorf("%s has elements of type %q, which no tensor has for itself", b.Name, t)
	}
	if bits%8 != 0 {
		return 0, fmt.Errorf("%d elements of %s, of %d bits each, are no whole number of bytes", elements, b.Name,
			b.Bits(plan))
	}
	return bits / 8, nil
}

// Inner is a tensor in the memory of another: all of the memory or, where Part is set, chunk r of it on rank r.
type Inner struct {
	Tensor schedule.Tensor
	Part   bool
}

// Owner of a buffer.
type Owner string

// Owners.
const (
	Caller Owner = "caller" // bound by Bind
	Plan   Owner = "plan"   // allocated by New in the arena
)

// Buffer returns a copy of the buffer of that name.
func (p *Program) Buffer(name string) (b Buffer, ok bool) {
	b = *p.At(name)
	return b, b.Name != ""
}

// At returns the program's buffer of that name, which the caller may change. Where the program has none it returns an
// empty buffer that belongs to no program.
func (p *Program) At(name string) *Buffer {
	for i := range p.Buffers {
		if p.Buffers[i].Name == name {
			return &p.Buffers[i]
		}
	}
	return &Buffer{}
}

// Memory declares memory of the plan, in chunks of so many elements; absent: in one.
func (p *Program) Memory(name string, chunk Expr, axes ...schedule.Axis) {
	b := Buffer{Name: name, Tensor: schedule.Tensor{Name: name, Axes: axes}, Owner: Plan}
	b.Elements, b.Chunk = Elements(b.Tensor), chunk
	if chunk.IsZero() {
		b.Chunk = b.Elements
	}
	p.Buffers = append(p.Buffers, b)
}

package hostir

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
)

// Program is the host program of a schedule.
type Program struct {
	Name       string // of the schedule
	Schedule   schedule.Schedule
	Buffers    []Buffer
	Semaphores []Semaphore
	Streams    []StreamSet
	Constants  Env      // names that generation binds: numbers of streams
	Checks     []Divide // requirements of New on the shape
	Edges      []Edge   // the program's communications; none in a program that a person wrote
	Setup      []Node   // enqueued once, in New and Bind
	Body       []Node   // enqueued in each run
}

// Semaphore is a word for every peer, in the waiter's memory, or Count such sets of words.
type Semaphore struct {
	Name  string
	Count Expr // absent: one member
}

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

// StreamSet is a stream, or streams numbered from First up to, not including, Count.
type StreamSet struct {
	Name         string
	First, Count Expr // absent: a single stream
	High         bool // top priority, else lowest
	Falling      bool // each stream has a lower priority than the one before it, all below the top, down to the lowest
}

// WithSet is a list of sets of streams and another one, which may have the name of one of these: then that one has the
// streams of both. A set without a name is the caller's stream.
func (p *Program) WithSet(sets []StreamSet, other StreamSet) []StreamSet {
	size := func(e Expr, ranks int64) int64 {
		env := maps.Clone(p.Constants)
		env[string(schedule.D)], env["H"] = ranks, min(ranks, 2)
		n, _ := e.Eval(env)
		return n
	}
	i := slices.IndexFunc(sets, func(x StreamSet) bool { return x.Name == other.Name })
	switch {
	case other.Name == "":
		return sets
	case i < 0:
		return append(sets, other)
	}
	x := &sets[i]
	if size(other.First, 8) < size(x.First, 8) {
		x.First = other.First
	}
	if size(other.Count, 8) > size(x.Count, 8) {
		x.Count, other.Count = other.Count, x.Count
	}
	if lack := size(other.Count, 1) - size(x.Count, 1); lack > 0 { // one rank has the fewest of most
		x.Count = Add(x.Count, Const(lack))
	}
	return sets
}

// Divide is a requirement on the shape: By, multiplied by Times where Times is above one, divides Extent, multiplied by
// With where With is set. Where Heads is set, each part is whole heads, which are Heads columns wide.
type Divide struct {
	Extent, By schedule.Extent
	Times      int64
	With       schedule.Extent
	Heads      schedule.Extent
}

// String is "D divides M", "4 * D divides S * M" or "D divides N in heads of W".
func (d Divide) String() string {
	by, of := string(d.By), string(d.Extent)
	if d.Times > 1 {
		by = strings.TrimSuffix(fmt.Sprintf("%d * %s", d.Times, by), " * ")
	}
	if d.With != "" {
		of += " * " + string(d.With)
	}
	if d.Heads != "" {
		of += " in heads of " + string(d.Heads)
	}
	return cmp.Or(by, "1") + " divides " + of
}

// Divisor is the number that must divide the extent on a mesh of that many ranks; width is the value of W, 0 where it
// has none.
func (d Divide) Divisor(ranks, width int64) int64 {
	n := max(d.Times, 1)
	for _, e := range []schedule.Extent{d.By, d.Heads} {
		switch e {
		case "":
		case schedule.D:
			n *= ranks
		case schedule.W:
			n *= max(width, 1)
		default:
			by, _ := strconv.ParseInt(string(e), 10, 64) // lowering writes a number
			n *= max(by, 1)
		}
	}
	return n
}

// Holds reports whether extents x and with, which is 1 where With is unset, meet the requirement on a mesh of that many
// ranks. The product of the two may be too large for an int64.
func (d Divide) Holds(x, with, ranks, width int64) bool {
	by := d.Divisor(ranks, width)
	return by > 0 && x%by*(with%by)%by == 0
}

// Ask makes New check the shape for a requirement, once. Of requirements that differ in Times one is left, of a
// multiple of both.
func (p *Program) Ask(d Divide) {
	for i := range p.Checks {
		same, times := p.Checks[i], max(p.Checks[i].Times, 1)
		if same.Times = d.Times; same == d {
			for n := times; times%max(d.Times, 1) > 0; {
				times += n
			}
			if times > 1 {
				p.Checks[i].Times = times
			}
			return
		}
	}
	if d.Times == 1 {
		d.Times = 0
	}
	p.Checks = append(p.Checks, d)
}

// AskParts makes New check that an axis can be cut into its parts.
func (p *Program) AskParts(a schedule.Axis) {
	check := Divide{Extent: a.Extent}
	for _, s := range a.Outer {
		switch {
		case s.Uneven || s.Count == a.Extent:
		case s.Count == schedule.D:
			check.By = s.Count
		default:
			check.Times = p.Constants[string(s.Count)]
		}
	}
	if check.By != "" {
		p.Ask(check)
	}
}

// BlockSemaphores names the semaphores that steps signal by blocks: each has a word for each block.
func (p *Program) BlockSemaphores() map[string]bool {
	found := map[string]bool{}
	Steps(p.Body, func(s Step) {
		for _, w := range s.Words() {
			if s.ByBlocks {
				found[w.Semaphore] = true
			}
		}
	})
	return found
}

// SemaphoreNames are the names of the program's semaphores.
func (p *Program) SemaphoreNames() []string {
	var names []string
	for _, s := range p.Semaphores {
		names = append(names, s.Name)
	}
	return names
}

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

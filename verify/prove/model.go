package prove

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Model adds to the operations the owner of each buffer, and the contents that outputs must
// have.
type Model struct {
	Program    string
	Buffers    []Buffer
	Semaphores []string // each has a word for every rank, in every rank's memory
	// Members are the numbers of members of the semaphores that have several: each member is such a set of words.
	Members map[string]int64
	// Halves are the numbers of halves of the landings, and of the semaphores of their flags: runs use the halves in
	// turn.
	Halves map[string]int
	// Lands has the form of the buffers in which data land.
	Lands map[string]Landing
	// Columns are the numbers of parts into which the columns of buffers are cut. A part is one chunk or more. A buffer
	// that is not in the map has chunks of whole rows.
	Columns map[string]int64
	// Constant lists the caller's buffers that the caller writes only before the first run.
	Constant []string
	// Hosts is the number of hosts of a program over hosts, with equally many ranks on each; zero means one host.
	Hosts int
	// Computes defines the expected outputs; nil: contents are not checked.
	Computes *Computation
}

// Buffer is memory that each rank has under that name.
type Buffer struct {
	Name  string
	Owner hostir.Owner
	// Shared: peers may use it although the caller owns it. They may always use the plan's
	// memory.
	Shared bool
	// Output: runs write it; the caller's other buffers are inputs.
	Output bool
	// Inner are the tensors that lie within the buffer, at most one.
	Inner []Inner
	// Root: only rank 0 has it.
	Root  bool
	Bytes int64
	// Element is the number of bits of an element; zero: as in all other buffers.
	Element int64
	// Chunk is the number of bytes of a chunk, the unit in which contents are followed; zero: the whole buffer is one
	// chunk.
	Chunk int64
	// Offsets are the starts of each rank's chunks and the end of the last, where chunks differ.
	Offsets [][]int64
	// Padded: each second chunk is padding, which holds any numbers.
	Padded bool
}

// Inner is a tensor within a buffer. It has Bytes bytes from Offsets on, one offset a rank.
type Inner struct {
	Tensor  string
	Output  bool
	Offsets []int64
	Bytes   int64
}

// Computation is the schedule's part of a model, and the shape.
type Computation struct {
	Schedule    schedule.Schedule
	Extents     hostir.Env // D too
	Counts      []int64    // of uneven parts
	ElementBits int64
}

// Of is the model of a program for one mesh size and shape.
func Of(p *hostir.Program, c ops.Case) (Model, error) {
	env := c.At(0).Env(p)
	if c.Hosts == 0 { // nothing is sized by the rank or by hosts
		for _, place := range []string{"r", "h", "l", "H", "L"} {
			delete(env, place)
		}
	}
	if c.Counts == nil {
		c.Counts = p.Counts(env)
	}
	m := Model{Program: p.Name, Semaphores: p.SemaphoreNames(), Hosts: c.Hosts,
		Computes: &Computation{Schedule: p.Schedule.Joined(), Extents: env, Counts: c.Counts,
			ElementBits: c.ElementBits}}
	for flags, b := range p.Landings() {
		if m.Halves == nil {
			m.Halves, m.Lands = map[string]int{}, map[string]Landing{}
		}
		m.Halves[flags], m.Halves[b.Name] = b.Lands.Halves, b.Lands.Halves
		m.Lands[b.Name] = Landing{flags, !b.Lands.Words}
	}
	for _, s := range p.Semaphores {
		if s.Count.IsZero() {
			continue
		}
		n, err := s.Count.Eval(env)
		if err != nil {
			return Model{}, fmt.Errorf("model %s: semaphore %s: %w", p.Name, s.Name, err)
		}
		if m.Members == nil {
			m.Members = map[string]int64{}
		}
		m.Members[s.Name] = n
	}
	for _, b := range p.Buffers {
		x := Buffer{Name: b.Name, Owner: b.Owner, Shared: b.Shared, Root: b.Tensor.Root}
		x.Output = b.Owner == hostir.Caller && p.Schedule.Made(b.Name)
		err := x.layOut(b, env, c)
		if err == nil {
			err = m.cutColumns(b, &x, env)
		}
		if err != nil {
			return Model{}, fmt.Errorf("model %s: buffer %s: %w", p.Name, b.Name, err)
		}
		x.hold(b.Inner, p.Schedule.Made(b.Inner.Tensor.Name), c.Ranks)
		m.Buffers = append(m.Buffers, x)
		if b.Owner == hostir.Caller && b.Tensor.Constant {
			m.Constant = append(m.Constant, b.Name)
		}
	}
	return m, nil
}

// layOut sets the buffer's size and chunks.
func (x *Buffer) layOut(b hostir.Buffer, env hostir.Env, c ops.Case) error {
	elements, err := b.Elements.Eval(env)
	if err != nil {
		return err
	}
	chunk, err := b.Chunk.Eval(env)
	if err != nil {
		return err
	}
	if chunk <= 0 || elements < 0 {
		return fmt.Errorf("%d elements in chunks of %d", elements, chunk)
	}
	if x.Bytes, err = b.Bytes(elements, c.ElementBits); err != nil {
		return err
	}
	if x.Chunk, err = b.Bytes(chunk, c.ElementBits); err != nil {
		return err
	}
	x.Element = b.Bits(c.ElementBits)
	if b.Counts.IsZero() {
		return nil
	}
	env = maps.Clone(env)
	if !b.Room.IsZero() {
		return x.layOutPadded(b, env, c)
	}
	chunks := c.Ranks
	if b.OfHosts() {
		chunks = c.Hosts
	}
	for q := range c.Ranks {
		starts := []int64{0}
		for i := range chunks {
			env["q"], env["c"] = int64(q), int64(i)
			n, err := b.Counts.Eval(env)
			if err != nil {
				return err
			}
			if n < 0 || n >= int64(len(c.Counts)) {
				return fmt.Errorf("chunk %d of rank %d has no count %d", i, q, n)
			}
			end := starts[i] + c.Counts[n]*x.Chunk
			if end > x.Bytes && i > 0 {
				break // the buffer has fewer chunks than there are ranks
			}
			starts = append(starts, end)
		}
		x.Offsets = append(x.Offsets, starts)
	}
	return nil
}

// cutColumns counts the parts that a buffer's columns are cut into.
func (m *Model) cutColumns(b hostir.Buffer, x *Buffer, env hostir.Env) error {
	if b.Rows.IsZero() {
		return nil
	}
	rows, err := b.Rows.Eval(env)
	if err != nil {
		return err
	}
	if rows <= 0 || x.Chunk%rows != 0 || x.Bytes%x.Chunk != 0 || b.Inner.Tensor.Name != "" || !b.Counts.IsZero() {
		return fmt.Errorf("%d bytes in parts of columns of %d, of %d rows", x.Bytes, x.Chunk, rows)
	}
	if m.Columns == nil {
		m.Columns = map[string]int64{}
	}
	m.Columns[b.Name] = x.Bytes / x.Chunk
	return nil
}

// layOutPadded makes two chunks of each chunk with padding: the counted elements, and the padding.
func (x *Buffer) layOutPadded(b hostir.Buffer, env hostir.Env, c ops.Case) error {
	room, err := b.Room.Eval(env)
	if err != nil {
		return err
	}
	if room, err = b.Bytes(room, c.ElementBits); err != nil {
		return err
	}
	x.Padded = true
	for q := range c.Ranks {
		starts := []int64{0}
		for i := range x.Bytes / room {
			env["q"], env["c"] = int64(q), i
			n, err := b.Counts.Eval(env)
			if err != nil {
				return err
			}
			if n < 0 || n >= int64(len(c.Counts)) || c.Counts[n]*x.Chunk > room {
				return fmt.Errorf("chunk %d of rank %d has no count %d, or no room for it", i, q, n)
			}
			starts = append(starts, i*room+c.Counts[n]*x.Chunk, (i+1)*room)
		}
		x.Offsets = append(x.Offsets, starts)
	}
	return nil
}

// hold places a tensor within the buffer.
func (x *Buffer) hold(in hostir.Inner, output bool, ranks int) {
	if in.Tensor.Name == "" {
		return
	}
	i := Inner{Tensor: in.Tensor.Name, Output: output, Offsets: make([]int64, ranks), Bytes: x.Bytes}
	if in.Part {
		i.Bytes = x.Chunk
		for r := range i.Offsets {
			i.Offsets[r] = int64(r) * x.Chunk
		}
	}
	x.Inner = append(x.Inner, i)
}

// holds reports whether bytes of a rank belong to an inner tensor.
func (i *Inner) holds(rank int, from, to int64) bool {
	return i.Offsets[rank] <= from && to <= i.Offsets[rank]+i.Bytes
}

// output reports whether runs make these bytes of a rank.
func (b *Buffer) output(rank int, from, to int64) bool {
	return b.Output || slices.ContainsFunc(b.Inner, func(i Inner) bool { return i.Output && i.holds(rank, from, to) })
}

// input reports whether the caller fills these bytes of a rank before each run.
func (b *Buffer) input(rank int, from, to int64) bool {
	return b.Owner == hostir.Caller && (!b.Output ||
		slices.ContainsFunc(b.Inner, func(i Inner) bool { return !i.Output && i.holds(rank, from, to) }))
}

// chunks is the number of chunks of the buffer on a rank.
func (b *Buffer) chunks(rank int) int {
	switch {
	case b.Offsets != nil:
		return len(b.Offsets[rank]) - 1
	case b.Chunk == 0:
		return 1
	}
	return int(b.Bytes / b.Chunk)
}

// chunk is the range of bytes of a chunk; to is the first byte behind it.
func (b *Buffer) chunk(rank, i int) (from, to int64) {
	switch {
	case b.Offsets != nil:
		return b.Offsets[rank][i], b.Offsets[rank][i+1]
	case b.Chunk == 0:
		return 0, b.Bytes
	}
	return int64(i) * b.Chunk, int64(i+1) * b.Chunk
}

// span is the range of chunks that a range of bytes fills; ok is false where the bytes are not whole chunks.
func (b *Buffer) span(rank int, offset, bytes int64) (from, to int, ok bool) {
	if b.Offsets == nil {
		size := b.Chunk
		if size == 0 {
			size = max(b.Bytes, 1)
		}
		end := offset + bytes
		from, to = int(offset/size), int(end/size)
		return from, to, offset%size == 0 && end%size == 0
	}
	starts := b.Offsets[rank]
	to, ok = slices.BinarySearch(starts, offset+bytes)
	if to == len(starts) {
		return 0, 0, false // after the last chunk
	}
	from = to
	for from > 0 && starts[from] > offset {
		from--
	}
	return from, to, ok && starts[from] == offset
}

// buffer is a buffer of the model by name.
func (m *Model) buffer(name string) (Buffer, bool) {
	i := m.index(name)
	if i < 0 {
		return Buffer{}, false
	}
	return m.Buffers[i], true
}

// holder is the index of the buffer that has a tensor, and the tensor's place in it if it lies within.
func (m *Model) holder(tensor string) (int, *Inner) {
	for i := range m.Buffers {
		for j := range m.Buffers[i].Inner {
			if in := &m.Buffers[i].Inner[j]; in.Tensor == tensor {
				return i, in
			}
		}
	}
	return m.index(tensor), nil
}

// constant reports whether the caller leaves a buffer unchanged between runs.
func (m *Model) constant(name string) bool { return slices.Contains(m.Constant, name) }

func (m *Model) index(name string) int {
	return slices.IndexFunc(m.Buffers, func(b Buffer) bool { return b.Name == name })
}

func (m *Model) semaphore(name string) bool { return slices.Contains(m.Semaphores, name) }

// members is the number of words that a semaphore has for each rank.
func (m *Model) members(name string) int64 {
	if n, ok := m.Members[name]; ok {
		return n
	}
	return 1
}

// extent is the value of an extent, which is a symbol or a constant.
func (c *Computation) extent(e schedule.Extent) (int64, error) {
	if v, ok := c.Extents[string(e)]; ok {
		return v, nil
	}
	if of, columns, blocks := e.Blocks(); blocks {
		n, err := c.extent(of)
		return n / columns, err
	}
	n, err := strconv.ParseInt(string(e), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("extent %s has no value", e)
	}
	return n, nil
}

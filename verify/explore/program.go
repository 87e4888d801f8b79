package explore

import (
	"fmt"
	"maps"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Shape is the sizes that a program is unrolled for.
type Shape struct {
	Ranks       int
	Hosts       int // of a program over hosts; 0 of another
	M, K, N     int64
	ElementSize int64
	// Extents of other symbols, and Counts of uneven chunks.
	Extents map[string]int64
	Counts  []int64
}

// ShapeOf is a small shape that fits a program on a mesh of a size, on the fewest of several hosts where it is for
// hosts. Its extents differ from each other, so that no two dimensions can be mistaken for each other, and no step has
// one row, and none of several ranks' columns one column: its product would be the same with its operands swapped.
func ShapeOf(p *hostir.Program, ranks int) Shape {
	d, rows, columns := int64(ranks), int64(ranks), int64(ranks)
	for _, c := range p.Checks {
		switch {
		case c.Extent == schedule.M:
			rows = max(rows, c.Divisor(d, headWidth))
		case c.Extent == schedule.N && c.Divisor(d, headWidth) > 1:
			columns = 7 * d
		}
	}
	hosts := 0
	if p.OverHosts() {
		hosts = p.FewestHosts(ranks)
	}
	size := int64(4)
	if mixes(p.Schedule) {
		size = 2
	}
	s := Shape{Ranks: ranks, Hosts: hosts, ElementSize: size, K: 3 * d, N: columns, M: 2 * rows,
		Extents: map[string]int64{"N2": 2 * d, "N3": 4 * d, "F": 5 * d, "W": headWidth}}
	s.heads(p)
	for _, t := range p.Schedule.Tensors {
		if axis, split, ok := t.Sharded(); ok && t.Axes[axis].Outer[split].Uneven {
			s.uneven(p, ragged(t))
			break
		}
	}
	return s
}

// headWidth is what heads have columns whose width is an extent: two pairs.
const headWidth = 4

// heads makes extents of columns that are cut into heads, as a check on the shape says, multiples of those: one head a
// rank, two, and so on.
func (s *Shape) heads(p *hostir.Program) {
	times := int64(0)
	for _, c := range p.Checks {
		if c.Heads == "" {
			continue
		}
		times++
		switch n := times * c.Divisor(int64(s.Ranks), headWidth); c.Extent {
		case schedule.K:
			s.K = n
		case schedule.N:
			s.N = n
		default:
			s.Extents[string(c.Extent)] = n
		}
	}
}

// uneven gives parts different counts, one of them zero, and makes M their sum: one for
// each rank, or for each two ranks. Of balanced parts one has a row more than the others.
func (s *Shape) uneven(p *hostir.Program, pairs bool) {
	if _, ok := p.Balanced(); ok {
		s.M++
		s.Counts = p.Counts(s.env(p, 0))
		return
	}
	n := s.Ranks
	if pairs {
		n *= s.Ranks
	}
	s.M = 0
	for i := range n {
		count := []int64{2, 4, 0, 3}[i%4]
		s.Counts = append(s.Counts, count)
		s.M += count
	}
	s.Extents["P"] = 5 // more than any
}

// Case is the shape as a rank unrolls a program for it.
func (s Shape) Case(rank int) ops.Case {
	return ops.Case{Ranks: s.Ranks, Rank: rank, Hosts: s.Hosts, M: s.M, K: s.K, N: s.N, ElementSize: s.ElementSize,
		Extents: s.Extents, Counts: s.Counts}
}

// env gives a rank's names their values.
func (s Shape) env(p *hostir.Program, rank int) hostir.Env {
	env := hostir.Env{"M": s.M, "K": s.K, "N": s.N}.Place(rank, s.Ranks, s.Hosts)
	maps.Copy(env, s.Extents)
	maps.Copy(env, p.Constants)
	return env
}

// Unroll lists the operations that all ranks enqueue.
func (s Shape) Unroll(p *hostir.Program) ([][]ops.Op, error) {
	var lists [][]ops.Op
	for r := range s.Ranks {
		list, err := ops.Unroll(p, s.Case(r))
		if err != nil {
			return nil, err
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// Of is the system of a program: each rank's results have the values and the places that
// its schedule gives them. Nil lists are unrolled from the program.
func Of(p *hostir.Program, shape Shape, lists [][]ops.Op, modes ...Mode) (System, error) {
	s := System{Ranks: lists, Hosts: shape.Hosts, Modes: modes, ElementSize: shape.ElementSize,
		Words:   map[string]int64{},
		Ordered: (&meaning{schedule: p.Schedule, shape: shape}).promises()}
	if lists == nil {
		var err error
		if s.Ranks, err = shape.Unroll(p); err != nil {
			return System{}, err
		}
	}
	for _, sem := range p.Semaphores {
		members := int64(1)
		if !sem.Count.IsZero() {
			var err error
			if members, err = sem.Count.Eval(shape.env(p, 0)); err != nil {
				return System{}, fmt.Errorf("size %s: %w", sem.Name, err)
			}
		}
		s.Words[sem.Name] = 4 * int64(shape.Ranks) * members
	}
	for name := range p.BlockSemaphores() {
		s.Words[name] *= blocks
	}
	if err := s.turns(p, shape); err != nil {
		return System{}, fmt.Errorf("size landings: %w", err)
	}
	for r := range shape.Ranks {
		for _, b := range p.Buffers {
			if _, ok := s.Turns[b.Name]; ok {
				continue
			}
			if err := s.buffer(p, shape, b, r); err != nil {
				return System{}, err
			}
		}
	}
	return s, nil
}

// buffer adds a rank's buffer to the memory, and to the results where it is one.
func (s *System) buffer(p *hostir.Program, shape Shape, b hostir.Buffer, rank int) error {
	n, err := b.Elements.Eval(shape.env(p, rank))
	if err != nil {
		return fmt.Errorf("size %s: %w", b.Name, err)
	}
	if err := s.cutColumns(b, n, shape.env(p, rank)); err != nil {
		return err
	}
	m := &meaning{schedule: p.Schedule, shape: shape, rank: rank, ordered: s.Ordered}
	element := b.ElementSize(shape.ElementSize)
	use := ops.Use{At: ops.Loc{Rank: rank, Buffer: b.Name}, Bytes: n * element}
	memory := Buffer{Use: use, Plan: b.Owner == hostir.Plan, Private: b.Owner == hostir.Caller && !b.Shared}
	t, declared := p.Schedule.Tensor(b.Name)
	if !memory.Plan && declared && !(t.Root && rank > 0) {
		places, err := m.places(t)
		if err != nil {
			return err
		}
		places = s.inParts(b.Name, places)
		if !b.Counts.IsZero() && int64(len(places)) <= n {
			n = int64(len(places)) // the buffer has room for more
			memory.Bytes, use.Bytes = n*element, n*element
		}
		if int64(len(places)) != n {
			return fmt.Errorf("%s of rank %d has %d elements, its placement %s gives it %d", b.Name,
				rank, n, t, len(places))
		}
		if memory.Input = !p.Schedule.Made(b.Name); memory.Input {
			memory.Values = func(run int) []Number { return shape.inMemory(t, m.inputs(run, b.Name, places)) }
		} else if n > 0 {
			s.Results = append(s.Results, Result{At: use,
				Want: func(run int) []Number { return shape.inMemory(t, m.outputs(run, b.Name, places)) }})
		}
	}
	if n > 0 {
		s.Memory = append(s.Memory, memory)
	}
	return s.inner(m, b, memory)
}

// inner adds a tensor that lies within a buffer: the caller writes its contents over the
// buffer's own, or it is a result there.
func (s *System) inner(m *meaning, b hostir.Buffer, memory Buffer) error {
	t := b.Inner.Tensor
	if t.Name == "" {
		return nil
	}
	places, err := m.places(t)
	if err != nil {
		return err
	}
	use := ops.Use{At: memory.At, Bytes: int64(len(places)) * m.shape.ElementSize}
	if b.Inner.Part {
		use.At.Offset = int64(m.rank) * use.Bytes
	}
	if use.At.Offset+use.Bytes > memory.Bytes {
		return fmt.Errorf("%s of rank %d has %d bytes, of which its place in %s leaves fewer",
			t.Name, m.rank, use.Bytes, b.Name)
	}
	if m.schedule.Made(t.Name) {
		s.Results = append(s.Results, Result{At: use,
			Want: func(run int) []Number { return m.outputs(run, t.Name, places) }})
		return nil
	}
	memory.Use, memory.Input, memory.Values = use, true, func(run int) []Number { return m.inputs(run, t.Name, places) }
	s.Memory = append(s.Memory, memory)
	return nil
}

// extent is the value of an extent.
func (s Shape) extent(e schedule.Extent) (int64, error) {
	switch e {
	case schedule.M:
		return s.M, nil
	case schedule.K:
		return s.K, nil
	case schedule.N:
		return s.N, nil
	case schedule.D:
		return int64(s.Ranks), nil
	}
	if n, ok := s.Extents[string(e)]; ok {
		return n, nil
	}
	var n int64
	if _, err := fmt.Sscan(string(e), &n); err != nil || n <= 0 {
		return 0, fmt.Errorf("extent %q has no value", e)
	}
	return n, nil
}

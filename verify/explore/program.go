package explore

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
	"ovgen/verify/reading"
)

// ShapeOf is a small shape that fits a program on a mesh of that size; a program over hosts gets the fewest hosts above
// one. The extents differ from each other, so that no two dimensions can be mistaken for each other. No step has a
// single row, and where several ranks have columns, none has a single column: such a product would be the same with its
// operands swapped.
func ShapeOf(p *hostir.Program, ranks int) ops.Case {
	d, rows, columns, width := int64(ranks), int64(ranks), int64(ranks), headWidth(p, ranks)
	for _, c := range p.Checks {
		switch {
		case c.Extent == schedule.M:
			rows = max(rows, c.Divisor(d, width))
		case c.Extent == schedule.N && c.Divisor(d, width) > 1:
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
	c := ops.Case{Ranks: ranks, Hosts: hosts, ElementBits: 8 * size, Extents: hostir.Env{"M": 2 * rows, "K": 3 * d,
		"N": columns, "N2": 2 * d, "N3": 4 * d, "F": 5 * d, "P": 6 * d, "W": width}}
	heads(p, c)
	divided(p, c)
	for _, t := range p.Schedule.Tensors {
		if axis, split, ok := t.Sharded(); ok && t.Axes[axis].Outer[split].Uneven {
			_, pairs := reading.Ragged(t)
			return uneven(p, c, pairs)
		}
	}
	return c
}

// headWidth is the number of columns of a head whose width is an extent: two pairs, or the least multiple of two pairs
// that the program's checks allow.
func headWidth(p *hostir.Program, ranks int) int64 {
	width := int64(4)
	misfit := func(c hostir.Divide) bool {
		return c.Extent == schedule.W && c.With == "" && width%c.Divisor(int64(ranks), 1) != 0
	}
	for slices.ContainsFunc(p.Checks, misfit) {
		width += 4
	}
	return width
}

// heads enlarges the extents of columns that are cut into heads, by the checks on the shape. The first such extent has
// one head a rank, the second has two, and so on.
func heads(p *hostir.Program, shape ops.Case) {
	times := int64(0)
	for _, c := range p.Checks {
		if c.Heads == "" || constant(c.Extent) {
			continue
		}
		times++
		shape.Extents[string(c.Extent)] = times * c.Divisor(int64(shape.Ranks), shape.Extents["W"])
	}
}

// constant reports whether an extent is a number.
func constant(e schedule.Extent) bool {
	_, err := strconv.Atoi(string(e))
	return err == nil
}

// divided enlarges extents to multiples of the program's divisors, so that no two extents are equal.
func divided(p *hostir.Program, shape ops.Case) {
	alike := func(e string, n int64) bool {
		for other, x := range shape.Extents {
			if other != e && x == n {
				return true
			}
		}
		return false
	}
	for again := true; again; {
		again = false
		for _, c := range p.Checks {
			e, by := string(c.Extent), c.Divisor(int64(shape.Ranks), shape.Extents["W"])
			n, with := shape.Extents[e], max(shape.Extents[string(c.With)], 1) // no other extent, or a constant
			if n*with%by == 0 {                                                // a constant is 0 here
				continue
			}
			for n += by - n%by; alike(e, n); {
				n += by
			}
			shape.Extents[e], again = n, true // the other divisors of this extent are checked again
		}
	}
}

// uneven gives parts different counts, one of them zero, and makes M their sum. There is a count for each rank, or for
// each pair of ranks. Where parts are balanced, one part has a row more than the others.
func uneven(p *hostir.Program, c ops.Case, pairs bool) ops.Case {
	if e, ok := p.Balanced(); ok {
		if !e.Constant() {
			c.Extents[string(e)]++
		}
		c.Counts = p.Counts(c.Env(p))
		return c
	}
	n := c.Ranks
	if pairs {
		n *= c.Ranks
	}
	c.Extents["M"] = 0
	for i := range n {
		count := min([]int64{2, 4, 0, 3}[i%4], mostOf(p.Schedule))
		c.Counts = append(c.Counts, count)
		c.Extents["M"] += count
	}
	if !p.Schedule.Bounded() {
		return c
	}
	c.Extents["P"] = 5 // more than any count
	for _, x := range p.Checks {
		if by := x.Divisor(int64(c.Ranks), c.Extents["W"]); x.Extent == schedule.P {
			c.Extents["P"] += by - c.Extents["P"]%by
		}
	}
	return c
}

// mostOf is the greatest count for which all tensors have room.
func mostOf(s schedule.Schedule) int64 {
	most := int64(math.MaxInt64)
	for _, t := range s.Tensors {
		for _, a := range t.Axes {
			for _, x := range a.Outer {
				if n, err := strconv.ParseInt(string(x.Most), 10, 64); err == nil {
					most = min(most, n)
				}
			}
		}
	}
	return most
}

// Of is the system of a program: each rank's results have the values and the places that the schedule gives them. Nil
// lists are unrolled from the program.
func Of(p *hostir.Program, shape ops.Case, lists [][]ops.Op, modes ...Mode) (System, error) {
	s := System{Ranks: lists, Hosts: shape.Hosts, ElementBits: shape.ElementBits,
		Words:   map[string]int64{},
		Ordered: meaningOf(p.Schedule, shape, 0).promises()}
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
			if members, err = sem.Count.Eval(shape.Env(p)); err != nil {
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
	s.Narrow, s.Wide = map[string]int64{}, map[string]bool{}
	for _, b := range p.Buffers {
		switch bits := b.Bits(shape.ElementBits); {
		case bits < shape.ElementBits:
			s.Narrow[b.Name] = bits
		case bits == 2*shape.ElementBits:
			s.Wide[b.Name] = true
		}
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
	for i := range s.Memory {
		s.Memory[i].Values = once(s.Memory[i].Values)
	}
	for i := range s.Results {
		s.Results[i].Want = once(s.Results[i].Want)
	}
	return s.With(s.Ranks, modes...), nil
}

// With is the system with other operations and modes. Inputs and expected results are computed once for all.
func (s System) With(lists [][]ops.Op, modes ...Mode) System {
	s.Ranks, s.Modes = lists, modes
	for _, t := range s.Turns { // each place is used twice
		for len(modes) > 0 && len(s.Modes) < t.Halves+1 {
			s.Modes = append(s.Modes[:len(s.Modes):len(s.Modes)], s.Modes[len(s.Modes)%len(modes)])
		}
	}
	return s
}

// once keeps the numbers of each run, so that they are computed once.
func once(of func(run int) []Number) func(run int) []Number {
	if of == nil {
		return nil
	}
	var lock sync.Mutex
	known := map[int][]Number{}
	return func(run int) []Number {
		lock.Lock()
		defer lock.Unlock()
		list, ok := known[run]
		if !ok {
			list = of(run)
			known[run] = list
		}
		return list
	}
}

// buffer adds a rank's buffer to the memory, and to the results if it is a result.
func (s *System) buffer(p *hostir.Program, shape ops.Case, b hostir.Buffer, rank int) error {
	n, err := b.Elements.Eval(shape.At(rank).Env(p))
	if err != nil {
		return fmt.Errorf("size %s: %w", b.Name, err)
	}
	if err := s.cutColumns(b, n, shape.At(rank).Env(p)); err != nil {
		return err
	}
	m := meaningOf(p.Schedule, shape, rank)
	m.ordered = s.Ordered
	bytes, err := b.Bytes(n, shape.ElementBits)
	if err != nil {
		return err
	}
	use := ops.Use{At: ops.Loc{Rank: rank, Buffer: b.Name}, Bytes: bytes}
	memory := Buffer{Use: use, Plan: b.Owner == hostir.Plan, Private: b.Owner == hostir.Caller && !b.Shared,
		Constant: b.Owner == hostir.Caller && b.Tensor.Constant}
	t, declared := p.Schedule.Tensor(b.Name)
	if !memory.Plan && declared && !(t.Root && rank > 0) {
		places, err := m.places(t)
		if err != nil {
			return err
		}
		places = s.inParts(b.Name, places)
		if !b.Counts.IsZero() && int64(len(places)) <= n {
			n = int64(len(places)) // the buffer has room for more
			if memory.Bytes, err = b.Bytes(n, shape.ElementBits); err != nil {
				return err
			}
			use.Bytes = memory.Bytes
		}
		if int64(len(places)) != n {
			return fmt.Errorf("%s of rank %d has %d elements, its placement %s gives it %d", b.Name,
				rank, n, t, len(places))
		}
		if memory.Input = !p.Schedule.Made(b.Name); memory.Input {
			memory.Values = func(run int) []Number { return inMemory(t, shape, m.inputs(run, b.Name, places)) }
		} else if n > 0 {
			s.Results = append(s.Results, Result{At: use,
				Want: func(run int) []Number { return inMemory(t, shape, m.outputs(run, b.Name, places)) }})
		}
	}
	if n > 0 {
		s.Memory = append(s.Memory, memory)
	}
	return s.inner(m, b, shape.ElementBits, memory)
}

// inner adds a tensor that lies within a buffer. The caller writes the tensor's contents over the buffer's, or the
// tensor is a result there.
func (s *System) inner(m *meaning, b hostir.Buffer, plan int64, memory Buffer) error {
	t, lies := m.Schedule.Tensor(b.Inner.Tensor.Name)
	if !lies {
		return nil
	}
	places, err := m.places(t)
	if err != nil {
		return err
	}
	use := ops.Use{At: memory.At, Bytes: int64(len(places)) * plan / 8}
	if b.Inner.Part {
		use.At.Offset = int64(m.rank) * use.Bytes
	}
	if use.At.Offset+use.Bytes > memory.Bytes {
		return fmt.Errorf("%s of rank %d has %d bytes, of which its place in %s leaves fewer",
			t.Name, m.rank, use.Bytes, b.Name)
	}
	if m.Schedule.Made(t.Name) {
		s.Results = append(s.Results, Result{At: use,
			Want: func(run int) []Number { return m.outputs(run, t.Name, places) }})
		return nil
	}
	memory.Use, memory.Input, memory.Values = use, true, func(run int) []Number { return m.inputs(run, t.Name, places) }
	s.Memory = append(s.Memory, memory)
	return nil
}

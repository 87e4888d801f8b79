package explore

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// meaning defines a schedule's tensors: which elements of a tensor a rank has, in which
// order, and the value of each element of a result.
type meaning struct {
	schedule schedule.Schedule
	shape    Shape
	rank     int
	ordered  bool                  // promises says so
	extents  map[string][]int64    // of tensors and results that were read
	spelt    map[string]spelling   // of the results of operations that were read
	known    map[numbered]Number   // elements of results that were read
	handed   map[string][][]Number // the operands of calls that were read
}

// numbered is an element of a tensor, row by row, in a run.
type numbered struct {
	run  int
	name string
	at   int64
}

// places are the elements of the whole tensor that the rank has, in the order of its
// memory, numbered row by row.
func (m *meaning) places(t schedule.Tensor) ([]int64, error) {
	list := []int64{0}
	for n, axis := range t.Axes {
		extent, err := m.shape.extent(axis.Extent)
		if err != nil {
			return nil, fmt.Errorf("place %s: %w", t.Name, err)
		}
		local, err := m.local(axis, extent)
		if err != nil {
			return nil, fmt.Errorf("place %s: %w", t.Name, err)
		}
		var next []int64
		for _, outer := range list {
			part := local
			if ragged(t) && n == 2 { // outer numbers a pair of ranks
				part = local[:m.shape.Counts[outer]]
			}
			for _, i := range part {
				next = append(next, outer*extent+i)
			}
		}
		list = next
	}
	return list, nil
}

// ragged reports whether a tensor has a part for each two ranks, each of its own length.
func ragged(t schedule.Tensor) bool {
	axis, split, ok := t.Sharded()
	return ok && t.Axes[axis].Outer[split].Uneven && t.Axes[axis].Extent == schedule.D && len(t.Axes) == 3
}

// local are the indices of an axis that the rank has.
func (m *meaning) local(axis schedule.Axis, extent int64) ([]int64, error) {
	list, inner := []int64{0}, extent
	for _, s := range axis.Outer {
		if s.Uneven && axis.Extent != schedule.D {
			return m.counted(s), nil
		}
		count, err := m.shape.extent(s.Count)
		if err != nil {
			return nil, err
		}
		if inner%count != 0 {
			return nil, fmt.Errorf("%d is not divided by %d", inner, count)
		}
		inner /= count
		var next []int64
		for _, from := range list {
			for part := range count {
				at := (part + int64(s.Shift)) % count
				if s.Kind != schedule.DeviceX || at == int64(m.rank) {
					next = append(next, from+part*inner)
				}
			}
		}
		list = next
	}
	var all []int64
	for _, from := range list {
		for i := range inner {
			all = append(all, from+i)
		}
	}
	return all, nil
}

// counted are the indices of an axis in uneven parts that the rank has.
func (m *meaning) counted(s schedule.Split) []int64 {
	var list []int64
	from := int64(0)
	for part, n := range m.shape.Counts {
		if (part+s.Shift)%m.shape.Ranks == m.rank {
			for i := range n {
				list = append(list, from+i)
			}
		}
		from += n
	}
	return list
}

// input is an element of an input tensor in a run: the same on all ranks that have it.
func input(run int, name string, at int64) Number {
	return mixed(hashed(name), uint64(run), uint64(at))
}

func (m *meaning) inputs(run int, name string, places []int64) []Number {
	var list []Number
	for _, at := range places {
		list = append(list, input(run, name, at))
	}
	return list
}

// outputs are elements of a result.
func (m *meaning) outputs(run int, name string, places []int64) []Number {
	var list []Number
	for _, at := range places {
		list = append(list, m.output(run, name, at))
	}
	return list
}

// output is an element of a result, numbered row by row.
func (m *meaning) output(run int, name string, at int64) Number {
	sizes := m.sizes(name)
	index := make([]int64, len(sizes))
	for i := len(sizes) - 1; i >= 0; i-- {
		index[i], at = at%sizes[i], at/sizes[i]
	}
	return m.element(run, name, index)
}

// element is an element of an input, or of an operation's result.
func (m *meaning) element(run int, name string, index []int64) Number {
	key := numbered{run, name, 0}
	for i, n := range m.sizes(name) {
		key.at = key.at*n + index[i]
	}
	op, made := m.schedule.Maker(name)
	if !made {
		return input(run, name, key.at)
	}
	if x, known := m.known[key]; known {
		return x
	}
	if m.known == nil {
		m.known = map[numbered]Number{}
	}
	m.known[key] = m.made(run, op, index)
	return m.known[key]
}

// made is an element of an operation's result.
func (m *meaning) made(run int, op schedule.Op, index []int64) Number {
	if op.Call != "" {
		return m.call(run, op, index)
	}
	s := m.letters(op)
	values := map[rune]int64{}
	for i, l := range s.out {
		values[l] = index[i]
	}
	sum := m.total(run, s, s.summed(), values)
	if m.partial(s) {
		return m.behind(run, op, index, sum)
	}
	for n, f := range op.Then {
		switch {
		case f.Do == schedule.AddBias:
			sum = plus(m.element(run, f.In[0], index[len(index)-1:]), sum)
		case f.Do == schedule.ApplyFromFP32 && n == 0 && len(op.In) == 1:
			sum = rounded(halves(sum))
		case f.Do == schedule.ApplyRotary:
			sum = m.turned(run, op, n, index)
		case !m.ofRows(f) && !f.Norm():
			sum = m.ofElement(run, f, index, sum)
		case m.ofRows(f) && len(op.Then) == 1 && len(op.In) == 1:
			sum = m.normed(run, op, index)
		default: // a number that no program makes
			sum = applied("unknown "+f.String(), sum)
		}
	}
	return sum
}

// ofRows reports whether a function is one of rows: it has operands that are rows.
func (m *meaning) ofRows(f schedule.Func) bool {
	return slices.ContainsFunc(f.In, func(name string) bool { return len(m.sizes(name)) == 1 })
}

// ofElement is a function of an element, and of those of its operands at the same place.
func (m *meaning) ofElement(run int, f schedule.Func, index []int64, x Number) Number {
	of := []uint64{hashed(string(f.Do)), uint64(x)}
	for _, name := range f.In {
		of = append(of, uint64(m.element(run, name, index)))
	}
	return mixed(of...)
}

// normed is an element of a tensor whose rows an operation norms.
func (m *meaning) normed(run int, op schedule.Op, index []int64) Number {
	last := len(index) - 1
	norm := op.Then[0]
	of := []uint64{nameOf(string(norm.Do), norm.AddedToSquares())}
	at := slices.Clone(index)
	for i := range m.sizes(op.Out)[last] {
		at[last] = i
		of = append(of, uint64(m.element(run, op.In[0], at)))
	}
	of = append(of, uint64(m.element(run, op.In[0], index)))
	for _, name := range norm.In {
		of = append(of, uint64(m.element(run, name, index[last:])))
	}
	return mixed(of...)
}

// partial reports whether the ranks have partial results of an operation.
func (m *meaning) partial(s spelling) bool {
	return slices.ContainsFunc(s.summed(), func(l rune) bool {
		_, _, spread := m.spread(s, l)
		return spread
	})
}

// behind is an element of a sum of partial results with what functions add to it: first the
// elements of tensors, and then those of rows.
func (m *meaning) behind(run int, op schedule.Op, index []int64, sum Number) Number {
	for _, do := range []schedule.FuncKind{schedule.AddTensor, schedule.AddBias} {
		for _, f := range op.Then {
			at := index
			if do == schedule.AddBias {
				at = index[len(index)-1:]
			}
			if f.Do == do {
				sum = add(sum, m.element(run, f.In[0], at), m.ordered)
			}
		}
	}
	for n, f := range op.Then {
		if f.Do == schedule.ApplyToFP32 && n == len(op.Then)-1 {
			return kept(sum)
		}
		if f.Do != schedule.AddTensor && f.Do != schedule.AddBias { // a number that no program makes
			sum = applied("unknown "+f.String(), sum)
		}
	}
	return sum
}

// total is the sum over letters of the product of the operands' elements: over the indices
// of each rank, and then, where the letter is spread over ranks, over the ranks in their
// order.
func (m *meaning) total(run int, s spelling, over []rune, values map[rune]int64) Number {
	if len(over) == 0 {
		product := m.at(run, s, 0, values)
		for i := 1; i < len(s.in); i++ {
			product = times(product, m.at(run, s, i, values))
		}
		return product
	}
	l := over[0]
	one := func(sum Number, i int64) Number {
		values[l] = i
		return plus(sum, m.total(run, s, over[1:], values))
	}
	axis, n, spread := m.spread(s, l)
	sum := Number(0)
	if !spread {
		for i := range n {
			sum = one(sum, i)
		}
		return sum
	}
	for r := range m.shape.Ranks {
		partial := Number(0)
		// places has seen every axis
		local, _ := (&meaning{schedule: m.schedule, shape: m.shape, rank: r}).local(axis, n)
		for _, i := range local {
			partial = one(partial, i)
		}
		sum = add(sum, partial, m.ordered)
	}
	return sum
}

// at is the element of operand i that letters name.
func (m *meaning) at(run int, s spelling, i int, values map[rune]int64) Number {
	var index []int64
	for _, l := range s.in[i] {
		index = append(index, values[l])
	}
	return m.element(run, s.op.In[i], index)
}

// spread is the axis of a letter that all operands which have it spread over the ranks, if
// they do, and how many indices there are.
func (m *meaning) spread(s spelling, l rune) (axis schedule.Axis, n int64, ok bool) {
	ok = true
	for i, in := range s.in {
		at := slices.Index(in, l)
		t, declared := m.schedule.Tensor(s.op.In[i])
		if at < 0 {
			continue
		}
		n = m.sizes(s.op.In[i])[at]
		if !declared {
			continue
		}
		which, _, sharded := t.Sharded()
		axis, ok = t.Axes[at], ok && sharded && which == at
	}
	return axis, n, ok && len(axis.Outer) > 0
}

// sizes are the extents of a tensor, or of an operation's result.
func (m *meaning) sizes(name string) []int64 {
	list, read := m.extents[name]
	if !read {
		if list = m.extentsOf(name); m.extents == nil {
			m.extents = map[string][]int64{}
		}
		m.extents[name] = list
	}
	return list
}

func (m *meaning) extentsOf(name string) (list []int64) {
	if t, ok := m.schedule.Tensor(name); ok {
		for _, a := range t.Axes {
			n, _ := m.shape.extent(a.Extent) // places has seen every axis
			list = append(list, n)
		}
		return list
	}
	op, _ := m.schedule.Maker(name)
	s := m.letters(op)
	for _, l := range s.out {
		for i, in := range s.in {
			if at := slices.Index(in, l); at >= 0 {
				list = append(list, m.sizes(op.In[i])[at])
				break
			}
		}
	}
	return list
}

// spelling is an operation's Index, parsed without package schedule.
type spelling struct {
	op  schedule.Op
	in  [][]rune
	out []rune
}

// letters reads an Index. The axes of "..." are numbered.
func (m *meaning) letters(op schedule.Op) spelling {
	if s, ok := m.spelt[op.Out]; ok {
		return s
	}
	from, to, _ := strings.Cut(op.Index, "->")
	parts := append(strings.Split(from, ","), to)
	more := 0
	for i, name := range op.In {
		if i < len(parts)-1 && strings.HasSuffix(parts[i], "...") {
			more = len(m.sizes(name)) - len(parts[i]) + len("...")
		}
	}
	s := spelling{op: op}
	for i, part := range parts {
		letters := []rune(strings.TrimSuffix(part, "..."))
		if strings.HasSuffix(part, "...") {
			for n := range more {
				letters = append(letters, rune('0'+n))
			}
		}
		if i < len(parts)-1 {
			s.in = append(s.in, letters)
		} else {
			s.out = letters
		}
	}
	if m.spelt == nil {
		m.spelt = map[string]spelling{}
	}
	m.spelt[op.Out] = s
	return s
}

// summed are the letters that the result lacks.
func (s spelling) summed() (list []rune) {
	for _, in := range s.in {
		for _, l := range in {
			if !slices.Contains(s.out, l) && !slices.Contains(list, l) {
				list = append(list, l)
			}
		}
	}
	return list
}

// promises reports whether the schedule promises to add partial results in the order of ranks: there are such results,
// and no way adds them on a round of the ranks or leaves the order to a library.
func (m *meaning) promises() bool {
	for _, move := range m.schedule.Moves {
		switch move.Way.(type) {
		case schedule.RingSum, schedule.RingAccumulate, schedule.NCCL, schedule.Rails:
			return false
		}
	}
	return slices.ContainsFunc(m.schedule.Ops, func(o schedule.Op) bool { return m.partial(m.letters(o)) })
}

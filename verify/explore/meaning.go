package explore

import (
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/verify/ops"
	"ovgen/verify/reading"
)

// meaning defines a schedule's tensors: the elements of a tensor that a rank has, their order, and the value of each
// element of a result.
type meaning struct {
	*reading.Sized
	rank    int
	plan    int64               // bits of an element of the plan's type
	ordered bool                // the answer of promises
	tensors map[string]*tensor  // the tensors whose elements were read
	handed  map[madeBy][]uint64 // the digests of the operands of calls whose elements were read
}

// meaningOf is the meaning of a schedule on a rank.
func meaningOf(s schedule.Schedule, c ops.Case, rank int) *meaning {
	extents := reading.Extents{schedule.D: c.Ranks}
	for symbol, n := range c.Extents {
		extents[schedule.Extent(symbol)] = int(n)
	}
	var counts []int
	for _, n := range c.Counts {
		counts = append(counts, int(n))
	}
	sized := &reading.Sized{Schedule: s.Joined(), Extents: extents, Counts: counts}
	return &meaning{Sized: sized, rank: rank, plan: c.ElementBits}
}

// elements is the number of elements of all tensors.
func (m *meaning) elements() (n int64) {
	for _, t := range m.Schedule.Tensors {
		all := int64(1)
		for _, size := range m.sizes(t.Name) {
			all *= size
		}
		n += all
	}
	return n
}

// on is the meaning for another rank.
func (m *meaning) on(rank int) *meaning {
	return &meaning{Sized: m.Sized, rank: rank, plan: m.plan, ordered: m.ordered}
}

// places lists the elements of the whole tensor that the rank has, numbered row by row, in the order of its memory.
func (m *meaning) places(t schedule.Tensor) ([]int64, error) {
	part, err := m.Part(t, m.rank)
	if err != nil {
		return nil, err
	}
	list := make([]int64, part.Count)
	for i := range list {
		list[i] = int64(part.At(i))
	}
	return list, nil
}

// local lists the indices of an axis that the rank has.
func (m *meaning) local(axis schedule.Axis) []int64 {
	list, _ := m.places(schedule.Tensor{Axes: []schedule.Axis{axis}}) // places has seen every axis
	return list
}

// input is an element of an input tensor in a run. Ranks that share a tensor out, or must agree on it, have the same
// elements. Where each rank has a whole tensor of its own, the ranks have different elements.
func (m *meaning) input(run int, name string, at int64) Number {
	if t, _ := m.Schedule.Tensor(name); t.Constant {
		run = 0
	}
	if m.Own(name) {
		return mixed(hashed(name), uint64(run), uint64(at), uint64(m.rank))
	}
	return mixed(hashed(name), uint64(run), uint64(at))
}

func (m *meaning) inputs(run int, name string, places []int64) []Number {
	var list []Number
	for _, at := range places {
		list = append(list, m.input(run, name, at))
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
	return m.element(run, name, m.tensor(name).index(at))
}

// element is an element of an input, or of an operation's result.
func (m *meaning) element(run int, name string, index []int64) Number {
	return m.elementOf(run, m.tensor(name), index)
}

func (m *meaning) elementOf(run int, t *tensor, index []int64) Number {
	at := int64(0)
	for i, n := range t.sizes {
		at = at*n + index[i]
	}
	known := t.known.in(run, t.sizes)
	if known[at] == unread {
		switch {
		case len(t.own) > 0 && t.op.Call == "":
			made, first := m.formulas(run, t.op, m.trees(t.own), index)
			copy(known[at-index[len(index)-1]+first:], made)
		case t.made:
			known[at] = m.made(run, t, index)
		case t.scales:
			known[at] = m.scaleMade(run, t.name, index)
		default:
			known[at] = m.input(run, t.name, at)
		}
	}
	return known[at]
}

// made is an element of an operation's result before the formulas that separate kernels make.
func (m *meaning) made(run int, t *tensor, index []int64) Number {
	if t.op.Call != "" {
		return m.call(run, t.op, index)
	}
	made := m.plain(run, t.op, index)
	if t.inFP32 {
		return kept(made)
	}
	return made
}

// plain is an element of an operation's result as its kernel leaves it, without the functions of separate kernels and
// as if it were rounded.
func (m *meaning) plain(run int, op schedule.Op, index []int64) Number {
	x := m.Index(op)
	values := &letters{}
	for i, l := range x.Out {
		values[l] = index[i]
	}
	t := m.tensor(op.Out)
	sum := m.total(run, t, []rune(x.Summed()), values)
	if t.partial {
		return m.behind(run, op, index, sum)
	}
	for _, f := range op.Then {
		switch row, tensor := f.AddsRow(), f.Adds(); {
		case row != "":
			sum = plus(m.element(run, row, index[len(index)-1:]), sum)
		case tensor != "":
			sum = plus(m.element(run, tensor, index), sum)
		default:
			sum = applied(f.Epilogue(), sum)
		}
	}
	return sum
}

// partial reports whether the ranks have partial results of an operation.
func (m *meaning) partial(op schedule.Op) bool {
	return !op.OfPartials() && slices.ContainsFunc([]rune(m.Index(op).Summed()), func(l rune) bool {
		_, _, spread := m.spread(op, l)
		return spread
	})
}

// behind is an element of a sum of partial results, plus the tensors that functions add to it, after the functions
// behind these.
func (m *meaning) behind(run int, op schedule.Op, index []int64, sum Number) Number {
	added, behind := m.Schedule.Summed(op)
	for _, tensor := range added {
		sum = add(sum, m.element(run, tensor, index), m.ordered)
	}
	if len(behind) == 0 {
		return sum
	}
	w, _ := m.walk(run, op, index)
	w.x = []Number{sum}
	return w.all(m.trees(behind))[0]
}

// total is the sum, over letters, of the product of the operands' elements. It sums over the indices of each rank and
// then, where the letter is spread over ranks, over the ranks in their order.
func (m *meaning) total(run int, t *tensor, over []rune, values *letters) Number {
	if len(over) == 0 {
		operands := m.operands(t)
		product := m.at(run, operands, 0, values, len(operands) > 1 || t.partial)
		for i := 1; i < len(operands); i++ {
			product = times(product, m.at(run, operands, i, values, true))
		}
		return product
	}
	l := over[0]
	one := func(sum Number, i int64) Number {
		values[l] = i
		return plus(sum, m.total(run, t, over[1:], values))
	}
	sum, letter := Number(0), m.over(t, l)
	if letter.of == nil {
		for i := range letter.n {
			sum = one(sum, i)
		}
		return sum
	}
	if t.apart { // the partial result of one rank alone
		for _, i := range letter.of[values['d']] {
			sum = one(sum, i)
		}
		return sum
	}
	for r, list := range letter.of {
		partial := Number(0)
		for _, i := range list {
			partial = one(partial, i)
		}
		for _, term := range m.Schedule.Terms(t.op) {
			partial = plus(partial, m.ofTerm(run, t.op, term, r, values))
		}
		sum = add(sum, partial, m.ordered)
	}
	return sum
}

// ofTerm is a rank's partial result of a term, which the rank adds to its partial result of the operation.
func (m *meaning) ofTerm(run int, op, term schedule.Op, rank int, of *letters) (partial Number) {
	x, values := m.Index(term), &letters{}
	for i, l := range m.Index(op).Out {
		values[rune(x.Out[i])] = of[l]
	}
	l := []rune(x.Summed())[0]
	axis, _, _ := m.spread(term, l)
	for _, i := range m.on(rank).local(axis) {
		values[l] = i
		partial = plus(partial, m.total(run, m.tensor(term.Out), nil, values))
	}
	return partial
}

// at is the element of operand i at the values of its letters, with its scale or, where scaled is false, without.
func (m *meaning) at(run int, operands []operand, i int, values *letters, scaled bool) Number {
	x, at := &operands[i], int64(0)
	for j, l := range x.letters {
		at = at*x.sizes[j] + values[l]
	}
	scales := x.scale != "" && scaled
	known := &x.known
	if scales {
		known = &x.scaled
	}
	all := known.in(run, x.sizes)
	if all[at] == unread {
		index := x.index(at)
		element := m.elementOf(run, x.tensor, index)
		if scales {
			element = m.scaled(run, element, ops.Side(i), x.tensor, index)
		}
		all[at] = element
	}
	return all[at]
}

// spread is the axis of a letter, and the number of its indices. ok says that all operands with the letter spread it
// over the ranks.
func (m *meaning) spread(op schedule.Op, l rune) (axis schedule.Axis, n int64, ok bool) {
	ok = true
	for i, in := range m.Index(op).In {
		at := strings.IndexRune(in, l)
		t, declared := m.Tensor(op.In[i])
		if at < 0 {
			continue
		}
		n = int64(m.Sizes(op.In[i])[at])
		if !declared && l == 'd' { // each rank's call made one
			return schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), n, true
		}
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
	var list []int64
	for _, n := range m.Sizes(name) {
		list = append(list, int64(n))
	}
	return list
}

// promises reports whether the schedule promises to add partial results in the order of ranks: there are partial
// results, and no way adds them on a round of the ranks or leaves the order to a library.
func (m *meaning) promises() bool {
	for _, move := range m.Schedule.Moves {
		switch move.Way.(type) {
		case schedule.RingSum, schedule.RingAccumulate, schedule.NCCL, schedule.Rails:
			return false
		}
	}
	return slices.ContainsFunc(m.Schedule.Ops, m.partial)
}

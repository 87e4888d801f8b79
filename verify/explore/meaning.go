package explore

import (
	"fmt"

	"ovgen/schedule"
)

// meaning is what a schedule says that its tensors are: which elements of a tensor a
// rank holds, in which order, and what each element of a result is.
type meaning struct {
	schedule schedule.Schedule
	shape    Shape
	rank     int
}

// places are the elements of the whole tensor that the rank holds, in the order of its
// memory, numbered row by row.
func (m *meaning) places(t schedule.Tensor) ([]int64, error) {
	list := []int64{0}
	for n, axis := range t.Axes {
		extent, err := m.shape.extent(axis.Extent)
		if err != nil {
			return nil, fmt.Errorf("place %s: %w", t.Name, err)
		}
		held, err := m.held(axis, extent)
		if err != nil {
			return nil, fmt.Errorf("place %s: %w", t.Name, err)
		}
		var next []int64
		for _, outer := range list {
			part := held
			if ragged(t) && n == 2 { // outer numbers a pair of ranks
				part = held[:m.shape.Counts[outer]]
			}
			for _, i := range part {
				next = append(next, outer*extent+i)
			}
		}
		list = next
	}
	return list, nil
}

// ragged says that a tensor has a part for each two ranks, of a length of its own.
func ragged(t schedule.Tensor) bool {
	axis, split, ok := t.Sharded()
	return ok && t.Axes[axis].Outer[split].Uneven && t.Axes[axis].Extent == schedule.D && len(t.Axes) == 3
}

// held are the indices of an axis that the rank holds.
func (m *meaning) held(axis schedule.Axis, extent int64) ([]int64, error) {
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

// counted are the indices of an axis in uneven parts that the rank holds.
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

// input is an element of an input tensor in a run: the same on all ranks that hold it.
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

// output is an element of a result by the definition of the operation.
func (m *meaning) output(run int, name string, at int64) Number {
	s := m.shape
	of := func(name string) func(i int64) Number {
		return func(i int64) Number { return input(run, name, i) }
	}
	if name == gathered {
		return input(run, "A", at)
	}
	which := name[1:] // of several products
	columns := map[string]int64{"": s.N, "2": s.Extents["N2"], "3": s.Extents["N3"]}[which]
	a, b, bias := of("A"), of("B"+which), "Bias"+which
	switch m.schedule.Op {
	case schedule.Copy:
		return a(at)
	case schedule.Sum:
		size := s.M * s.N
		return m.total("A", 0, int64(s.Ranks), func(d int64) Number { return a(d*size + at) })
	case schedule.Gradient:
		n, k := at/s.K, at%s.K
		return m.total("A", 0, s.M, func(i int64) Number { return times(a(i*s.N+n), b(i*s.K+k)) })
	case schedule.Matmul:
		i, j := at/columns, at%columns
		return m.total("A", 1, s.K, func(k int64) Number { return times(a(i*s.K+k), b(k*columns+j)) })
	case schedule.Linear:
		return m.linear(run, at/columns, at%columns, a, b, bias)
	case schedule.MLP:
		f, second := s.Extents["F"], of("B2")
		return plus(m.bias(run, "Bias2", at%s.N), m.total("B2", 1, f, func(l int64) Number {
			return times(gelu(m.linear(run, at/s.N, l, a, b, bias)), second(at%s.N*f+l))
		}))
	}
	return 0
}

// linear is an element of a linear layer.
func (m *meaning) linear(run int, row, column int64, a, b func(int64) Number, bias string) Number {
	k := m.shape.K
	return plus(m.bias(run, bias, column), m.total("A", 1, k, func(i int64) Number { return times(a(row*k+i), b(column*k+i)) }))
}

// bias is an element of a bias, zero where there is none.
func (m *meaning) bias(run int, name string, at int64) Number {
	if _, ok := m.schedule.Tensor(name); !ok {
		return 0
	}
	return input(run, name, at)
}

// total is the sum of f over n indices of a tensor's axis: over those of each rank, and
// then, where the axis is spread over ranks, over the ranks in their order.
func (m *meaning) total(tensor string, axis int, n int64, f func(i int64) Number) Number {
	t, _ := m.schedule.Tensor(tensor)
	sum := Number(0)
	if at, _, ok := t.Sharded(); !ok || at != axis {
		for i := range n {
			sum = plus(sum, f(i))
		}
		return sum
	}
	for r := range m.shape.Ranks {
		partial := Number(0)
		held, _ := (&meaning{m.schedule, m.shape, r}).held(t.Axes[axis], n) // places has seen every axis
		for _, i := range held {
			partial = plus(partial, f(i))
		}
		sum = add(sum, partial, ordered(m.schedule))
	}
	return sum
}

// ordered says that a schedule promises to add partial results in the order of ranks.
func ordered(s schedule.Schedule) bool {
	r := s.WithDefaults().Pipeline.Reduction
	return s.Reduces() && (r == schedule.AtEnd || r == schedule.InSlot)
}

package explore

import (
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// A call makes elements that no other operation makes: each is a function of all elements of its operands, in their
// order.

// calledOn is element i of a call's result, from the digest of a rank's part of each operand.
func calledOn(name string, operands []uint64, i int) Number {
	return mixed(append([]uint64{hashed("call " + name), uint64(i)}, operands...)...)
}

// digests are the digests of lists.
func digests(lists [][]Number) (all []uint64) {
	for _, list := range lists {
		all = append(all, uint64(digest(list)))
	}
	return all
}

// digest is a number that stands for a list of elements.
func digest(list []Number) Number {
	of := []uint64{uint64(len(list))}
	for _, x := range list {
		of = append(of, uint64(x))
	}
	return mixed(of...)
}

// madeBy names the result that a rank's call makes in a run.
type madeBy struct {
	result    string
	run, rank int
}

// call is an element of a call's result. A summand is made by the rank of its first index, and a row by its rank, where
// each rank makes its own rows. Otherwise the rank made the element that has its column in the result or in an operand.
func (m *meaning) call(run int, op schedule.Op, index []int64) Number {
	row, mine := index[len(index)-2], index[len(index)-1]
	owner, own := m.rank, m.tensor(op.Out).ownRows
	ranks := m.Extents[schedule.D]
	switch {
	case m.Index(op).Out[0] == 'd':
		owner = int(index[0])
	case own:
		owner, row = m.ownerOf(op.Out, row)
	default:
		for i := range ranks {
			if r := (m.rank + i) % ranks; slices.Contains(m.columnsMade(op, r), mine) {
				owner = r
				break
			}
		}
	}
	columns := m.columnsMade(op, owner)
	at := row*int64(len(columns)) + int64(slices.Index(columns, mine))
	return calledOn(op.Call, m.operandsOf(run, op, owner), int(at))
}

// callScale is the scale of a row of a call's result, of a summand that a rank's call makes, or of a rank's part of a
// row.
func (m *meaning) callScale(run int, op schedule.Op, at []int64) Number {
	owner, row := m.rank, at[0]
	switch {
	case m.Index(op).Out[0] == 'd':
		owner, row = int(at[0]), at[1]
	case len(at) > 1:
		owner = int(at[1])
	case m.tensor(op.Out).ownRows:
		owner, row = m.ownerOf(op.Out, row)
	}
	return scaleCalled(op.Call, m.operandsOf(run, op, owner), int(row))
}

// operandsOf are the digests of the operands of a rank's call.
func (m *meaning) operandsOf(run int, op schedule.Op, owner int) []uint64 {
	key := madeBy{op.Out, run, owner}
	if _, known := m.handed[key]; !known {
		if m.handed == nil {
			m.handed = map[madeBy][]uint64{}
		}
		var operands [][]Number
		for i, name := range op.In {
			x := m.Index(op)
			operands = append(operands, m.held(run, name, owner, m.OfOwnRows(op) && x.In[i][0] == x.Out[0]))
		}
		m.handed[key] = digests(operands)
	}
	return m.handed[key]
}

// held is a rank's part of a tensor that a call takes. Of a declared tensor it is the rank's part by its placement; of
// another one it is all rows of the rank's columns, or the rank's own rows.
func (m *meaning) held(run int, name string, rank int, own bool) (list []Number) {
	if t, declared := m.Schedule.Tensor(name); declared {
		places, _ := m.on(rank).places(t) // Of has seen every axis
		return inMemory(t, ops.Case{ElementBits: m.plan}, m.outputs(run, name, places))
	}
	first, rows := int64(0), m.sizes(name)[0]
	if own {
		first, rows = m.ownRows(name, rank)
	}
	for row := first; row < first+rows; row++ {
		for _, column := range m.columnsOf(name, rank) {
			list = append(list, m.element(run, name, []int64{row, column}))
		}
	}
	return list
}

// ownRows are a rank's own rows of a tensor, the first and how many: equal parts, or as Bind is told where the tensor
// is made of rows by counts.
func (m *meaning) ownRows(name string, rank int) (first, n int64) {
	t, declared := m.Schedule.Tensor(name)
	for of := name; !declared; t, declared = m.Schedule.Tensor(of) {
		op, _ := m.Maker(of) // what nothing declares an operation makes
		of = op.In[0]
	}
	if axis, k, spread := t.Sharded(); spread && axis == 0 && t.Axes[0].Outer[k].Uneven {
		t.Axes = t.Axes[:1]
		part, _ := m.Part(t, rank) // Of has seen every axis
		if part.Count == 0 {
			return 0, 0
		}
		return int64(part.At(0)), int64(part.Count)
	}
	n = m.sizes(name)[0] / int64(m.Extents[schedule.D])
	return n * int64(rank), n
}

// ownerOf is the rank that makes a row of a tensor as one of its own, and the row's number among these.
func (m *meaning) ownerOf(name string, row int64) (rank int, at int64) {
	for rank = range m.Extents[schedule.D] {
		if first, n := m.ownRows(name, rank); first <= row && row < first+n {
			return rank, row - first
		}
	}
	return rank, row
}

// columnsOf lists a rank's indices of a tensor's last axis.
func (m *meaning) columnsOf(name string, rank int) []int64 {
	if t, declared := m.Tensor(name); declared {
		return m.on(rank).local(t.Axes[len(t.Axes)-1])
	}
	op, _ := m.Maker(name)
	return m.columnsMade(op, rank)
}

// columnsMade lists a rank's indices of the last axis of the result that it makes. They are kept, since each element
// asks for them.
func (m *meaning) columnsMade(op schedule.Op, rank int) []int64 {
	t := m.tensor(op.Out)
	list, known := t.columns[rank]
	if !known {
		list = m.lastAxis(op, rank)
		t.columns[rank] = list
	}
	return list
}

// lastAxis lists a rank's indices of the last axis of a result: the indices of the operand that has the axis, or of the
// result where no operand has it.
func (m *meaning) lastAxis(op schedule.Op, rank int) []int64 {
	x := m.Index(op)
	for i, in := range x.In {
		at := strings.Index(in, x.Out[len(x.Out)-1:])
		t, declared := m.Schedule.Tensor(op.In[i])
		switch {
		case at < 0:
		case declared:
			return m.on(rank).local(t.Axes[at])
		default:
			return m.columnsOf(op.In[i], rank)
		}
	}
	if t, declared := m.Tensor(op.Out); declared {
		return m.on(rank).local(t.Axes[len(t.Axes)-1])
	}
	return nil
}

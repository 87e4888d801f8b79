package tables

import (
	"cmp"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

// rectangle is a group of tiles of a rank's rows: its first row and column in the result, and its numbers of rows and
// columns.
type rectangle struct{ row, rows, column, columns int64 }

// rectangles are the groups of a launch, in the order of their words.
func (x *launched) rectangles() (list []rectangle) {
	t, p := x.At.Tiled, x.p
	rows, columns, high, broad := int64(p[t.Rows]), int64(p[t.N]), int64(p[t.High]), int64(p[t.Broad])
	for row := int64(0); row < rows; row += high {
		for column := int64(0); column < columns; column += broad {
			list = append(list, rectangle{row, min(high, rows-row), column, min(broad, columns-column)})
		}
	}
	return list
}

// scatter lists the touches of a launch: its beginning, each group of the tiles of each peer's rows, and each group of
// this rank's rows with its sum. The products of this rank's rows stay on the multiprocessors: they are listed as if
// they went through this rank's slot.
func (x *launched) scatter() {
	t, p := x.At.Tiled, x.p
	if p[x.At.Block] == 0 {
		return
	}
	m := x.memory()
	ranks, rank, groups := p[t.Ranks], p[t.Rank], x.rectangles()
	if ranks > 1 {
		x.word(touch.Write, p[x.At.Block], 0)
		for group := range groups {
			x.ofGroup(touch.Post, 1, kernels.PrePost, group)
		}
	}
	rows := func(of uint64) uint64 { return x.mapped(kernels.RowsMap) + of*uint64(m.shard) }
	for ahead := uint64(1); ahead < ranks; ahead++ {
		for group, g := range groups {
			x.number++
			at := func(place int) uint64 { return x.groupWord(p[x.At.Lists[place].At+int(ahead)-1], group) }
			x.word(touch.Wait, at(kernels.PreWait), 1)
			m.parts(rows((rank+ahead)%ranks), g)
			m.part(touch.Write, x.mapped(x.SlotsAtPeers()+int(ahead)-1), g)
			x.word(touch.Write, at(kernels.PreWait), 0)
			x.word(touch.Post, at(kernels.PostPost), 1)
		}
	}
	slot := func(of uint64) uint64 { return x.mapped(kernels.SlotsMap) + of*uint64(m.result) }
	for group, g := range groups {
		x.number++
		m.parts(rows(rank), g)
		m.part(touch.Write, slot(rank), g)
		if ranks > 1 {
			x.word(touch.Write, p[x.At.Block], 0)
			x.ofGroup(touch.Wait, 1, kernels.PostWait, group)
		}
		for of := range ranks {
			m.part(touch.Read, slot(of), g)
		}
		for i := range x.Added {
			m.part(touch.Read, x.mapped(kernels.AddedMap+i), g)
		}
		m.finishes(g)
		m.part(touch.Write, x.mapped(kernels.ResultMap), g)
		if ranks > 1 {
			x.ofGroup(touch.Write, 0, kernels.PostWait, group)
			if group == 0 {
				x.noted()
			}
		}
	}
}

// groupWord is the word of a group, given the word of the first group.
func (x *launched) groupWord(first uint64, group int) uint64 {
	return first + 4*uint64(group)*x.p[x.At.Away]
}

// ofGroup adds the words of a group at one place.
func (x *launched) ofGroup(kind touch.Kind, value uint32, place, group int) {
	for _, w := range x.words(place) {
		x.word(kind, x.groupWord(w, group), value)
	}
}

// finishes adds what the function of each element reads for a group's part of a rank's results.
func (m tiledMemory) finishes(g rectangle) {
	if m.Finish == nil {
		return
	}
	plan := m.Type
	for i, o := range m.Finish.Operands {
		at := m.p[m.At.Finish+i]
		m.Type = cmp.Or(o.Type, plan)
		switch size := m.Type.Size(); o.Lies {
		case kernels.ByColumn:
			m.use(touch.Read, at+uint64(g.column*size), g.columns*size)
		case kernels.ByRow:
			m.use(touch.Read, at+uint64(g.row*size), g.rows*size)
		default:
			m.part(touch.Read, at, g)
		}
	}
	m.Type = plan
}

// part adds a group's part of a tensor of a rank's results.
func (m tiledMemory) part(kind touch.Kind, at uint64, g rectangle) {
	size, n := m.Type.Size(), int64(m.p[m.At.Tiled.N])
	if g.columns == n {
		m.use(kind, at+uint64(g.row*n*size), g.rows*n*size)
		return
	}
	m.add(touch.Touch{Kind: kind, At: driver.Ptr(at) + driver.Ptr((g.row*n+g.column)*size), Bytes: g.columns * size,
		Rows: int(g.rows), Apart: n * size, Type: m.Type})
}

// parts adds the rows of a shard and of the weights from which a group is made.
func (m tiledMemory) parts(a uint64, g rectangle) {
	t, p := m.At.Tiled, m.p
	row := int64(p[t.K]) * m.Type.Size()
	m.use(touch.Read, a+uint64(g.row*row), g.rows*row)
	m.use(touch.Read, m.mapped(kernels.WeightsMap)+uint64(g.column*row), g.columns*row)
}

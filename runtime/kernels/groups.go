package kernels

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// groups are the rectangles of a result that ranks post and await, each by a word of its own. They cut the rows of one
// rank, equally on all ranks, whatever the tiles of each rank.
type groups struct{ rows, columns int } // of one

// MostGroups returns the most groups that the rows of a rank may have. A group has a word for each peer, like a block
// that signals for itself, and a count word of the stream. It is at least 1 for MostShards + 1 ranks, and emission
// refuses kernels of tiles for more.
func MostGroups(ranks int) int {
	return min(plan.MostBlocks, (group.CountWords-1)/max(ranks-1, 1))
}

// groups returns the groups of a product: as many as allowed, each of whole rows of tiles. All but the last ones have
// as many columns as a number of whole tiles of one kernel like k: the first whose tiles divide all columns, or else
// the first of all.
func (s *Set) groups(k *kernel, ranks int, d driver.MatmulDesc) groups {
	wide := 0
	for _, o := range s.kernels {
		if o.likeness() == k.likeness() && (wide == 0 || d.N%wide != 0 && d.N%o.Tile.Columns == 0) {
			wide = o.Tile.Columns
		}
	}
	most, tiles := MostGroups(ranks), ceil(d.M, TileRows)
	high := ceil(tiles, most)
	beside := most / ceil(tiles, high)
	return groups{high * TileRows, ceil(ceil(d.N, wide), beside) * wide}
}

// count is how many there are.
func (g groups) count(d driver.MatmulDesc) int { return ceil(d.M, g.rows) * ceil(d.N, g.columns) }

func ceil(n, by int) int { return (n + by - 1) / by }

// rectangle is a group of a rank's rows: which rows and columns of the result.
type rectangle struct{ row, rows, column, columns int64 }

// rectangles are the groups of a launch, in the order of their words.
func (t tiled) rectangles(p []uint64) (list []rectangle) {
	rows, columns, high, broad := int64(p[t.rows]), int64(p[t.n]), int64(p[t.high]), int64(p[t.broad])
	for row := int64(0); row < rows; row += high {
		for column := int64(0); column < columns; column += broad {
			list = append(list, rectangle{row, min(high, rows-row), column, min(broad, columns-column)})
		}
	}
	return list
}

// scatter lists the touches of a launch: its beginning, each group of the tiles of each peer's rows, and each group
// of the own rows with its sum. The products of the own rows stay on the multiprocessors: they are listed as if they
// went through this rank's slot.
func (x *launched) scatter(typ driver.Type) {
	t, p := x.tiled, x.p
	if p[x.block] == 0 {
		return
	}
	m := x.memory(typ)
	ranks, rank, groups := p[t.ranks], p[t.rank], t.rectangles(p)
	if ranks > 1 {
		x.word(driver.TouchWrite, p[x.block], 0)
		for group := range groups {
			x.ofGroup(driver.TouchPost, 1, prePost, group)
		}
	}
	rows := func(of uint64) uint64 { return t.mapped(p, rowsMap) + of*uint64(m.shard) }
	for ahead := uint64(1); ahead < ranks; ahead++ {
		for group, g := range groups {
			x.number++
			at := func(place int) uint64 { return x.groupWord(p[x.lists[place].at+int(ahead)-1], group) }
			x.word(driver.TouchWait, at(preWait), 1)
			m.parts(rows((rank+ahead)%ranks), g)
			m.part(driver.TouchWrite, t.mapped(p, maps+int(ahead)-1), g)
			x.word(driver.TouchWrite, at(preWait), 0)
			x.word(driver.TouchPost, at(postPost), 1)
		}
	}
	slot := func(of uint64) uint64 { return t.mapped(p, slotsMap) + of*uint64(m.result) }
	for group, g := range groups {
		x.number++
		m.parts(rows(rank), g)
		m.part(driver.TouchWrite, slot(rank), g)
		if ranks > 1 {
			x.word(driver.TouchWrite, p[x.block], 0)
			x.ofGroup(driver.TouchWait, 1, postWait, group)
		}
		for of := range ranks {
			m.part(driver.TouchRead, slot(of), g)
		}
		if x.Rows > 0 {
			m.use(driver.TouchRead, p[t.bias]+uint64(g.column*typ.Size()), g.columns*typ.Size())
		}
		m.part(driver.TouchWrite, t.mapped(p, resultMap), g)
		if ranks > 1 {
			x.ofGroup(driver.TouchWrite, 0, postWait, group)
			if group == 0 {
				x.noted()
			}
		}
	}
}

// groupWord is a group's word, given the first one's.
func (x *launched) groupWord(first uint64, group int) uint64 {
	return first + 4*uint64(group)*x.p[x.away]
}

// ofGroup adds a group's words of one place.
func (x *launched) ofGroup(kind driver.TouchKind, value uint32, place, group int) {
	for _, w := range x.words(place) {
		x.word(kind, x.groupWord(w, group), value)
	}
}

// part is a group's part of a tensor of a rank's results.
func (m tiledMemory) part(kind driver.TouchKind, at uint64, g rectangle) {
	size, n := m.typ.Size(), int64(m.x.p[m.x.tiled.n])
	if g.columns == n {
		m.use(kind, at+uint64(g.row*n*size), g.rows*n*size)
		return
	}
	m.x.add(driver.Touch{Kind: kind, At: driver.Ptr(at) + driver.Ptr((g.row*n+g.column)*size), Bytes: g.columns * size,
		Rows: int(g.rows), Apart: n * size, Type: m.typ})
}

// parts are the rows of a shard and of the weights that a group is made of.
func (m tiledMemory) parts(a uint64, g rectangle) {
	t, p := m.x.tiled, m.x.p
	row := int64(p[t.k]) * m.typ.Size()
	m.use(driver.TouchRead, a+uint64(g.row*row), g.rows*row)
	m.use(driver.TouchRead, t.mapped(p, weightsMap)+uint64(g.column*row), g.columns*row)
}

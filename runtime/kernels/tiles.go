package kernels

import (
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Operands are the buffers of tiles: C has the results, A the own shard or the rows of all ranks, B the weights, and
// Bias a bias, or is plan.NoBias. Staging is memory of the plan for all shards but the own one, or for a slot for each
// rank's partial results.
type Operands struct{ C, Staging, A, B, Bias driver.Ptr }

// maps of a product: the own shard or the own slots, all shards or rows, weights and results; where ranks add up, also
// this rank's slot at each peer. Drivers that run no kernels on a GPU begin a map with the tensor's address.
const (
	ownMap = iota
	rowsMap
	weightsMap
	resultMap
	maps
)

// slotsMap is of the slots.
const slotsMap = ownMap

// mapped is the address with which a map begins.
func (t tiled) mapped(p []uint64, which int) uint64 { return p[t.maps+which*len(driver.TensorMap{})] }

// maps are how many the kernel's parameters have.
func (k Kernel) maps() int {
	if k.Scatters() {
		return maps + k.Terms
	}
	return maps
}

// tiled are places of the parameters of a product, in 64-bit words.
type tiled struct {
	maps        int // the first one's
	apart       int // distance in words between count words
	groups      int // of a sum: how many groups of tiles a shard has
	high, broad int // rows and columns of one
	gathered    int // address, of a gather
	ranks, rank int
	rows, k, n  int
	shards      int // the first one's address, of a gather
	bias        int // address
	padding     int // words at the end
}

// tile lays out the parameters behind the words.
func (l *layout) tile(next func(words int) int) {
	t := &l.tiled
	t.apart = next(1)
	if l.Scatters() {
		t.groups, t.high, t.broad = next(1), next(1), next(1)
	} else {
		t.gathered = next(1)
	}
	t.ranks, t.rank = next(1), next(1)
	t.rows, t.k, t.n = next(1), next(1), next(1)
	if !l.Scatters() {
		t.shards = next(l.Terms)
	}
	t.bias = next(1)
	const alignment = 8 // of a tensor map, in words
	t.padding = (alignment - l.size%alignment) % alignment
	next(t.padding)
}

// Padding is the words at the end of a kernel's parameters that it does not read.
func (t *Table) Padding(k Kernel) int { return t.layout(k).tiled.padding }

// Tiles posts that the own shard may be read, pulls the shards of the peers, rank+1's first, and multiplies each as
// soon as it is there; it posts to each when its shard was pulled, and ends when all have pulled the own one. d is the
// product of one shard.
func (s *Set) Tiles(q *plan.Queue, on *plan.Stream, x plan.Signals, d driver.MatmulDesc, o Operands,
	shards ...driver.Ptr) {
	s.product(q, on, Tiles, x, d, o, shards)
}

// Scatter posts that the own slots may be written, multiplies the rows of the peers, rank+1's first, into this rank's
// slots at the peers, and posts each group of tiles to its owner when it is written. It multiplies the own rows last,
// and adds the peers' partial results to each tile when they have posted its group. d is the product of one rank's
// rows.
func (s *Set) Scatter(q *plan.Queue, on *plan.Stream, x plan.Signals, d driver.MatmulDesc, o Operands,
	slots ...driver.Ptr) {
	s.product(q, on, Scatter, x, d, o, slots)
}

// product launches tiles that read or write the peers' memory at these addresses.
func (s *Set) product(q *plan.Queue, on *plan.Stream, kind Kind, x plan.Signals, d driver.MatmulDesc, o Operands,
	peers []driver.Ptr) {
	x.From, x.To = plan.EveryPeer, plan.EveryPeer
	rows := rowed{}
	if d.Bias {
		rows.n = 1
	}
	k := s.find(q, kind, &x, rows)
	if k == nil {
		return
	}
	k = s.best(k, q.Tiles(), q.Multiprocessors(), q.Size(), d).signal(q, on, x)
	k.describe(q, d, o, peers)
	at := func(place int, value driver.Ptr) { k.params[place] = uint64(value) }
	t := k.tiled
	at(t.apart, plan.CountApart)
	at(t.ranks, driver.Ptr(q.Size()))
	at(t.rank, driver.Ptr(q.Rank()))
	at(t.rows, driver.Ptr(d.M))
	at(t.k, driver.Ptr(d.K))
	at(t.n, driver.Ptr(d.N))
	if k.Scatters() {
		g := s.groups(k, q.Size(), d)
		at(t.groups, driver.Ptr(g.count(d)))
		at(t.high, driver.Ptr(g.rows))
		at(t.broad, driver.Ptr(g.columns))
		q.AwaitsGroups(x, g.count(d))
	} else {
		at(t.gathered, o.Staging)
		for i, shard := range peers {
			at(t.shards+i, shard)
		}
	}
	at(t.bias, o.Bias)
	k.enqueue(q, on, k.tiles(q.Multiprocessors(), q.Size(), d), TileThreads)
}

// best is the kernel of that name, where it makes other tiles than k and nothing else, or the one by the estimate.
func (s *Set) best(k *kernel, name string, multiprocessors, ranks int, d driver.MatmulDesc) *kernel {
	for _, o := range s.kernels {
		if o.Base() == name && o.likeness() == k.likeness() {
			return o
		}
	}
	return s.least(k, multiprocessors, ranks, d)
}

// least returns the kernel like k, of other tiles, that gives each multiprocessor the least work. Among equals it takes
// the first, or a wider one with which each multiprocessor makes a tile of every shard: a wider tile brings fewer
// operands, and the multiprocessors work while shards are under way.
func (s *Set) least(k *kernel, multiprocessors, ranks int, d driver.MatmulDesc) (best *kernel) {
	least := 0 // columns of all tiles that one multiprocessor makes, at most
	for _, o := range s.kernels {
		if o.likeness() != k.likeness() {
			continue
		}
		waves := o.waves(multiprocessors, ranks, d)
		load := waves * o.Tile.Columns
		if best == nil || load < least || load == least && o.Tile.Columns > best.Tile.Columns && waves >= ranks {
			best, least = o, load
		}
	}
	return best
}

// waves is how many tiles one multiprocessor makes, at most.
func (k *kernel) waves(multiprocessors, ranks int, d driver.MatmulDesc) int {
	at := max(multiprocessors/k.Tile.Cluster, 1) // clusters at once
	return (k.clusters(ranks, d) + at - 1) / at
}

// clusters counts the clusters of blocks that the tiles of all ranks take.
func (k *kernel) clusters(ranks int, d driver.MatmulDesc) int {
	tall, wide := k.Tile.Cluster*TileRows, k.Tile.Columns
	return ranks * ((d.M + tall - 1) / tall) * ((d.N + wide - 1) / wide)
}

// tiles are launched by as many blocks as there are tiles, or as it takes to pull all shards at once: no more than
// multiprocessors.
func (k *kernel) tiles(multiprocessors, ranks int, d driver.MatmulDesc) (blocks int) {
	c, clusters := k.Tile.Cluster, k.clusters(ranks, d)
	if !k.Scatters() {
		const pulled = 4 * 16 * 96 // bytes that a block has in flight
		clusters = max(clusters, ((ranks-1)*d.M*d.K*2/pulled+c-1)/c)
	}
	return min(clusters, multiprocessors/c) * c
}

// describe encodes the maps of a launch.
func (k *kernel) describe(q *plan.Queue, d driver.MatmulDesc, o Operands, peers []driver.Ptr) {
	ranks := q.Size()
	encode := func(i int, at driver.Ptr, shards, rows, columns, box int) {
		k.encode(q, i, driver.TensorMapDesc{At: at, Type: d.Type, Shards: shards, Rows: rows, Columns: columns,
			BoxRows: box})
	}
	encode(weightsMap, o.B, 1, d.N, d.K, k.Tile.Columns/k.Tile.Cluster)
	if k.Scatters() {
		encode(slotsMap, o.Staging, ranks, d.M, d.N, TileRows)
		encode(rowsMap, o.A, ranks, d.M, d.K, TileRows)
		encode(resultMap, o.C, 1, d.M, d.N, boxRows)
		for i, slot := range peers {
			encode(maps+i, slot, 1, d.M, d.N, boxRows)
		}
		return
	}
	gathered := o.Staging
	if ranks == 1 {
		gathered = o.A // which is not read by this map
	}
	encode(ownMap, o.A, 1, d.M, d.K, TileRows)
	encode(rowsMap, gathered, ranks, d.M, d.K, TileRows)
	encode(resultMap, o.C, ranks, d.M, d.N, boxRows)
}

// encode makes a map, where it has changed since the last launch.
func (k *kernel) encode(q *plan.Queue, i int, m driver.TensorMapDesc) {
	if m == k.mapped[i] {
		return
	}
	to := &k.params[k.tiled.maps+i*len(driver.TensorMap{})]
	if q.TensorMap((*driver.TensorMap)(unsafe.Pointer(to)), m) {
		k.mapped[i] = m
	}
}

// tiles lists the touches of a launch, part by part: its beginning, the tiles of each shard, and its end.
func (x *launched) tiles(typ driver.Type) {
	t, p := x.tiled, x.p
	if p[x.block] == 0 {
		return
	}
	m := x.memory(typ)
	ranks, rank := p[t.ranks], p[t.rank]
	x.begins(ranks)
	for ahead := range ranks {
		x.number++
		of := (rank + ahead) % ranks
		a := t.mapped(p, ownMap)
		if ahead > 0 {
			i := int(ahead) - 1
			a = p[t.gathered] + of*uint64(m.shard)
			x.word(driver.TouchWait, p[x.lists[preWait].at+i], 1)
			m.use(driver.TouchRead, p[t.shards+i], m.shard)
			m.use(driver.TouchWrite, a, m.shard)
			x.word(driver.TouchWrite, p[x.lists[preWait].at+i], 0)
			x.word(driver.TouchPost, p[x.lists[postPost].at+i], 1)
		}
		m.operands(a)
		m.bias()
		m.use(driver.TouchWrite, t.mapped(p, resultMap)+of*uint64(m.result), m.result)
	}
	x.number++
	if ranks > 1 {
		x.word(driver.TouchWrite, p[x.block], 0)
		x.each(driver.TouchWait, 1, postWait)
		x.each(driver.TouchWrite, 0, postWait)
		x.noted()
	}
}

// begins adds the beginning of a launch of tiles: a block counts itself, and the first one posts.
func (x *launched) begins(ranks uint64) {
	if ranks > 1 {
		x.word(driver.TouchWrite, x.p[x.block], 0)
		x.each(driver.TouchPost, 1, prePost)
	}
}

func (x *launched) word(kind driver.TouchKind, at uint64, value uint32) {
	x.add(driver.Touch{Kind: kind, At: driver.Ptr(at), Bytes: 4, Value: value})
}

// noted adds the step word, where the launch has one.
func (x *launched) noted() {
	if at := x.p[x.step]; at != 0 {
		x.word(driver.TouchWrite, at, uint32(x.p[x.value]))
	}
}

// tiledMemory adds the memory that tiles of a type touch. A shard is the rows of one rank, and so is a result.
type tiledMemory struct {
	x             *launched
	typ           driver.Type
	shard, result int64 // bytes
}

func (x *launched) memory(typ driver.Type) tiledMemory {
	t, p := x.tiled, x.p
	return tiledMemory{x, typ, int64(p[t.rows]*p[t.k]) * typ.Size(), int64(p[t.rows]*p[t.n]) * typ.Size()}
}

func (m tiledMemory) use(kind driver.TouchKind, at uint64, bytes int64) {
	m.x.add(driver.Touch{Kind: kind, At: driver.Ptr(at), Bytes: bytes, Type: m.typ})
}

// operands are a shard and the weights.
func (m tiledMemory) operands(a uint64) {
	t, p := m.x.tiled, m.x.p
	m.use(driver.TouchRead, a, m.shard)
	m.use(driver.TouchRead, t.mapped(p, weightsMap), int64(p[t.n]*p[t.k])*m.typ.Size())
}

func (m tiledMemory) bias() {
	if m.x.Rows > 0 {
		m.use(driver.TouchRead, m.x.p[m.x.tiled.bias], int64(m.x.p[m.x.tiled.n])*m.typ.Size())
	}
}

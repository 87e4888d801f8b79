package kernels

import (
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Operands are what tiles work at: the results, all shards but the own one, the own shard, the weights, and a bias or
// plan.NoBias.
type Operands struct{ C, Gathered, A, B, Bias driver.Ptr }

// maps of a product: the own shard, all shards, weights and results. Drivers that run no kernels on a GPU begin a map
// with the tensor's address.
const (
	ownMap = iota
	gatheredMap
	weightsMap
	resultMap
	maps
)

// mapped is the address with which a map begins.
func (t tiled) mapped(p []uint64, which int) uint64 { return p[t.maps+which*len(driver.TensorMap{})] }

// tiled are places of the parameters of a product, in 64-bit words.
type tiled struct {
	maps        int // the first one's
	apart       int // distance in words between count words
	gathered    int // address
	ranks, rank int
	rows, k, n  int
	shards      int // the first one's address
	bias        int // address
	padding     int // words at the end
}

// tile lays out the parameters behind the words.
func (l *layout) tile(next func(words int) int) {
	t := &l.tiled
	t.apart, t.gathered, t.ranks, t.rank = next(1), next(1), next(1), next(1)
	t.rows, t.k, t.n = next(1), next(1), next(1)
	t.shards = next(l.Terms)
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
	x.From, x.To = plan.EveryPeer, plan.EveryPeer
	rows := rowed{}
	if d.Bias {
		rows.n = 1
	}
	k := s.signal(q, on, Tiles, x, rows)
	if k == nil {
		return
	}
	k.describe(q, d, o)
	at := func(place int, value driver.Ptr) { k.params[place] = uint64(value) }
	t := k.tiled
	at(t.apart, plan.CountApart)
	at(t.gathered, o.Gathered)
	at(t.ranks, driver.Ptr(q.Size()))
	at(t.rank, driver.Ptr(q.Rank()))
	at(t.rows, driver.Ptr(d.M))
	at(t.k, driver.Ptr(d.K))
	at(t.n, driver.Ptr(d.N))
	for i, shard := range shards {
		at(t.shards+i, shard)
	}
	at(t.bias, o.Bias)
	k.enqueue(q, on, k.tiles(q.Multiprocessors(), q.Size(), d), TileThreads)
}

// tiles are launched by as many blocks as there are tiles, or as it takes to pull all shards at once: no more than
// multiprocessors.
func (k *kernel) tiles(multiprocessors, ranks int, d driver.MatmulDesc) (blocks int) {
	c := k.Tile.Cluster
	tall, wide := c*TileRows, k.Tile.Columns
	clusters := ranks * ((d.M + tall - 1) / tall) * ((d.N + wide - 1) / wide)
	const pulled = 4 * 16 * 96 // bytes that a block has in flight
	pulls := ((ranks-1)*d.M*d.K*2/pulled + c - 1) / c
	return min(max(clusters, pulls), multiprocessors/c) * c
}

// describe encodes the maps that have changed since the last launch.
func (k *kernel) describe(q *plan.Queue, d driver.MatmulDesc, o Operands) {
	ranks, gathered := q.Size(), o.Gathered
	if ranks == 1 {
		gathered = o.A // which is not read by this map
	}
	for i, m := range [maps]driver.TensorMapDesc{
		{At: o.A, Type: d.Type, Shards: 1, Rows: d.M, Columns: d.K, BoxRows: TileRows},
		{At: gathered, Type: d.Type, Shards: ranks, Rows: d.M, Columns: d.K, BoxRows: TileRows},
		{At: o.B, Type: d.Type, Shards: 1, Rows: d.N, Columns: d.K, BoxRows: k.Tile.Columns / k.Tile.Cluster},
		{At: o.C, Type: d.Type, Shards: ranks, Rows: d.M, Columns: d.N, BoxRows: boxRows},
	} {
		if m == k.mapped[i] {
			continue
		}
		to := &k.params[k.tiled.maps+i*len(driver.TensorMap{})]
		if q.TensorMap((*driver.TensorMap)(unsafe.Pointer(to)), m) {
			k.mapped[i] = m
		}
	}
}

// tiles adds what a launch does, part by part: its beginning, the tiles of each shard, and its end.
func (x *launched) tiles(typ driver.Type) {
	t, p := x.tiled, x.p
	if p[x.block] == 0 {
		return
	}
	read, write := driver.TouchRead, driver.TouchWrite
	shard := int64(p[t.rows]*p[t.k]) * typ.Size()
	result := int64(p[t.rows]*p[t.n]) * typ.Size()
	use := func(kind driver.TouchKind, at uint64, bytes int64) {
		x.add(driver.Touch{Kind: kind, At: driver.Ptr(at), Bytes: bytes, Type: typ})
	}
	word := func(kind driver.TouchKind, at uint64, value uint32) {
		x.add(driver.Touch{Kind: kind, At: driver.Ptr(at), Bytes: 4, Value: value})
	}
	ranks, rank := p[t.ranks], p[t.rank]
	if ranks > 1 {
		word(write, p[x.block], 0)
		x.each(driver.TouchPost, 1, prePost)
	}
	for ahead := range ranks {
		x.number++
		of := (rank + ahead) % ranks
		a := t.mapped(p, ownMap)
		if ahead > 0 {
			i := int(ahead) - 1
			a = p[t.gathered] + of*uint64(shard)
			word(driver.TouchWait, p[x.lists[preWait].at+i], 1)
			use(read, p[t.shards+i], shard)
			use(write, a, shard)
			word(write, p[x.lists[preWait].at+i], 0)
			word(driver.TouchPost, p[x.lists[postPost].at+i], 1)
		}
		use(read, a, shard)
		use(read, t.mapped(p, weightsMap), int64(p[t.n]*p[t.k])*typ.Size())
		if x.Rows > 0 {
			use(read, p[t.bias], int64(p[t.n])*typ.Size())
		}
		use(write, t.mapped(p, resultMap)+of*uint64(result), result)
	}
	x.number++
	if ranks > 1 {
		word(write, p[x.block], 0)
		x.each(driver.TouchWait, 1, postWait)
		x.each(write, 0, postWait)
		if at := p[x.step]; at != 0 {
			word(write, at, uint32(p[x.value]))
		}
	}
}

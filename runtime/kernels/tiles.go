package kernels

import (
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Operands are the buffers of tiles. C has the results, A this rank's shard or the rows of all ranks, B the weights,
// and Bias a bias, or plan.NoBias. Staging is memory of the plan for all shards but this rank's, or for a slot for each
// rank's partial results.
type Operands struct{ C, Staging, A, B, Bias driver.Ptr }

// The tensor maps of a product: of this rank's shard or slots, of all shards or rows, of weights and of results. Where
// ranks add up, more maps follow: of added tensors, and of this rank's slot at each peer. Without a GPU a map begins
// with the tensor's address.
const (
	OwnMap = iota
	RowsMap
	WeightsMap
	ResultMap
	Maps
)

// SlotsMap is the map of the slots, and AddedMap of the first tensor that a kernel adds.
const SlotsMap, AddedMap = OwnMap, Maps

// SlotsAtPeers is the first map of this rank's slots at the peers.
func (k Kernel) SlotsAtPeers() int { return Maps + k.Added }

// maps is the number of maps in the kernel's parameters.
func (k Kernel) maps() int {
	if k.Scatters() {
		return k.SlotsAtPeers() + k.Terms
	}
	return Maps
}

// Tiled are places of the parameters of a product, in 64-bit words.
type Tiled struct {
	Maps        int // place of the first map
	Apart       int // distance in words between count words
	Groups      int // of a sum: number of groups of tiles of a shard
	High, Broad int // rows and columns of a group
	Gathered    int // address, of a gather
	Ranks, Rank int
	Rows, K, N  int
	Shards      int // address of the first shard, of a gather
	Bias        int // address, of a gather
	Padding     int // words at the end
}

// tile lays out the parameters behind the words.
func (l *Layout) tile(next func(words int) int) {
	t := &l.At.Tiled
	t.Apart = next(1)
	if l.Scatters() {
		t.Groups, t.High, t.Broad = next(1), next(1), next(1)
	} else {
		t.Gathered = next(1)
	}
	t.Ranks, t.Rank = next(1), next(1)
	t.Rows, t.K, t.N = next(1), next(1), next(1)
	if !l.Scatters() {
		t.Shards = next(l.Terms)
	}
	if !l.Scatters() {
		t.Bias = next(1)
	}
	l.finish(next)
	const alignment = 8 // of a tensor map, in words
	t.Padding = (alignment - l.At.Size%alignment) % alignment
	next(t.Padding)
}

// Padding is the number of words at the end of a kernel's parameters that the kernel does not read.
func (t *Table) Padding(k Kernel) int { return t.layout(k).At.Tiled.Padding }

// Tiles posts that this rank's shard may be read, pulls the shards of the peers, rank+1's first, and multiplies each
// shard as soon as it has arrived. It posts to each peer when that peer's shard was pulled, and ends when all peers
// have pulled this rank's shard. d is the product of one shard.
func (s *Set) Tiles(q *plan.Queue, on *plan.Stream, x plan.Signals, d driver.MatmulDesc, o Operands,
	shards ...driver.Ptr) {
	s.product(q, on, Tiles, x, d, o, shards)
}

// Scatter posts that this rank's slots may be written, multiplies the rows of the peers, rank+1's first, into this
// rank's slots at the peers, and posts each group of tiles to its owner when the group is written. It multiplies this
// rank's rows last, and adds the peers' partial results to each tile when the peers have posted its group.
func (s Summing) Scatter(q *plan.Queue, on *plan.Stream, x plan.Signals, d driver.MatmulDesc, o Operands,
	slots ...driver.Ptr) {
	s.product(q, on, Scatter, x, d, o, slots)
}

// product launches tiles that read or write the peers' memory at the given addresses.
func (s Summing) product(q *plan.Queue, on *plan.Stream, kind Kind, x plan.Signals, d driver.MatmulDesc, o Operands,
	peers []driver.Ptr) {
	x.From, x.To = plan.EveryPeer, plan.EveryPeer
	k := s.kernel(q, kind, &x, d.Bias)
	if k == nil {
		return
	}
	k = s.set.best(k, q.Tiles(), q.Multiprocessors(), q.Size(), d).signal(q, on, x)
	s.tell(k)
	k.describe(q, d, o, s.added.at[:k.Added], peers)
	at := func(place int, value driver.Ptr) { k.params[place] = uint64(value) }
	t := k.At.Tiled
	at(t.Apart, plan.CountApart)
	at(t.Ranks, driver.Ptr(q.Size()))
	at(t.Rank, driver.Ptr(q.Rank()))
	at(t.Rows, driver.Ptr(d.M))
	at(t.K, driver.Ptr(d.K))
	at(t.N, driver.Ptr(d.N))
	if k.Scatters() {
		g := s.set.groups(k, q.Size(), d)
		at(t.Groups, driver.Ptr(g.count(d)))
		at(t.High, driver.Ptr(g.rows))
		at(t.Broad, driver.Ptr(g.columns))
		q.AwaitsGroups(x, g.count(d))
	} else {
		at(t.Gathered, o.Staging)
		for i, shard := range peers {
			at(t.Shards+i, shard)
		}
		at(t.Bias, o.Bias)
	}
	k.enqueue(q, on, k.tiles(q.Multiprocessors(), q.Size(), d), TileThreads)
}

// best is the kernel of the given name, if it differs from k only in its tiles, else the kernel by the estimate.
func (s *Set) best(k *kernel, name string, multiprocessors, ranks int, d driver.MatmulDesc) *kernel {
	for _, o := range s.kernels {
		if o.Base() == name && o.likeness() == k.likeness() {
			return o
		}
	}
	return s.least(k, multiprocessors, ranks, d)
}

// least returns the kernel like k that gives each multiprocessor the least work. Among equals it takes the first, or a
// wider one with which each multiprocessor makes a tile of every shard: a wider tile loads fewer operands, and the
// multiprocessors work while shards are under way.
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

// waves is the largest number of tiles that one multiprocessor makes.
func (k *kernel) waves(multiprocessors, ranks int, d driver.MatmulDesc) int {
	at := max(multiprocessors/k.Tile.Cluster, 1) // clusters at once
	return (k.clusters(ranks, d) + at - 1) / at
}

// clusters counts the clusters of blocks that make the tiles of all ranks.
func (k *kernel) clusters(ranks int, d driver.MatmulDesc) int {
	tall, wide := k.Tile.Cluster*TileRows, k.Tile.Columns
	return ranks * ((d.M + tall - 1) / tall) * ((d.N + wide - 1) / wide)
}

// tiles returns the number of blocks of a launch of tiles: as many as there are tiles, or as many as are needed to pull
// all shards at once, but no more than multiprocessors.
func (k *kernel) tiles(multiprocessors, ranks int, d driver.MatmulDesc) (blocks int) {
	c, clusters := k.Tile.Cluster, k.clusters(ranks, d)
	if !k.Scatters() {
		const pulled = 4 * 16 * 96 // bytes that a block has in flight
		clusters = max(clusters, ((ranks-1)*d.M*d.K*2/pulled+c-1)/c)
	}
	return min(clusters, multiprocessors/c) * c
}

// describe encodes the maps of a launch.
func (k *kernel) describe(q *plan.Queue, d driver.MatmulDesc, o Operands, added, peers []driver.Ptr) {
	ranks := q.Size()
	encode := func(i int, at driver.Ptr, shards, rows, columns, box int) {
		k.encode(q, i, driver.TensorMapDesc{At: at, Type: d.Type, Shards: shards, Rows: rows, Columns: columns,
			BoxRows: box})
	}
	encode(WeightsMap, o.B, 1, d.N, d.K, k.Tile.Columns/k.Tile.Cluster)
	if k.Scatters() {
		encode(SlotsMap, o.Staging, ranks, d.M, d.N, TileRows)
		encode(RowsMap, o.A, ranks, d.M, d.K, TileRows)
		encode(ResultMap, o.C, 1, d.M, d.N, boxRows)
		for i, tensor := range added {
			encode(AddedMap+i, tensor, 1, d.M, d.N, TileRows)
		}
		for i, slot := range peers {
			encode(k.SlotsAtPeers()+i, slot, 1, d.M, d.N, boxRows)
		}
		return
	}
	gathered := o.Staging
	if ranks == 1 {
		gathered = o.A // this map does not read it
	}
	encode(OwnMap, o.A, 1, d.M, d.K, TileRows)
	encode(RowsMap, gathered, ranks, d.M, d.K, TileRows)
	encode(ResultMap, o.C, ranks, d.M, d.N, boxRows)
}

// encode makes a map, if it has changed since the last launch.
func (k *kernel) encode(q *plan.Queue, i int, m driver.TensorMapDesc) {
	if m == k.mapped[i] {
		return
	}
	to := &k.params[k.At.Tiled.Maps+i*len(driver.TensorMap{})]
	if q.TensorMap((*driver.TensorMap)(unsafe.Pointer(to)), m) {
		k.mapped[i] = m
	}
}

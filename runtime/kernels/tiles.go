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
		t.Shards, t.Bias = next(l.Terms), next(1)
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
	p := Product{MatmulDesc: d, Operands: o, Added: s.added.at[:k.Added], Peers: peers, Ranks: q.Size(), Rank: q.Rank()}
	if k.Scatters() {
		p.Groups = s.set.groups(k, q.Size(), d)
		q.AwaitsGroups(x, p.Groups.count(d))
	}
	k.Multiply(k.params, &p, func(i int, m driver.TensorMapDesc) { k.encode(q, i, m) })
	k.enqueue(q, on, k.Grid(q.Multiprocessors(), &p), TileThreads)
}

// Product is the product of a launch of tiles on one of several ranks, with the memory that it touches.
type Product struct {
	driver.MatmulDesc // of a shard
	Operands
	Added       []driver.Ptr // tensors that a sum adds
	Peers       []driver.Ptr // the shards of the peers, of rank+1 first, or this rank's slots there
	Groups      TileGroups   // of a sum
	Ranks, Rank int
}

// Multiply fills in the parameters of a launch, except words and the function of each element. encode gets each map.
func (l *Layout) Multiply(params []uint64, p *Product, encode func(which int, m driver.TensorMapDesc)) {
	at := func(place, value int) { params[place] = uint64(value) }
	describe := func(which int, at driver.Ptr, shards, rows, columns, box int) {
		encode(which, driver.TensorMapDesc{At: at, Type: p.Type, Shards: shards, Rows: rows, Columns: columns,
			BoxRows: box})
	}
	t := l.At.Tiled
	at(t.Apart, plan.CountApart)
	at(t.Ranks, p.Ranks)
	at(t.Rank, p.Rank)
	at(t.Rows, p.M)
	at(t.K, p.K)
	at(t.N, p.N)
	describe(WeightsMap, p.B, 1, p.N, p.K, l.Tile.Columns/l.Tile.Cluster)
	if !l.Scatters() {
		at(t.Gathered, int(p.Staging))
		for i, shard := range p.Peers {
			at(t.Shards+i, int(shard))
		}
		at(t.Bias, int(p.Operands.Bias))
		gathered := p.Staging
		if p.Ranks == 1 {
			gathered = p.A // this map does not read it
		}
		describe(OwnMap, p.A, 1, p.M, p.K, TileRows)
		describe(RowsMap, gathered, p.Ranks, p.M, p.K, TileRows)
		describe(ResultMap, p.C, p.Ranks, p.M, p.N, boxRows)
		return
	}
	at(t.Groups, p.Groups.count(p.MatmulDesc))
	at(t.High, p.Groups.Rows)
	at(t.Broad, p.Groups.Columns)
	describe(SlotsMap, p.Staging, p.Ranks, p.M, p.N, TileRows)
	describe(RowsMap, p.A, p.Ranks, p.M, p.K, TileRows)
	describe(ResultMap, p.C, 1, p.M, p.N, boxRows)
	for i, tensor := range p.Added {
		describe(AddedMap+i, tensor, 1, p.M, p.N, TileRows)
	}
	for i, slot := range p.Peers {
		describe(l.SlotsAtPeers()+i, slot, 1, p.M, p.N, boxRows)
	}
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
func (l *Layout) clusters(ranks int, d driver.MatmulDesc) int {
	tall, wide := l.Tile.Cluster*TileRows, l.Tile.Columns
	return ranks * ((d.M + tall - 1) / tall) * ((d.N + wide - 1) / wide)
}

// Grid returns the number of blocks of a launch of tiles: as many as there are tiles, or as many as are needed to pull
// all shards at once, but no more than multiprocessors.
func (l *Layout) Grid(multiprocessors int, p *Product) (blocks int) {
	c, clusters := l.Tile.Cluster, l.clusters(p.Ranks, p.MatmulDesc)
	if !l.Scatters() {
		const pulled = 4 * 16 * 96 // bytes that a block has in flight
		clusters = max(clusters, ((p.Ranks-1)*p.M*p.K*2/pulled+c-1)/c)
	}
	return min(clusters, multiprocessors/c) * c
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

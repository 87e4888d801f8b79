package old

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Buffers of sums over hosts, a chunk a host.
const (
	hostSums = "sums"   // of this host's ranks, for the ranks of this rail
	railSums = "others" // of each host's ranks, for this rank
	passed   = "passed" // the semaphore of the sums that a phase of the gather behind brought
)

// perHost declares memory for a rank's rows of C for each host, and perRank for each rank.
func (d *draft) perHost(names ...string) {
	d.chunksOfC(names, func(rows schedule.Extent) []schedule.Axis {
		return []schedule.Axis{schedule.Dim("H"), schedule.Dim(rows, schedule.DIDx(schedule.D))}
	})
}

func (d *draft) perRank(names ...string) {
	d.chunksOfC(names, func(rows schedule.Extent) []schedule.Axis {
		return []schedule.Axis{schedule.Dim(rows, schedule.Stream(schedule.D))}
	})
}

func (d *draft) chunksOfC(names []string, axes func(rows schedule.Extent) []schedule.Axis) {
	c := d.buffer("C")
	for _, name := range names {
		d.memory(name, c.Chunk, append(axes(c.Tensor.Axes[0].Extent), c.Tensor.Axes[1:]...)...)
	}
}

// summing is the first half of sums over hosts: each host's ranks sum their partial results for one rank of each
// host, and exchange the sums along the rails.
type summing struct {
	*draft
	cut     parts              // in which a rank's rows are summed and sent
	streams []hostir.StreamSet // of products, none where A is summed
	// part makes this rank's partial result for a rank, in a step of a turn, and returns the view of it.
	part func(to hostir.Expr) (made []hostir.Node, at hostir.View)
	// own makes this rank's part of its own sum for a host, and returns the terms of that sum.
	own func(host hostir.Expr) (made []hostir.Node, terms []hostir.View)
}

// sumUp leaves the sums of all hosts for this rank in railSums, and enqueues last behind each part of them. The other
// hosts come first, each host's peers before this rank. Sums and exchanges share a stream: a wait for parts must not
// hold up the exchange before it, which others need.
func (s summing) sumUp(last ...hostir.Node) {
	d, cut := s.draft, s.cut
	d.perHost(hostSums, railSums)
	d.semaphore(free, count(1))
	d.semaphore(arrived, cut.all(hostir.Add(hostir.Hosts, one)))
	host, to, peer, from := hostir.Var("host"), hostir.Var("to"), hostir.Var("peer"), hostir.Var("from")
	slot, number := hostir.OnHost(host, hostir.Local), cut.chunk(phase)
	sum := func(into string) (nodes []hostir.Node) {
		made, at := s.part(to)
		own, terms := s.own(host)
		nodes = append(nodes, locals(append(append([]hostir.Node{hostir.Bind("peer", hostir.Beside(step)),
			hostir.Bind("to", hostir.OnHost(host, hostir.AheadLocal(step)))}, made...),
			hostir.Set(copyRef, hostir.Remote(slots, peer, cut.chunk(slot)), at),
			hostir.Post(copyRef, arrived, peer).Member(number))...))
		nodes = append(nodes, own...)
		return append(nodes, hostir.After(ncclRef, copyRef),
			hostir.Wait(ncclRef, arrived, every).Member(number),
			hostir.Reduce(ncclRef, hostir.Chunk(into, cut.chunk(host)), terms...).
				Described("in the order of the host's ranks"))
	}
	d.add(hostir.Post(mainRef, free, every).Described("the slots may be written"),
		d.fork(append([]hostir.StreamSet{ncclSet, copySet}, s.streams...)...),
		hostir.Wait(copyRef, free, every))
	d.add(phases(append([]hostir.Node{hostir.Bind("host", hostir.HostAhead(phase)),
		hostir.Bind("from", hostir.HostBehind(phase))}, cut.inTurn(append(sum(hostSums),
		hostir.Exchanged(ncclRef, hostir.Chunk(railSums, cut.chunk(from)), hostir.Chunk(hostSums, cut.chunk(host)),
			slot, onRail(from)))...)...)...))
	own := []hostir.Node{hostir.Bind(phaseIndex, hostir.Hosts), hostir.Bind("host", hostir.Host)}
	d.add(cut.inTurn(append(append(own, sum(railSums)...), last...)...)...)
}

const ofHostsRemark = "the hosts' sums, in their order, rounded once more"

// ofHosts is the sum of all hosts, in their order; rows is the part of C that it is.
func (s summing) ofHosts(into, rows hostir.View) hostir.Node {
	q := hostir.Var(hostir.RankIndex)
	return s.sum(ncclRef, into, rows,
		hostir.Chunk(railSums, s.cut.chunk(q)).Over(hostir.RankIndex, hostir.Const(0), hostir.Hosts)).
		Described(ofHostsRemark)
}

// multipliedParts is the sums of products. Each product has a stream of its own, of falling priority.
func (d *draft) multipliedParts(cut parts) summing {
	d.perRank(slots, partial)
	d.with.falling = true
	set := workStreams(d)
	set.First, set.Count = one, hostir.Add(cut.all(hostir.Size), one)
	turn := cut.chunk(hostir.Sub(phase, one))
	work := hostir.StreamAt(workName, hostir.Add(hostir.Mul(turn, hostir.PerHost), step))
	last := hostir.StreamAt(workName, hostir.Mul(hostir.Add(turn, one), hostir.PerHost))
	x := summing{draft: d, cut: cut, streams: []hostir.StreamSet{set}}
	x.part = func(to hostir.Expr) ([]hostir.Node, hostir.View) {
		made := hostir.Chunk(partial, cut.chunk(to))
		return []hostir.Node{d.rowsOf(work, made, cut.chunk(to)), hostir.After(copyRef, work)}, made
	}
	x.own = func(host hostir.Expr) ([]hostir.Node, []hostir.View) {
		slot := cut.chunk(hostir.OnHost(host, hostir.Local))
		return []hostir.Node{
			d.rowsOf(last, hostir.Chunk(slots, slot), slot).
				Described("this rank's part last, straight into its slot"),
			hostir.After(ncclRef, last),
		}, []hostir.View{x.ofRanks(host, hostir.Const(0), hostir.PerHost)}
	}
	return x
}

// ofRanks views the slots that some of this host's ranks filled for a host.
func (s summing) ofRanks(host, from, to hostir.Expr) hostir.View {
	slot := hostir.OnHost(host, hostir.Var(hostir.RankIndex))
	return hostir.Chunk(slots, s.cut.chunk(slot)).Over(hostir.RankIndex, from, to)
}

// bareParts is the sums of A's parts, where they are.
func (d *draft) bareParts(cut parts) summing {
	d.perRank(slots)
	x := summing{draft: d, cut: cut}
	x.part = func(to hostir.Expr) ([]hostir.Node, hostir.View) { return nil, hostir.Chunk("A", cut.chunk(to)) }
	x.own = func(host hostir.Expr) ([]hostir.Node, []hostir.View) {
		return nil, []hostir.View{
			x.ofRanks(host, hostir.Const(0), hostir.Local),
			hostir.Chunk("A", cut.chunk(hostir.OnHost(host, hostir.Local))),
			x.ofRanks(host, hostir.Add(hostir.Local, one), hostir.PerHost),
		}
	}
	return x
}

// cutSums declares the tensors, with A and each rank's rows of C in the parts that are summed and sent. extents
// divide C's rows before that.
func (d *draft) cutSums(extents ...schedule.Extent) (parts, error) {
	p := d.rowParts()
	if err := d.tensors(); err != nil {
		return p, err
	}
	cut := []schedule.Extent{schedule.D}
	if p.n > 1 {
		cut, extents = append(cut, decimal(int(p.n))), append(extents, decimal(int(p.n)))
	}
	d.cut("A", cut...)
	d.cut("C", extents...)
	d.cutRows(d.buffer("C").Tensor.Axes[0].Extent, p.n)
	return p, nil
}

// reduceRails leaves each rank its rows of the sum.
func reduceRails(of func(*draft, parts) summing) func(*draft) error {
	return func(d *draft) error {
		cut, err := d.cutSums()
		if err != nil {
			return err
		}
		x := of(d, cut)
		rows := hostir.Chunk("C", cut.part())
		if cut.n == 1 {
			rows = hostir.Whole("C")
		}
		x.sumUp(x.ofHosts(rows, rows))
		d.add(join(append([]hostir.StreamSet{ncclSet, copySet}, x.streams...)...))
		return nil
	}
}

// reduceAllRails sums likewise, and then gathers the ranks' rows of the sum, each part while the next one is summed.
func reduceAllRails(of func(*draft, parts) summing) func(*draft) error {
	return func(d *draft) error {
		cut, err := d.cutSums(schedule.D)
		if err != nil {
			return err
		}
		x := of(d, cut)
		c := d.buffer("C")
		d.memory(reduced, c.Chunk, append([]schedule.Axis{schedule.Dim(c.Tensor.Axes[0].Extent,
			schedule.DIDx(schedule.D))}, c.Tensor.Axes[1:]...)...)
		g := gatheringRails{draft: d, cut: cut, own: reduced, ready: summed, arrived: passed}
		x.sumUp(append([]hostir.Node{
			x.ofHosts(g.part(), hostir.Chunk("C", cut.chunk(hostir.Rank))),
			hostir.Post(ncclRef, summed, every).Member(cut.part()).Described("peers may read " + reduced),
			hostir.After(g.relay(hostir.Const(0)), ncclRef),
		}, g.exchanges())...)
		d.program.Streams = append(d.program.Streams, g.declare())
		g.spread(append([]hostir.StreamSet{copySet}, x.streams...)...)
		return nil
	}
}

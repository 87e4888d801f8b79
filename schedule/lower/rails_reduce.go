package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Buffers of sums over hosts, a chunk a host.
const (
	hostSums = "sums"   // of this host's ranks, for the ranks of this rail
	railSums = "others" // of each host's ranks, for this rank
	passed   = "passed" // the semaphore of what a phase of the gather after them brought
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

// summing is the first half of sums over hosts: each host's ranks sum what they have for one rank of each host, and
// exchange the sums along the rails.
type summing struct {
	*draft
	streams []hostir.StreamSet // of products, none where A is summed
	// part makes what this rank has for a rank, in step i of a phase, and returns the view of it.
	part func(i, to hostir.Expr) (made []hostir.Node, at hostir.View)
	// own makes this rank's part of its own sum for a host, and returns the terms of that sum.
	own func(slot, host hostir.Expr) (made []hostir.Node, terms []hostir.View)
}

// sumUp leaves the sums of all hosts for this rank in railSums. The other hosts come first, each host's peers before
// this rank. Sums and exchanges share a stream: a wait for parts must not hold up the exchange before it, which others
// need.
func (s summing) sumUp() {
	d := s.draft
	d.perHost(hostSums, railSums)
	d.semaphore(free, count(1))
	d.semaphore(arrived, hostir.Add(hostir.Hosts, one))
	host, to, peer, from := hostir.Var("host"), hostir.Var("to"), hostir.Var("peer"), hostir.Var("from")
	slot := hostir.OnHost(host, hostir.Local)
	parts := func(sum hostir.View) (nodes []hostir.Node) {
		made, at := s.part(step, to)
		own, terms := s.own(slot, host)
		nodes = append(nodes, locals(append(append([]hostir.Node{hostir.Bind("peer", hostir.Beside(step)),
			hostir.Bind("to", hostir.OnHost(host, hostir.AheadLocal(step)))}, made...),
			hostir.Set(copyRef, hostir.Remote(slots, peer, slot), at),
			hostir.Post(copyRef, arrived, peer).Member(phase))...))
		nodes = append(nodes, own...)
		return append(nodes, hostir.After(ncclRef, copyRef),
			hostir.Wait(ncclRef, arrived, every).Member(phase),
			hostir.Reduce(ncclRef, sum, terms...).Described("in the order of the host's ranks"))
	}
	d.add(hostir.Post(mainRef, free, every).Described("the slots may be written"),
		d.fork(append([]hostir.StreamSet{ncclSet, copySet}, s.streams...)...),
		hostir.Wait(copyRef, free, every))
	d.add(phases(append(append([]hostir.Node{hostir.Bind("host", hostir.HostAhead(phase)),
		hostir.Bind("from", hostir.HostBehind(phase))}, parts(hostir.Chunk(hostSums, host))...),
		hostir.Exchanged(ncclRef, hostir.Chunk(railSums, from), hostir.Chunk(hostSums, host), slot, onRail(from)))...))
	d.add(hostir.Bind(phaseIndex, hostir.Hosts), hostir.Bind("host", hostir.Host))
	d.add(parts(hostir.Chunk(railSums, hostir.Host))...)
}

// ofHosts are the terms of the sum of all hosts, in their order.
func ofHosts() hostir.View {
	return hostir.Chunk(railSums, hostir.Var(hostir.RankIndex)).Over(hostir.RankIndex, hostir.Const(0), hostir.Hosts)
}

const ofHostsRemark = "the hosts' sums, in their order, rounded once more"

// multipliedParts is the sums of products: each part has a stream of its own, of falling priority.
func (d *draft) multipliedParts() summing {
	d.perRank(slots, partial)
	d.with.falling = true
	set := workStreams(d)
	set.First, set.Count = one, hostir.Add(hostir.Size, one)
	x := summing{draft: d, streams: []hostir.StreamSet{set}}
	x.part = func(i, to hostir.Expr) ([]hostir.Node, hostir.View) {
		work := hostir.StreamAt(workName, hostir.Add(hostir.Mul(hostir.Sub(phase, one), hostir.PerHost), i))
		return []hostir.Node{d.rowsOf(work, hostir.Chunk(partial, to), to), hostir.After(copyRef, work)},
			hostir.Chunk(partial, to)
	}
	x.own = func(slot, host hostir.Expr) ([]hostir.Node, []hostir.View) {
		work := hostir.StreamAt(workName, hostir.Mul(phase, hostir.PerHost))
		q := hostir.Var(hostir.RankIndex)
		return []hostir.Node{
				d.rowsOf(work, hostir.Chunk(slots, slot), slot).
					Described("this rank's part last, straight into its slot"),
				hostir.After(ncclRef, work),
			}, []hostir.View{hostir.Chunk(slots, hostir.OnHost(host, q)).
				Over(hostir.RankIndex, hostir.Const(0), hostir.PerHost)}
	}
	return x
}

// bareParts is the sums of A's parts, where they are.
func (d *draft) bareParts() summing {
	d.perRank(slots)
	x := summing{draft: d}
	x.part = func(_, to hostir.Expr) ([]hostir.Node, hostir.View) { return nil, hostir.Chunk("A", to) }
	x.own = func(slot, host hostir.Expr) ([]hostir.Node, []hostir.View) {
		theirs := hostir.Chunk(slots, hostir.OnHost(host, hostir.Var(hostir.RankIndex)))
		return nil, []hostir.View{
			theirs.Over(hostir.RankIndex, hostir.Const(0), hostir.Local),
			hostir.Chunk("A", slot),
			theirs.Over(hostir.RankIndex, hostir.Add(hostir.Local, one), hostir.PerHost),
		}
	}
	return x
}

// reduceRails leaves each rank its rows of the sum.
func reduceRails(of func(*draft) summing) func(*draft) error {
	return func(d *draft) error {
		if err := d.tensors(); err != nil {
			return err
		}
		d.cut("A", schedule.D)
		x := of(d)
		x.sumUp()
		c := hostir.Whole("C")
		d.add(join(append([]hostir.StreamSet{ncclSet, copySet}, x.streams...)...),
			d.sum(mainRef, c, c, ofHosts()).Described(ofHostsRemark))
		return nil
	}
}

// reduceAllRails sums likewise, and then gathers the ranks' rows of the sum.
func reduceAllRails(of func(*draft) summing) func(*draft) error {
	return func(d *draft) error {
		if err := d.tensors(); err != nil {
			return err
		}
		d.cut("A", schedule.D)
		d.cut("C", schedule.D)
		c := d.buffer("C").Tensor
		d.cutRows(c.Axes[0].Extent, 1)
		x := of(d)
		x.sumUp()
		d.memory(reduced, d.buffer("C").Chunk, append([]schedule.Axis{schedule.Dim(c.Axes[0].Extent,
			schedule.DIDx(schedule.D))}, c.Axes[1:]...)...)
		d.add(d.sum(ncclRef, hostir.Whole(reduced), hostir.Chunk("C", hostir.Rank), ofHosts()).Described(ofHostsRemark))
		d.program.Streams = append(d.program.Streams, relaySet)
		gatheringRails{draft: d, own: reduced, ready: summed, arrived: passed, ahead: ncclRef,
			started: []hostir.StreamRef{copyRef}}.gather()
		d.add(join(append([]hostir.StreamSet{ncclSet, copySet}, x.streams...)...))
		return nil
	}
}

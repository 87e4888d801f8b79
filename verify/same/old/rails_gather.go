package old

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// gatheringRails brings every rank's chunk to all ranks' C, in parts. Chunks that came over the network are kept in
// memory of the plan, where the peers of the host read it.
type gatheringRails struct {
	*draft
	cut            parts
	own            string // the buffer of this rank's chunk, which peers read
	ready, arrived string // semaphores: of this rank's chunk, and of the chunk of a phase
}

// railed has the chunks that the network brought, one a host.
const railed = "railed"

// declare declares memory and semaphores; it returns the streams of the copies: of each part one for each host, the
// own one first.
func (g gatheringRails) declare() hostir.StreamSet {
	g.perHost(railed)
	g.program.Semaphores = append(g.program.Semaphores, g.cut.semaphore(g.ready))
	g.semaphore(g.arrived, g.cut.all(hostir.Hosts))
	g.semaphore(read, count(1))
	return hostir.StreamSet{Name: relayName, First: hostir.Const(0), Count: g.cut.all(hostir.Hosts), High: true}
}

// relay is the stream that copies the chunk of an exchange, or for zero the chunks of this host.
func (g gatheringRails) relay(phase hostir.Expr) hostir.StreamRef {
	return hostir.StreamAt(relayName, g.cut.chunk(phase))
}

// part is this rank's part of a turn.
func (g gatheringRails) part() hostir.View {
	if g.cut.n == 1 {
		return hostir.Whole(g.own)
	}
	return hostir.Chunk(g.own, g.cut.part())
}

// exchanges are the exchanges of one part over the network, each with a post to the peers.
func (g gatheringRails) exchanges() hostir.Node {
	host := hostir.Var("host")
	return phases(hostir.Bind("host", hostir.HostBehind(phase)),
		hostir.Exchanged(ncclRef, hostir.Chunk(railed, g.cut.chunk(host)), g.part(), onRail(hostir.HostAhead(phase)),
			onRail(host)),
		hostir.Post(ncclRef, g.arrived, every).Member(g.cut.chunk(phase)),
		hostir.After(g.relay(phase), ncclRef))
}

// spread copies the parts of all ranks, and joins these streams and others.
func (g gatheringRails) spread(others ...hostir.StreamSet) {
	host, from, peer := hostir.Var("host"), hostir.Var("from"), hostir.Var("peer")
	own, relay := g.relay(hostir.Const(0)), g.relay(phase)
	c := func(rank hostir.Expr) hostir.View { return hostir.Chunk("C", g.cut.chunk(rank)) }
	g.add(g.cut.inTurn(hostir.Set(own, c(hostir.Rank), g.part()),
		locals(hostir.Bind("from", hostir.Beside(step)),
			hostir.Wait(own, g.ready, from).Member(g.cut.part()),
			hostir.Set(own, c(from), g.part().At(from))),
		phases(hostir.Bind("host", hostir.HostBehind(phase)),
			hostir.Set(relay, c(onRail(host)), hostir.Chunk(railed, g.cut.chunk(host))),
			locals(hostir.Bind("peer", hostir.Beside(step)),
				hostir.Wait(relay, g.arrived, peer).Member(g.cut.chunk(phase)),
				hostir.Set(relay, c(hostir.OnHost(host, hostir.AheadLocal(step))),
					hostir.Remote(railed, peer, g.cut.chunk(host))))))...)
	relays := hostir.StreamSet{Name: relayName, First: hostir.Const(0), Count: g.cut.all(hostir.Hosts)}
	g.add(join(append([]hostir.StreamSet{ncclSet, relays}, others...)...),
		hostir.Post(mainRef, read, every).Described("what peers read may be overwritten afterwards"),
		hostir.Wait(mainRef, read, every))
}

// gatherBareRails is an all-gather alone.
func gatherBareRails(d *draft) error {
	switch {
	case d.uneven("A"):
		return &schedule.FieldError{Path: "Mesh", Hint: "use equal parts, or leave the mesh out",
			Msg: "no pass gathers uneven parts of " + d.form.tensor("A") + " over hosts"}
	case d.with.parts > 0:
		return d.refusal("Parts", "leave it out", "no product runs beside what the %s exchanges", gatherBareHosts)
	}
	if err := d.tensors(); err != nil {
		return err
	}
	d.cut("C", schedule.D)
	d.share("A")
	g := gatheringRails{draft: d, cut: d.rowParts(), own: "A", ready: ready, arrived: arrived}
	d.add(hostir.Post(mainRef, ready, every).Described("peers may read A"), d.fork(ncclSet, g.declare()), g.exchanges())
	g.spread()
	return nil
}

package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// gatheringRails brings every rank's chunk to all ranks' C. What came over the network is kept in memory of the plan,
// where the peers of the host read it.
type gatheringRails struct {
	*draft
	own            string // the buffer of this rank's chunk, which peers read
	ready, arrived string // semaphores: of the own chunk, and of what a phase brought
	// ahead makes the own chunk; started are the streams that begin once that is posted.
	ahead   hostir.StreamRef
	started []hostir.StreamRef
}

// railed has what the network brought, a chunk a host.
const railed = "railed"

// gather enqueues the exchanges and the copies.
func (g gatheringRails) gather() {
	d := g.draft
	d.perHost(railed)
	d.semaphore(g.ready, count(1))
	d.semaphore(g.arrived, hostir.Hosts)
	d.semaphore(read, count(1))
	host, from, peer := hostir.Var("host"), hostir.Var("from"), hostir.Var("peer")
	own := hostir.Whole(g.own)
	d.add(hostir.Post(g.ahead, g.ready, every).Described("peers may read "+g.own),
		hostir.Synchronize{Streams: g.started, On: []hostir.StreamRef{g.ahead}})
	d.add(phases(hostir.Bind("host", hostir.HostBehind(phase)),
		hostir.Exchanged(ncclRef, hostir.Chunk(railed, host), own, onRail(hostir.HostAhead(phase)), onRail(host)),
		hostir.Post(ncclRef, g.arrived, every).Member(phase),
		hostir.After(relayRef, ncclRef)))
	d.add(hostir.Set(copyRef, hostir.Chunk("C", hostir.Rank), own),
		locals(hostir.Bind("from", hostir.Beside(step)),
			hostir.Wait(copyRef, g.ready, from),
			hostir.Set(copyRef, hostir.Chunk("C", from), own.At(from))),
		phases(hostir.Bind("host", hostir.HostBehind(phase)),
			hostir.Set(relayRef, hostir.Chunk("C", onRail(host)), hostir.Chunk(railed, host)),
			locals(hostir.Bind("peer", hostir.Beside(step)),
				hostir.Wait(relayRef, g.arrived, peer).Member(phase),
				hostir.Set(relayRef, hostir.Chunk("C", hostir.OnHost(host, hostir.AheadLocal(step))),
					hostir.Remote(railed, peer, host)))))
	const remark = "what peers read may be overwritten afterwards"
	d.add(hostir.Synchronize{Streams: []hostir.StreamRef{copyRef}, On: refs([]hostir.StreamSet{relaySet})},
		hostir.Post(copyRef, read, every).Described(remark),
		hostir.Wait(copyRef, read, every))
}

// gatherBareRails is an all-gather alone.
func gatherBareRails(d *draft) error {
	if d.uneven("A") {
		return &schedule.FieldError{Path: "Mesh", Hint: "use equal parts, or leave the mesh out",
			Msg: "no pass gathers uneven parts of " + d.form.tensor("A") + " over hosts"}
	}
	if err := d.tensors(); err != nil {
		return err
	}
	d.cut("C", schedule.D)
	d.share("A")
	started := d.fork(ncclSet, copySet, relaySet).Streams
	gatheringRails{draft: d, own: "A", ready: ready, arrived: arrived, ahead: mainRef, started: started}.gather()
	d.add(join(ncclSet, copySet))
	return nil
}

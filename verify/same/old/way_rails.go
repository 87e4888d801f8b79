package old

import (
	"maps"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// A program over hosts has two levels. Between hosts a rank exchanges with the ranks of its number there,
// its rail, in phases: the n-th sends to the host n places further on and gets from the one n
// places back. On its host a rank reaches its peers' memory. The network begins first, and this host's
// rows are last where sums leave.
//
// These programs are safe where a device does one thing at a time, for this reason: a wait or an exchange comes
// behind everything of its own rank that another rank needs before that one reaches the same point.

// overHosts are the communications of ranks on several hosts.
var overHosts = map[moves]moves{gather: gatherHosts, reduce: reduceHosts, reduceAll: allHosts,
	gatherBare: gatherBareHosts, reduceBare: reduceBareHosts, allBare: allBareHosts,
	gatherLink: gatherLinkHosts, reduceLink: reduceLinkHosts}

func isOverHosts(m moves) bool {
	return slices.Contains(slices.Collect(maps.Values(overHosts)), m)
}

var overRails = []lowering{
	byRails(gatherHosts, gatherRails),
	byRails(reduceHosts, reduceRails((*draft).multipliedParts)),
	byRails(allHosts, reduceAllRails((*draft).multipliedParts)),
	byRails(gatherBareHosts, gatherBareRails),
	byRails(reduceBareHosts, reduceRails((*draft).bareParts)),
	byRails(allBareHosts, reduceAllRails((*draft).bareParts)),
	byRails(gatherLinkHosts, linkedRails),
	byRails(reduceLinkHosts, linkedRails),
}

func byRails(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.Rails) error {
		d.with.parts = w.Parts
		return write(d)
	})
}

// relayName names the streams that copy received shards between the ranks of a host, one for each exchange.
const relayName = "relay"

// phaseIndex counts the exchanges of a rail.
const phaseIndex = "phase"

var phase = hostir.Var(phaseIndex)

// phases is the loop over the other hosts.
func phases(body ...hostir.Node) hostir.For {
	return hostir.Loop(phaseIndex, one, hostir.Hosts, body...)
}

// locals is the loop over the other ranks of a host.
func locals(body ...hostir.Node) hostir.For {
	return hostir.Loop(stepIndex, one, hostir.PerHost, body...)
}

// onRail is the rank of this rail on a host.
func onRail(host hostir.Expr) hostir.Expr { return hostir.OnHost(host, hostir.Local) }

// gatherRails multiplies this host's shards first, its own shard ahead. Then, phase by phase, it multiplies the shards
// that arrived over the network here and at the peers. Where shards are cut, it goes in parts.
func gatherRails(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	cut := d.shards()
	parts := hostir.Const(cut.n)
	d.semaphore(ready, count(1))
	d.semaphore(arrived, hostir.Mul(hostir.Hosts, parts))
	d.semaphore(read, count(1))
	set := workStreams(d)
	relays := hostir.StreamSet{Name: relayName, First: parts, Count: hostir.Mul(hostir.Hosts, parts), High: true}
	from, peer, to := hostir.Var("from"), hostir.Var("peer"), hostir.Var("to")
	number := cut.chunk(phase) // of an exchange
	relay := hostir.StreamAt(relayName, number)
	own, first := hostir.StreamAt(workName, step), hostir.StreamAt(workName, hostir.Mul(phase, hostir.PerHost))
	relayed := hostir.StreamAt(workName, hostir.Add(hostir.Mul(phase, hostir.PerHost), step))
	part := func(s hostir.StreamRef) []hostir.Node {
		return d.multiplied(s, hostir.Chunk("C", cut.chunk(from)), hostir.Chunk(g, cut.chunk(from)))
	}

	d.add(hostir.Post(mainRef, ready, every).Described("one batch, before the forks"),
		d.fork(ncclSet, copySet, relays, set))
	d.add(phases(append([]hostir.Node{
		hostir.Bind("from", onRail(hostir.HostBehind(phase))), hostir.Bind("to", onRail(hostir.HostAhead(phase)))},
		cut.inTurn(
			hostir.Exchanged(ncclRef, hostir.Chunk(g, cut.chunk(from)), hostir.Chunk("A", cut.part()), to, from),
			hostir.Post(ncclRef, arrived, every).Member(number),
			hostir.After(relay, ncclRef))...)...))
	d.add(d.ownShard(cut.rows("C", hostir.Rank))...)
	d.add(locals(
		hostir.Bind("from", hostir.Beside(step)),
		hostir.Wait(copyRef, ready, from),
		hostir.Set(copyRef, cut.rows(g, from), hostir.Whole("A").At(from)),
		hostir.After(own, copyRef)))
	d.add(locals(append([]hostir.Node{hostir.Bind("from", hostir.Beside(step))},
		d.multiplied(own, cut.rows("C", from), cut.rows(g, from))...)...))
	d.add(phases(cut.inTurn(append(append([]hostir.Node{
		hostir.Bind("from", onRail(hostir.HostBehind(phase))), hostir.After(first, relay)}, part(first)...),
		locals(append([]hostir.Node{
			hostir.Bind("peer", hostir.Beside(step)),
			hostir.Bind("from", hostir.OnHost(hostir.HostBehind(phase), hostir.AheadLocal(step))),
			hostir.Wait(relay, arrived, peer).Member(number),
			hostir.Set(relay, hostir.Chunk(g, cut.chunk(from)), hostir.Remote(g, peer, cut.chunk(from))),
			hostir.After(relayed, relay)}, part(relayed)...)...))...)...))
	const remark = "A and what was gathered may be overwritten afterwards"
	d.add(hostir.Synchronize{Streams: []hostir.StreamRef{copyRef}, On: refs([]hostir.StreamSet{relays})},
		hostir.Post(copyRef, read, every).Described(remark),
		hostir.Wait(copyRef, read, every),
		join(ncclSet, copySet, set))
	return nil
}

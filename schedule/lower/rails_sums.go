package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Sums over hosts are made twice: each host's ranks sum their partial results for one rank of each host, and exchange
// the sums along the rails.

// Buffers of sums over hosts, a chunk a host.
const (
	hostSums = "sums"   // of this host's ranks, for the ranks of this rail
	railSums = "others" // of each host's ranks, for this rank
)

// memory is that of slots, and for a rank's rows of a stage's sums for each host.
func (r railed) memory(w *writer, s *stage, columns schedule.Axis) {
	slotMemory(w, s, columns)
	each := []string{hostSums, railSums}
	if s.toAll {
		each = append(each, landing)
	}
	for _, name := range each {
		w.eachHost(w.named(name, s.sums), s.sums, r.n)
	}
}

// railSum is where partial results leave for the ranks of all hosts.
type railSum struct {
	*writer
	parts
	s     *stage
	first bool // products and sums take turns; else all rows have been through the stage
}

// sums is the departure. Sums and exchanges share a stream: a wait for parts must not hold up the exchange before it,
// which others need.
func (r railed) sums(w *writer, s *stage) (d departure) {
	x := railSum{w, parts(r), s, w.outward(s)}
	d.words = []hostir.Semaphore{{Name: x.named(free)},
		{Name: x.named(arrived), Count: x.all(hostir.Add(hostir.Hosts, one))}}
	d.open, d.order = w.slotsFree(s), w.byHosts()
	d.sums, d.exchanges, d.beside = w.put, true, []hostir.StreamSet{collectiveSet}
	to, from := hostir.HostBehind(phase), hostir.HostAhead(phase) // as rows come
	if x.first {
		to, from = from, to
	}
	if x.first && s.given == "" {
		d.order = []turns{{set: x.set}}
		d.order[0].set.First, d.order[0].set.Count = one, hostir.Add(x.all(hostir.Size), one)
	}
	others := phases(hostir.Bind("host", to), hostir.Bind("next", from))
	host, next := hostir.Var("host"), hostir.Var("next")
	others.then = x.toHost(phase, hostSums, hostir.Exchanged(collectiveRef,
		hostir.Chunk(x.named(railSums), x.chunk(next)), hostir.Chunk(x.named(hostSums), x.chunk(host)),
		onRail(host), onRail(next)))
	own := turns{names: []hostir.Node{hostir.Bind(phaseIndex, hostir.Hosts), hostir.Bind("host", hostir.Host)}}
	own.then = x.toHost(hostir.Const(0), railSums, x.ofHosts(&d)...)
	d.turns = []turns{{leave: []hostir.Node{hostir.Wait(w.put, x.named(free), every)}},
		x.partByPart(others), x.partByPart(own)}
	return d
}

func (x railSum) named(name string) string { return x.writer.named(name, x.s.sums) }

// work is the stream of the products for a rank of a host, and that of those for the rank of this rail there. Each
// product of a program of them alone has a stream of its own, in the order in which they leave.
func (x railSum) work(turn hostir.Expr) (peers, own hostir.StreamRef) {
	switch zero := hostir.Const(0); {
	case x.first:
		before := x.chunk(hostir.Sub(phase, one))
		return workOf(before, step), workOf(hostir.Add(before, one), zero)
	case turn.Equal(zero):
		return workOf(zero, step), mainRef
	default:
		return workOf(turn, step), workOf(turn, zero)
	}
}

// toHost are the partial results for a host: those for its other ranks leave for the peers, which sum them there. Then
// this rank sums those for its rail.
func (x railSum) toHost(turn hostir.Expr, sums string, behind ...hostir.Node) []turns {
	host, to, peer := hostir.Var("host"), hostir.Var("to"), hostir.Var("peer")
	slot, number := onRail(host), x.chunk(phase)
	made, last := x.work(turn)
	peers := locals(hostir.Bind("peer", hostir.Beside(step)),
		hostir.Bind("to", hostir.OnHost(host, hostir.AheadLocal(step))))
	own := turns{work: last}
	if x.s.given == "" {
		peers.leave = []hostir.Node{hostir.After(x.put, made)}
		own.leave = []hostir.Node{hostir.After(collectiveRef, last)}
	}
	partial := x.made(to)
	if peers.work = made; x.first {
		peers.pieces = []piece{{rank: to, part: x.part(), into: partial}}
		own.pieces = []piece{{rank: slot, part: x.part(), into: hostir.Chunk(x.named(slots), x.chunk(slot))}}
	}
	peers.leave = append(peers.leave, hostir.Set(x.put, hostir.Remote(x.named(slots), peer, x.chunk(slot)), partial),
		hostir.Post(x.put, x.named(arrived), peer).Member(number))
	own.leave = append(own.leave, hostir.After(collectiveRef, x.put),
		hostir.Wait(collectiveRef, x.named(arrived), every).Member(number),
		hostir.Reduce(collectiveRef, hostir.Chunk(x.named(sums), x.chunk(host)), x.terms(host)...).
			Described("in the order of the host's ranks"))
	own.leave = append(own.leave, behind...)
	return []turns{peers, own}
}

// made is this rank's part of a rank's sum.
func (x railSum) made(rank hostir.Expr) hostir.View {
	if x.n == 1 {
		return x.rowsAt(x.summands(x.s), rank)
	}
	return hostir.Chunk(x.summands(x.s), x.chunk(rank))
}

// terms are the slots that this host's ranks filled for a host; own terms may be where they were made.
func (x railSum) terms(host hostir.Expr) []hostir.View {
	zero, of := hostir.Const(0), hostir.OnHost(host, hostir.Var(hostir.RankIndex))
	slot := hostir.Chunk(x.named(slots), x.chunk(of))
	if x.first && x.s.given == "" {
		return []hostir.View{slot.Over(hostir.RankIndex, zero, hostir.PerHost)}
	}
	return []hostir.View{slot.Over(hostir.RankIndex, zero, hostir.Local),
		x.made(onRail(host)),
		slot.Over(hostir.RankIndex, hostir.Add(hostir.Local, one), hostir.PerHost)}
}

// ofHosts is the sum of all hosts, in their order. If every rank gets all of it, the ranks' rows of it are gathered,
// each part while the next one is summed.
func (x railSum) ofHosts(d *departure) []hostir.Node {
	theirs := hostir.Chunk(x.named(railSums), x.chunk(hostir.Var(hostir.RankIndex))).
		Over(hostir.RankIndex, hostir.Const(0), hostir.Hosts)
	rows := hostir.Chunk(x.s.sums, x.part())
	sum := func(into hostir.View) hostir.Node {
		return x.sumOf(collectiveRef, x.s, into, rows, theirs).
			Described("the hosts' sums, in their order, rounded once more")
	}
	if !x.s.toAll {
		return []hostir.Node{sum(rows)}
	}
	rows = hostir.Chunk(x.s.sums, x.chunk(hostir.Rank))
	own, word := hostir.Chunk(x.named(reduced), x.part()), x.named(summed)
	all := rails{x.writer, x.parts, x.s.sums, x.named(passed), x.named(landing)}
	relay := all.relay(hostir.Const(0))
	d.words = append(d.words, x.semaphore(word), all.words())
	d.beside = append(d.beside, all.relays(hostir.Const(0)))
	order, peer := x.byHosts(), hostir.Var("peer")
	order[0].bring = []hostir.Node{hostir.Wait(relay, word, peer).Member(x.part()),
		hostir.Set(relay, all.at(peer), own.At(peer))}
	all.relayed(&order[1])
	d.toAll = x.partByPart(turns{bring: []hostir.Node{hostir.Set(relay, rows, own)}, then: order}).brought()
	others := phases()
	others.bring = all.exchanged(own)
	return slices.Concat([]hostir.Node{sum(own),
		hostir.Post(collectiveRef, word, every).Member(x.part()).Described("peers may read " + own.Buffer),
		hostir.After(relay, collectiveRef)}, others.brought())
}

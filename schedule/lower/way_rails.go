package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// A program over hosts has two levels. Between hosts a rank exchanges with the ranks of its number there, its rail, in
// phases: the n-th sends to the host n places further on and gets from the one n places back. On its host a rank
// reaches its peers' memory. The network begins first, and this host's rows are last where sums leave.
//
// These programs are safe where a device does one thing at a time, for this reason: a wait or an exchange comes
// behind everything of its own rank that another rank needs before that one reaches the same point.

var overRails = slices.Concat(
	by(gatheredByRails, gather(ofRows).OverHosts()).has(intoCallers),
	by(gatheredByRails, gather(ofRows).Alone().OverHosts()),
	by(gatheredByRails, gather(ofOperand).OverHosts()),
	by(summedByRails, reduce(ofRows).OverHosts()),
	by(summedByRails, reduce(ofRows).Alone().OverHosts()),
	by(summedByRails, reduceAll(ofRows).OverHosts(), reduceAll(ofRows).Alone().OverHosts(),
		reduce(ofGradient).OverHosts(), reduceAll(ofGradient).OverHosts())).with(because(railHoles))

func gatheredByRails(w *writer, s *stage, way schedule.Rails) error {
	s.once = s.takenWhole()
	w.pool.falls = w.pool.falls || w.Schedule.Made(w.edge.Of) // rows that come late are multiplied as they come
	s.arriving, s.cut = railsArrive, w.inParts(way.Parts, "p", "Parts")
	return nil
}

func summedByRails(w *writer, s *stage, way schedule.Rails) error {
	s.madeWhole(w)
	w.pool.falls = true
	s.leaving = leaving{plan: railsLeave,
		memory: []declare{summandMemory, each(slots), reducedMemory, railsMemory},
		cut:    w.inParts(way.Parts, "j", "Parts"), behind: true}
	return nil
}

// relayName names the streams that copy received rows between the ranks of a host, one for each exchange. Those of
// phase zero copy rows of the host's own ranks.
const relayName = "relay"

// phaseIndex counts the exchanges of a rail.
const phaseIndex = "phase"

var phase = hostir.Var(phaseIndex)

// phases are the rounds over the other hosts.
func phases(names ...hostir.Node) turns {
	return turns{index: phaseIndex, first: one, end: hostir.Hosts, names: names}
}

// locals are the rounds over the other ranks of a host.
func locals(names ...hostir.Node) turns { return turns{first: one, end: hostir.PerHost, names: names} }

// onRail is the rank of this rail on a host.
func onRail(host hostir.Expr) hostir.Expr { return hostir.OnHost(host, hostir.Local) }

// workOf is the stream of the products of the rows that come in a step of a phase. Phase zero is this host's.
func workOf(phase, step hostir.Expr) hostir.StreamRef {
	return hostir.StreamAt(workName, hostir.Add(hostir.Mul(phase, hostir.PerHost), step))
}

// byHosts is the order in which the rows of other ranks go through a stage: those of this host, and then host by host,
// those of this rail first.
func (w *writer) byHosts() []turns {
	beside := hostir.Bind("peer", hostir.Beside(step))
	own := locals(beside)
	own.pieces, own.work, own.set = []piece{ofRank(hostir.Var("peer"))}, workOf(zero, step), w.set
	rail := phases(hostir.Bind("from", onRail(hostir.HostBehind(phase))))
	rail.pieces, rail.work = []piece{ofRank(hostir.Var("from"))}, workOf(phase, zero)
	others := locals(beside, hostir.Bind("from", hostir.OnHost(hostir.HostBehind(phase), hostir.AheadLocal(step))))
	others.pieces, others.work = rail.pieces, workOf(phase, step)
	rail.then = []turns{others}
	return []turns{own, rail}
}

// landing has the rows that the network brought, a chunk for each host, where peers can't read them in the caller's
// memory; passed is the word that they are there.
const (
	landing = "railed"
	passed  = "passed"
)

// rails are how the rows of all ranks come over hosts: those of a rank's rail by exchanges, and those of the rails of
// its peers from these.
type rails struct {
	*writer
	parts
	here, passed string
	landing      string // empty: peers read where the rows belong
}

// relays are the streams that copy what came in some phases.
func (x rails) relays(first hostir.Expr) hostir.StreamSet {
	return hostir.StreamSet{Name: relayName, First: first, Count: x.all(hostir.Hosts), High: true}
}

func (x rails) relay(phase hostir.Expr) hostir.StreamRef {
	return hostir.StreamAt(relayName, x.chunk(phase))
}

// at is a part of a rank's rows where all are.
func (x rails) at(rank hostir.Expr) hostir.View { return hostir.Chunk(x.here, x.chunk(rank)) }

// landed is where the rows of a rail come, which a rank has from a host.
func (x rails) landed(rank, host hostir.Expr) hostir.View {
	if x.landing == "" {
		return x.at(rank)
	}
	return hostir.Chunk(x.landing, x.chunk(host))
}

// exchanged sends a part of this rank's rows to another host, gets one, and tells the peers.
func (x rails) exchanged(own hostir.View) []hostir.Node {
	from := hostir.HostBehind(phase)
	return []hostir.Node{
		hostir.Bind("from", onRail(from)), hostir.Bind("to", onRail(hostir.HostAhead(phase))),
		hostir.Exchanged(collectiveRef, x.landed(hostir.Var("from"), from), own, hostir.Var("to"), hostir.Var("from")),
		hostir.Post(collectiveRef, x.passed, every).Member(x.chunk(phase)),
		hostir.After(x.relay(phase), collectiveRef)}
}

// relayed has what the network brings come to its place, and on to this rank.
func (x rails) relayed(t *turns) {
	relay, host, from := x.relay(phase), hostir.HostBehind(phase), hostir.Var("from")
	t.on = relay
	t.pieces[0].part = x.part()
	if x.landing != "" {
		t.bring = []hostir.Node{hostir.Set(relay, x.at(from), x.landed(from, host))}
	}
	others := &t.then[0]
	others.on = relay
	others.bring = []hostir.Node{hostir.Wait(relay, x.passed, hostir.Var("peer")).Member(x.chunk(phase)),
		hostir.Set(relay, x.at(from), x.landed(from, host).At(hostir.Var("peer")))}
}

// railsArrive is the arrival, whose parts cross the network one after the other. Rows of the host's own ranks come
// whole.
func railsArrive(w *writer, s *stage) arrival {
	a, order := pulling{}.rows(w, s), w.byHosts()
	x := rails{writer: w, parts: s.cut, here: s.here(), passed: w.words(passed, s.here(), s.cut.all(hostir.Hosts))}
	if s.Into != "" {
		x.landing = w.named(landing, s.here())
		w.eachHost(x.landing, s.Input, s.cut)
	}
	order[0].bring = a.turns[0].bring
	x.relayed(&order[1])
	a.turns = []turns{order[0], x.partByPart(order[1])}
	if a.copied = s.once; s.once {
		own := turns{bring: []hostir.Node{hostir.Set(a.on, w.rowsAt(x.here, hostir.Rank), hostir.Whole(s.Input))}}
		a.turns = slices.Insert(a.turns, 0, own)
	}
	ahead := phases()
	ahead.bring = x.inTurn(x.exchanged(hostir.Chunk(s.Input, x.part()))...)
	a.ahead = ahead.brought()
	a.beside, a.exchanges = []hostir.StreamSet{collectiveSet, x.relays(x.all(one))}, true
	return a
}

// eachHost declares memory with a rank's rows of a tensor for each host, in chunks of a part of them.
func (w *writer) eachHost(name, of string, cut parts) {
	own, columns := w.RowAxis(of, true), w.ColumnsOf(of)
	each := own
	each.Outer = append(slices.Clone(own.Outer), schedule.DIDx(schedule.Number(max(cut.n, 1))))
	chunk := hostir.Elements(schedule.Tensor{Axes: []schedule.Axis{each, columns}})
	w.program.Memory(name, chunk, schedule.Dim("H"), own, columns)
}

// Sums over hosts are made twice: each host's ranks sum their partial results for one rank of each host, and exchange
// the sums along the rails.

// Buffers of sums over hosts, a chunk a host.
const (
	hostSums = "sums"   // of this host's ranks, for the ranks of this rail
	railSums = "others" // of each host's ranks, for this rank
)

// railsMemory is that for a rank's rows of a stage's sums for each host.
func railsMemory(w *writer, s *stage) {
	of := func(name string) { w.eachHost(w.named(name, s.Sums), s.Sums, s.leaving.cut) }
	of(hostSums)
	of(railSums)
	if s.ToAll { // of the result's type, where the terms have the plan's
		of(landing)
		w.program.At(w.named(landing, s.Sums)).Tensor.Type = w.program.At(s.Sums).Tensor.Type
	}
}

// railSum is where partial results leave for the ranks of all hosts.
type railSum struct {
	*writer
	parts
	s     *stage
	first bool // products and sums take turns; else all rows have been through the stage
}

// railsLeave is the departure. Sums and exchanges share a stream: a wait for parts must not hold up the exchange before
// it, which others need.
func railsLeave(w *writer, s *stage) (d departure) {
	x := railSum{w, s.leaving.cut, s, s.outward()}
	d.open, d.order = w.slotsFree(s), w.byHosts()
	w.words(arrived, s.Sums, x.all(hostir.Add(hostir.Hosts, one)))
	d.sums, d.exchanges, d.beside = putRef, true, []hostir.StreamSet{collectiveSet}
	to, from := hostir.HostBehind(phase), hostir.HostAhead(phase) // as rows come
	if x.first {
		to, from = from, to
	}
	if x.first && s.Given == "" {
		d.order = []turns{{set: x.set}}
		d.order[0].set.First, d.order[0].set.Count = one, hostir.Add(x.all(hostir.Size), one)
	}
	others := phases(hostir.Bind("host", to), hostir.Bind("next", from))
	host, next := hostir.Var("host"), hostir.Var("next")
	others.then = x.toHost(phase, hostSums, hostir.Exchanged(collectiveRef,
		hostir.Chunk(x.named(railSums), x.chunk(next)), hostir.Chunk(x.named(hostSums), x.chunk(host)),
		onRail(host), onRail(next)))
	own := turns{names: []hostir.Node{hostir.Bind(phaseIndex, hostir.Hosts), hostir.Bind("host", hostir.Host)}}
	own.then = x.toHost(zero, railSums, x.ofHosts(&d)...)
	d.turns = []turns{{leave: []hostir.Node{hostir.Wait(putRef, x.named(free), every)}},
		x.partByPart(others), x.partByPart(own)}
	return d
}

func (x railSum) named(name string) string { return x.writer.named(name, x.s.Sums) }

// work is the stream of the products for a rank of a host, and that of those for the rank of this rail there. Each
// product of a program of them alone has a stream of its own, in the order in which they leave.
func (x railSum) work(turn hostir.Expr) (peers, own hostir.StreamRef) {
	switch {
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
	if x.s.Given == "" {
		peers.leave = []hostir.Node{hostir.After(putRef, made)}
		own.leave = []hostir.Node{hostir.After(collectiveRef, last)}
	}
	partial := x.made(to)
	if peers.work = made; x.first {
		peers.pieces = []piece{{rank: to, part: x.part(), into: partial}}
		own.pieces = []piece{{rank: slot, part: x.part(), into: hostir.Chunk(x.named(slots), x.chunk(slot))}}
	}
	peers.leave = append(peers.leave, hostir.Set(putRef, hostir.Remote(x.named(slots), peer, x.chunk(slot)), partial),
		hostir.Post(putRef, x.named(arrived), peer).Member(number))
	own.leave = append(own.leave, hostir.After(collectiveRef, putRef),
		hostir.Wait(collectiveRef, x.named(arrived), every).Member(number),
		hostir.Reduce(collectiveRef, hostir.Chunk(x.named(sums), x.chunk(host)), x.terms(host)...).
			Described("in the order of the host's ranks"))
	own.leave = append(own.leave, behind...)
	return []turns{peers, own}
}

// made is this rank's part of a rank's sum.
func (x railSum) made(rank hostir.Expr) hostir.View {
	if x.n < 2 { // where rows come in parts, several of a rank's
		return x.rowsAt(x.summands(x.s), rank)
	}
	return hostir.Chunk(x.summands(x.s), x.chunk(rank))
}

// terms are the slots that this host's ranks filled for a host; own terms may be where they were made.
func (x railSum) terms(host hostir.Expr) []hostir.View {
	slot := hostir.Chunk(x.named(slots), x.chunk(hostir.OnHost(host, rankIndex)))
	if x.first && x.s.Given == "" {
		return []hostir.View{slot.Over(hostir.RankIndex, zero, hostir.PerHost)}
	}
	return []hostir.View{slot.Over(hostir.RankIndex, zero, hostir.Local),
		x.made(onRail(host)),
		slot.Over(hostir.RankIndex, hostir.Add(hostir.Local, one), hostir.PerHost)}
}

// ofHosts is the sum of all hosts, in their order. If every rank gets all of it, the ranks' rows of it are gathered,
// each part while the next one is summed.
func (x railSum) ofHosts(d *departure) []hostir.Node {
	theirs := hostir.Chunk(x.named(railSums), x.chunk(rankIndex)).Over(hostir.RankIndex, zero, hostir.Hosts)
	own, rows := x.ownSums(x.s, x.parts)
	sum := x.sumOf(collectiveRef, x.s, own, rows, theirs).
		Described("the hosts' sums, in their order, rounded once more")
	if !x.s.ToAll {
		return []hostir.Node{sum}
	}
	word := x.words(summed, x.s.Sums, x.members())
	all := rails{x.writer, x.parts, x.s.Sums, x.words(passed, x.s.Sums, x.all(hostir.Hosts)), x.named(landing)}
	relay := all.relay(zero)
	d.beside = append(d.beside, all.relays(zero))
	order, peer := x.byHosts(), hostir.Var("peer")
	order[0].bring = []hostir.Node{hostir.Wait(relay, word, peer).Member(x.part()),
		hostir.Set(relay, all.at(peer), own.At(peer))}
	all.relayed(&order[1])
	d.toAll = x.partByPart(turns{bring: []hostir.Node{hostir.Set(relay, rows, own)}, then: order}).brought()
	others := phases()
	others.bring = all.exchanged(own)
	return slices.Concat([]hostir.Node{sum,
		hostir.Post(collectiveRef, word, every).Member(x.part()).Described("peers may read " + own.Buffer),
		hostir.After(relay, collectiveRef)}, others.brought())
}

var railHoles = []hole{
	{func(n need) bool { return !n.Hosts }, "ranks of one host have no network between them"},
	{func(n need) bool { return !n.Sums() && n.Kind != edges.AllGather },
		"hosts exchange rows for all ranks, and sums of rows"},
	{cutInto(ofBatches), "an exchange between hosts brings a rank's rows in one piece, and those of batches lie apart"},
	{cutInto(ofBalanced, ofCounted), "an exchange between hosts sends as many bytes as it gets, and parts differ"},
}

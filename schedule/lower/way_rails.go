package lower

import (
	"cmp"
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
	by(gatheredByRails, gather(ofRows), gather(ofRows).Alone()),
	by(gatheredByRails, gather(ofBalanced), gather(ofCounted), gather(ofCounted).Alone()).
		with(lacksOf(wholeParts, "Parts")),
	by(gatheredByRails, gather(ofBatches)).with(lacksOf(inBatches, "Parts")),
	by(gatheredByRails, gather(ofOperand)).with(behindSums),
	by(gatheredByRails, gather(ofColumns)).with(railedWhole),
	by(summedByRails, reduce(ofRows), reduce(ofRows).Alone(), reduceAll(ofRows), reduceAll(ofRows).Alone(),
		reduce(ofGradient), reduceAll(ofGradient)),
	by(summedByRails, reduce(ofBalanced), reduce(ofCounted), reduce(ofCounted).Alone()).
		with(lacksOf(wholeParts, "Parts")),
	by(summedByRails, reduce(ofBatches)).with(lacksOf(sumsInBatches, "Parts")),
	by(summedByRails, reduce(ofColumns)).with(railedWhole)).has(intoCallers|network).
	with(because(railHoles), func(l *lowering) { l.Hosts = true })

// railedWhole says that no step moves a part of a rank's columns.
var railedWhole = lacksOf("a step moves all of a rank's columns of %s", "Parts")

func gatheredByRails(w *writer, s *stage, way schedule.Rails) error {
	of := w.Comes(s.Stage).Of
	s.once = w.comesWhole(s) || of == ofBalanced && w.ScalesApart(s.Stage, of)
	w.pool.falls = w.pool.falls || w.Schedule.Made(w.edge.Of) // rows that come late are multiplied as they come
	s.arriving, s.cut = railsArrive, w.inParts(way.Parts, "p", "Parts")
	return nil
}

func summedByRails(w *writer, s *stage, way schedule.Rails) error {
	s.madeWhole(w)
	w.pool.falls = true
	s.leaving = leaving{plan: railsLeave,
		memory: []declare{summandMemory, each(slots), reducedMemory},
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
	parts                           // that come one after the other
	each    parts                   // that lie apart
	belongs func(piece) hostir.View // the place of a piece of a rank's rows
	passed  string
	landing string // empty: peers read where the rows belong
}

// relays are the streams that copy what came in some phases.
func (x rails) relays(first hostir.Expr) hostir.StreamSet {
	return hostir.StreamSet{Name: relayName, First: first, Count: x.all(hostir.Hosts), High: true}
}

func (x rails) relay(phase hostir.Expr) hostir.StreamRef {
	return hostir.StreamAt(relayName, x.chunk(phase))
}

// at is a part of a rank's rows where all are.
func (x rails) at(rank hostir.Expr) hostir.View {
	return x.belongs(piece{rank: rank, part: x.part()})
}

// landed is where the rows of a rail come, which a rank has from a host.
func (x rails) landed(rank, host hostir.Expr) hostir.View {
	if x.landing == "" {
		return x.at(rank)
	}
	return hostir.Chunk(x.landing, x.each.chunk(host))
}

// exchanged sends a part of this rank's rows to another host, gets one, and tells the peers. Of rows that come in
// batches each is exchanged by itself.
func (x rails) exchanged(own hostir.View) []hostir.Node {
	from := hostir.HostBehind(phase)
	return slices.Concat(
		[]hostir.Node{hostir.Bind("from", onRail(from)), hostir.Bind("to", onRail(hostir.HostAhead(phase)))},
		x.within(hostir.Exchanged(collectiveRef, x.landed(hostir.Var("from"), from), own, hostir.Var("to"),
			hostir.Var("from"))),
		[]hostir.Node{hostir.Post(collectiveRef, x.passed, every).Member(x.chunk(phase)),
			hostir.After(x.relay(phase), collectiveRef)})
}

// relayed has what the network brings come to its place, and on to this rank.
func (x rails) relayed(t *turns) {
	relay, host, from := x.relay(phase), hostir.HostBehind(phase), hostir.Var("from")
	t.on = relay
	t.pieces[0].part = x.part()
	if x.landing != "" {
		t.bring = x.within(hostir.Set(relay, x.at(from), x.landed(from, host)))
	}
	others := &t.then[0]
	others.on = relay
	others.bring = append([]hostir.Node{hostir.Wait(relay, x.passed, hostir.Var("peer")).Member(x.chunk(phase))},
		x.within(hostir.Set(relay, x.at(from), x.landed(from, host).At(hostir.Var("peer"))))...)
}

// railsArrive is the arrival, whose parts cross the network one after the other, and so do batches. Rows of the host's
// own ranks come whole.
func railsArrive(w *writer, s *stage) arrival {
	a, order, apart := pulling{}.rows(w, s), w.byHosts(), w.apart()
	x := rails{writer: w, parts: cmp.Or(s.cut, apart), each: cmp.Or(s.cut, w.comeIn(s))}
	x.belongs = func(p piece) hostir.View { return w.comesTo(s, p) }
	if x.passed = w.words(passed, s.here(), x.all(hostir.Hosts)); s.Into != "" || s.ColumnsCome() {
		x.landing = w.named(landing, s.here())
		w.eachHost(x.landing, s.Input, x.each, ofRail(hostir.Var(countChunk)))
	}
	order[0].bring = a.turns[0].bring
	x.relayed(&order[1])
	a.turns = []turns{order[0], s.cut.partByPart(order[1])}
	if a.copied = s.once; s.once {
		own := turns{bring: []hostir.Node{hostir.Set(a.on, w.comesTo(s, ofRank(hostir.Rank)), hostir.Whole(s.Input))}}
		a.turns = slices.Insert(a.turns, 0, own)
	}
	ahead := phases()
	ahead.bring = s.cut.inTurn(x.exchanged(w.shard(s, x.part()))...)
	if a.ahead = ahead.brought(); apart.n > 1 { // the network begins ahead of all batches
		a.begin, a.ahead = append(a.begin, apart.inTurn(a.ahead...)...), nil
	}
	a.beside, a.exchanges = []hostir.StreamSet{collectiveSet, x.relays(x.all(one))}, true
	return a
}

// ofRail is the rank of the rail of Buffer.Counts on a host.
func ofRail(host hostir.Expr) hostir.Expr {
	return hostir.OnHost(host, hostir.Mod(hostir.Var(countRank), hostir.PerHost))
}

// eachHost declares memory with a rank's rows of a tensor for each host, in chunks of a part of them. Where ranks have
// other numbers of rows, counts says whose they are.
func (w *writer) eachHost(name, of string, cut parts, counts hostir.Expr) {
	axes := w.program.At(of).Tensor.Axes
	own, columns := schedule.Dim(axes[0].Extent), axes[len(axes)-1]
	if len(columns.Outer) == 0 { // else a rank has its columns of all rows
		own.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	each := own
	each.Outer = append(slices.Clone(own.Outer), schedule.DIDx(schedule.Number(max(cut.n, 1))))
	chunk := hostir.Elements(schedule.Tensor{Axes: []schedule.Axis{each, columns}})
	w.program.Memory(name, chunk, hostir.HostAxis, own, columns)
	if from := *w.program.At(of); !from.Counts.IsZero() {
		b := w.program.At(name)
		b.Tensor.Axes[1], b.Chunk, b.Counts, b.Elements = from.Tensor.Axes[0], from.Chunk, counts, from.Elements
		all := hostir.Times(hostir.Extent(own.Extent), b.Chunk)
		// A rail's rows fit into the room for all ranks' rows. One rank's rows for each host do not, nor does a rail
		// where the room is for one rank's.
		if counts.Equal(hostir.Var(countRank)) || !b.Elements.Equal(all) {
			b.Elements = hostir.Mul(hostir.Hosts, b.Elements)
		}
	}
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
	of := func(name string, counts hostir.Expr) {
		w.eachHost(w.named(name, s.Sums), s.Sums, cmp.Or(s.leaving.cut, w.apart()), counts)
	}
	of(hostSums, ofRail(hostir.Var(countChunk)))
	of(railSums, hostir.Var(countRank))
	if b := w.program.At(w.named(slots, s.Sums)); !b.Counts.IsZero() { // of partial results for a rank of each host
		b.Counts = ofRail(hostir.Div(hostir.Var(countChunk), hostir.PerHost))
	}
	if s.ToAll { // of the result's type, where the terms have the plan's
		of(landing, hostir.Expr{})
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
	x := railSum{w, cmp.Or(s.leaving.cut, w.apart()), s, s.outward()}
	wait := []hostir.Node{hostir.Wait(putRef, x.named(free), every)}
	railsMemory(w, s)
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
	d.turns = []turns{{leave: wait}, s.leaving.cut.partByPart(others), s.leaving.cut.partByPart(own)}
	if w.apart().n > 1 { // once, ahead of all batches
		d.begin, d.turns = wait, d.turns[1:]
	}
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
	if peers.work = made; x.first {
		peers.pieces, own.pieces = x.product(to, x.summands(x.s)), x.product(slot, x.named(slots))
	}
	peers.leave = append(peers.leave,
		hostir.Set(putRef, x.of(x.named(slots), slot).At(peer), x.of(x.summands(x.s), to)),
		hostir.Post(putRef, x.named(arrived), peer).Member(number))
	own.leave = append(own.leave, hostir.After(collectiveRef, putRef),
		hostir.Wait(collectiveRef, x.named(arrived), every).Member(number),
		hostir.Reduce(collectiveRef, hostir.Chunk(x.named(sums), x.chunk(host)), x.terms(host)...).
			Described("in the order of the host's ranks"))
	own.leave = append(own.leave, behind...)
	return []turns{peers, own}
}

// of is the part of a rank's rows in memory with those of all ranks.
func (x railSum) of(buffer string, rank hostir.Expr) hostir.View {
	return x.writer.at(buffer, piece{rank: rank, part: x.part()})
}

// product is the piece that makes it there, of the step's batch.
func (x railSum) product(rank hostir.Expr, buffer string) []piece {
	p := piece{rank: rank, part: x.part()}
	p.into = x.writer.at(buffer, x.inBatch(x.s, p))
	return []piece{p}
}

// terms are the slots that this host's ranks filled for a host; own terms may be where they were made.
func (x railSum) terms(host hostir.Expr) []hostir.View {
	slot := x.of(x.named(slots), hostir.OnHost(host, rankIndex))
	if x.first && x.s.Given == "" {
		return []hostir.View{slot.Over(hostir.RankIndex, zero, hostir.PerHost)}
	}
	return []hostir.View{slot.Over(hostir.RankIndex, zero, hostir.Local),
		x.of(x.summands(x.s), onRail(host)),
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
	all := rails{x.writer, x.parts, x.parts, func(p piece) hostir.View { return x.writer.at(x.s.Sums, p) },
		x.words(passed, x.s.Sums, x.all(hostir.Hosts)), x.named(landing)}
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
		"hosts exchange what goes to all ranks, and sums"},
	batchesForAll,
}

package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

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

// words are those of a part of the rows of each phase.
func (x rails) words() hostir.Semaphore {
	return hostir.Semaphore{Name: x.passed, Count: x.all(hostir.Hosts)}
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

// rows is the arrival. Rows of the host's own ranks come whole.
func (r railed) rows(w *writer, s *stage) arrival {
	x := rails{writer: w, parts: parts(r), here: s.here(), passed: w.named(passed, s.here())}
	if s.into != "" {
		x.landing = w.named(landing, s.here())
		w.eachHost(x.landing, s.input, r.n)
	}
	a, order := pulling{}.rows(w, s), w.byHosts()
	order[0].bring = a.turns[0].bring
	x.relayed(&order[1])
	a.turns = []turns{order[0], x.partByPart(order[1])}
	if a.copied = s.once; s.once {
		own := turns{bring: []hostir.Node{hostir.Set(a.on, x.at(hostir.Rank), hostir.Whole(s.input))}}
		a.turns = slices.Insert(a.turns, 0, own)
	}
	ahead := phases()
	ahead.bring = x.inTurn(x.exchanged(hostir.Chunk(s.input, x.part()))...)
	a.ahead, a.words = ahead.brought(), append(a.words, x.words())
	a.beside, a.exchanges = []hostir.StreamSet{collectiveSet, x.relays(hostir.Const(r.n))}, true
	return a
}

// eachHost declares memory with a rank's rows of a tensor for each host, in chunks of a part of them.
func (w *writer) eachHost(name, of string, parts int64) {
	rows, columns := w.rowAxis(of, true), w.columnsOf(of)
	part := schedule.Dim(rows.Extent, rows.Outer...)
	if parts > 1 {
		part.Outer = append(part.Outer, schedule.DIDx(schedule.Number(parts)))
	}
	chunk := hostir.Elements(schedule.Tensor{Axes: []schedule.Axis{part, columns}})
	w.memory(name, chunk, schedule.Dim("H"), rows, columns)
}

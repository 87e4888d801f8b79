package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// A program over hosts has two levels. Between hosts a rank exchanges with the ranks of its number there, its rail, in
// phases: the n-th sends to the host n places further on and gets from the one n places back. On its host a rank
// reaches its peers' memory. The network begins first, and this host's rows are last where sums leave.
//
// These programs are safe where a device does one thing at a time, for this reason: a wait or an exchange comes
// behind everything of its own rank that another rank needs before that one reaches the same point.

var overRails = slices.Concat(
	by(gatheredByRails, gatherRows.overHosts()).with(intoCallers),
	by(gatheredByRails, gatherBare.overHosts()).with(inPlace, lacksOf("Parts")),
	by(summedByRails, reduceRows.overHosts()),
	by(summedByRails, reduceBare.overHosts()).with(inPlace),
	by(summedByRails, allRows.overHosts(), allBare.overHosts()))

// gatheredByRails does the gathers of chains over hosts.
func gatheredByRails(d *draft, s *stage, w schedule.Rails) error {
	switch {
	case w.Parts > 1 && len(s.ops) == 0:
		return d.refusal("Parts", "leave it out", "no product runs beside what the %s exchanges", d.edge.Kind)
	case len(s.ops) == 0:
		s.once = true
	}
	d.with.falling = d.with.falling || d.schedule.Made(d.edge.Of) // rows that come late are multiplied as they come
	s.arriving = railed{int64(max(w.Parts, 1)), "p"}.rows
	return d.inParts(s, w.Parts, "Parts")
}

// summedByRails does the sums of chains over hosts.
func summedByRails(d *draft, s *stage, w schedule.Rails) error {
	d.with.falling = true
	x := railed{int64(max(w.Parts, 1)), "j"}
	s.leaving = leaving{memory: x.memory, plan: x.sums, cut: w.Parts, cutAt: d.at() + ".Parts"}
	return nil
}

// railed is the parts of a rank's rows that cross the network one after the other.
type railed parts

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
	own.pieces, own.work, own.set = []piece{ofRank(hostir.Var("peer"))}, workOf(hostir.Const(0), step), w.set
	rail := phases(hostir.Bind("from", onRail(hostir.HostBehind(phase))))
	rail.pieces, rail.work = []piece{ofRank(hostir.Var("from"))}, workOf(phase, hostir.Const(0))
	others := locals(beside, hostir.Bind("from", hostir.OnHost(hostir.HostBehind(phase), hostir.AheadLocal(step))))
	others.pieces, others.work = rail.pieces, workOf(phase, step)
	rail.then = []turns{others}
	return []turns{own, rail}
}

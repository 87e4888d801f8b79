package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// A chain over hosts has two levels, as way_rails.go says. The rows of a rank's rail come over the network, one
// host's after the other, and go from there to the peers of the host; the partial results of a host's ranks meet on
// it, and one sum a rank goes back. So the exchanges of the rows come first on the stream of collectives. The exchanges
// of the sums follow, each as soon as its host's rows have been through the stage.

// linkedRails is linked for ranks on several hosts.
func linkedRails(d *draft) error {
	switch {
	case d.chunks > 0:
		return &schedule.FieldError{Path: "Mesh", Hint: "leave the batches out, or the mesh",
			Msg: "no pass takes batches through a chain over hosts, such as those of " + d.edge.Of}
	case d.with.parts > 1:
		return d.refusal("Parts", "leave it out", "no pass cuts what a chain exchanges")
	}
	d.with.falling = true
	if d.summedIn() >= 0 {
		d.leaveBy(leaving{hostsMemory, hostsSlots})
	}
	return nil
}

// relays are the streams that copy the rows of an exchange to peers; stages use them in turn.
var relays = hostir.StreamSet{Name: relayName, First: one, Count: hostir.Hosts, High: true}

// hostsRows is the part of the writer's in gathers over hosts: words of the rows on each host.
func hostsRows(w *writer, s *stage) arrival {
	a := pulling{}.rows(w, s)
	a.words = append(a.words, hostir.Semaphore{Name: w.named(passed, s.here()), Count: hostir.Hosts})
	return a
}

// hostsSlots is the part of the writer's in sums over hosts: words of the slots on each host.
func hostsSlots(w *writer, s *stage) departure {
	return departure{open: w.slotsFree(s), words: []hostir.Semaphore{
		{Name: w.named(arrived, s.sums), Count: hostir.Add(hostir.Hosts, one)}, {Name: w.named(free, s.sums)}}}
}

// hostsMemory is that of slots, and for a rank's rows of a stage's sums for each host.
func hostsMemory(w *writer, s *stage, columns schedule.Axis) {
	slotMemory(w, s, columns)
	for _, name := range []string{hostSums, railSums} {
		w.memory(w.named(name, s.sums), w.rowElements(s.sums, true, columns), schedule.Dim("H"),
			w.rowAxis(s.sums, true), columns)
	}
}

// workOf is the stream of the products of the rows that come in a step of a phase. Phase zero is this host's.
func workOf(phase, step hostir.Expr) hostir.StreamRef {
	return hostir.StreamAt(workName, hostir.Add(hostir.Mul(phase, hostir.PerHost), step))
}

// hostsInTurn takes the rows of all ranks through a stage: this rank's first, then its host's, then each other host's.
func (w *writer) hostsInTurn(s *stage) []hostir.Node {
	from, peer, none := hostir.Var("from"), hostir.Var("peer"), hostir.Const(0)
	beside := hostir.Bind("from", hostir.Beside(step))
	rail := hostir.Bind("from", onRail(hostir.HostBehind(phase)))
	relay := hostir.StreamAt(relayName, phase)
	through := func(on hostir.StreamRef) []hostir.Node {
		return w.operations(on, s, s.ops, ofRank(from), w.rowsAt(s.here(), from))
	}
	var nodes, local, first, relayed []hostir.Node
	if s.pulls() {
		ready, arrived, here := w.named(ready, s.here()), w.named(passed, s.here()), w.rowsAt(s.here(), from)
		nodes = hostir.MovesOf(s.here(), phases(rail,
			hostir.Bind("to", onRail(hostir.HostAhead(phase))),
			hostir.Exchanged(ncclRef, here, w.own(s), hostir.Var("to"), from),
			hostir.Post(ncclRef, arrived, every).Member(phase),
			hostir.After(relay, ncclRef)))
		local = hostir.MovesOf(s.here(), hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, here, w.own(s).At(from)), hostir.After(workOf(none, step), copyRef))
		first = hostir.MovesOf(s.here(), hostir.After(workOf(phase, none), relay))
		relayed = hostir.MovesOf(s.here(), hostir.Wait(relay, arrived, peer).Member(phase),
			hostir.Set(relay, here, here.At(peer)), hostir.After(workOf(phase, step), relay))
	}
	nodes = append(nodes, w.operations(mainRef, s, s.ops, ofRank(hostir.Rank), w.own(s))...)
	if len(local) > 0 {
		nodes = append(nodes, locals(append([]hostir.Node{beside}, local...)...))
	}
	nodes = append(nodes, locals(append([]hostir.Node{beside}, through(workOf(none, step))...)...))
	relayed = append(append([]hostir.Node{hostir.Bind("peer", hostir.Beside(step)),
		hostir.Bind("from", hostir.OnHost(hostir.HostBehind(phase), hostir.AheadLocal(step)))}, relayed...),
		through(workOf(phase, step))...)
	first = append(append([]hostir.Node{rail}, first...), through(workOf(phase, none))...)
	nodes = append(nodes, phases(append(first, locals(relayed...))...))
	if s.puts() {
		return append(nodes, w.leaveHosts(s)...)
	}
	if w.isLast(s) {
		return nodes // the join waits for them
	}
	return append(nodes, hostir.Synchronize{Origin: hostir.Origin{Field: movesField},
		Streams: []hostir.StreamRef{mainRef}, On: refs([]hostir.StreamSet{w.set})})
}

// leaveHosts sums the partial results on each host and over the hosts, the other hosts' rows before this host's.
func (w *writer) leaveHosts(s *stage) []hostir.Node {
	slots, partial, arrived := w.named(slots, s.sums), w.named(partial, s.sums), w.named(arrived, s.sums)
	sums, others := w.named(hostSums, s.sums), w.named(railSums, s.sums)
	peer, to, host, q := hostir.Var("peer"), hostir.Var("to"), hostir.Var("host"), hostir.Var(hostir.RankIndex)
	sum := func(into string, host, phase hostir.Expr, work hostir.StreamRef) []hostir.Node {
		slot := hostir.OnHost(host, hostir.Local)
		theirs := hostir.Chunk(slots, hostir.OnHost(host, q))
		return []hostir.Node{
			locals(hostir.Bind("peer", hostir.Beside(step)),
				hostir.Bind("to", hostir.OnHost(host, hostir.AheadLocal(step))),
				hostir.After(w.put, work),
				hostir.Set(w.put, hostir.Remote(slots, peer, slot), w.rowsAt(partial, to)),
				hostir.Post(w.put, arrived, peer).Member(phase)),
			hostir.After(ncclRef, w.put),
			hostir.Wait(ncclRef, arrived, every).Member(phase),
			hostir.Reduce(ncclRef, hostir.Chunk(into, host),
				theirs.Over(hostir.RankIndex, hostir.Const(0), hostir.Local), w.rowsAt(partial, slot),
				theirs.Over(hostir.RankIndex, hostir.Add(hostir.Local, one), hostir.PerHost)).
				Described("in the order of the host's ranks"),
		}
	}
	leaves := []hostir.Node{hostir.Bind("host", hostir.HostBehind(phase)),
		hostir.Bind("next", hostir.HostAhead(phase)), hostir.After(ncclRef, workOf(phase, hostir.Const(0)))}
	leaves = append(leaves, sum(sums, host, phase, workOf(phase, step))...)
	next := hostir.Var("next")
	leaves = append(leaves, hostir.Exchanged(ncclRef, hostir.Chunk(others, next), hostir.Chunk(sums, host),
		hostir.OnHost(host, hostir.Local), onRail(next)))
	rows := hostir.Chunk(s.sums, w.part())
	nodes := append([]hostir.Node{hostir.Wait(w.put, w.named(free, s.sums), every), phases(leaves...),
		hostir.After(ncclRef, mainRef)},
		sum(others, hostir.Host, hostir.Hosts, workOf(hostir.Const(0), step))...)
	return hostir.MovesOf(s.sums, append(nodes, w.sumOf(ncclRef, s, rows, rows,
		hostir.Chunk(others, q).Over(hostir.RankIndex, hostir.Const(0), hostir.Hosts)).Described(ofHostsRemark))...)
}

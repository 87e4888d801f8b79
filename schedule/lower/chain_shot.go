package lower

import "ovgen/schedule/hostir"

// One kernel reads from the peers all rows, or all partial results. Nobody overwrites them meanwhile.

// linkedShot is linked for sums by one kernel, which needs all partial results at once.
func linkedShot(d *draft) error {
	i := d.summedIn()
	s := &d.chain.stages[i]
	if s.pulls() {
		return d.refusal("Signals", "use schedule.LayerSlots, or leave it out",
			"the rows of %s come one rank's after the other", s.input)
	}
	if d.edge.Carrier.Signals {
		if err := d.holdsDevice(d.chain.stages[:i], d.at()+".Signals",
			"use schedule.MemOps, or schedule.LayerSlots"); err != nil {
			return err
		}
	}
	d.sumBy(sumsOfPeers)
	return d.roundsSums(s)
}

// sumsOfPeers adds up the partial results of all ranks where they are.
func sumsOfPeers(w *writer, s *stage) []hostir.Node {
	ready, done := w.named(ready, s), w.named(summed, s) // read is of gathers
	w.semaphores(ready, done)
	from := w.named(partial, s)
	term, remark := hostir.Whole(from).At(hostir.Var(hostir.RankIndex)), "the same order on every rank"
	if !s.toAll {
		term, remark = hostir.Remote(from, hostir.Var(hostir.RankIndex), hostir.Rank), "own rows, in the order of ranks"
	}
	sum := w.sumOf(mainRef, s, hostir.Whole(s.sums), hostir.Whole(s.sums), term.EachRank()).Described(remark)
	return whileRead(from, ready, done, sum)
}

// linkedGatherShot is linked for rows that one kernel reads.
func linkedGatherShot(d *draft) error {
	err := d.holdsDevice(d.chain.stages[:d.gatheredIn()], d.at(), "use schedule.Get, or leave it out")
	d.gatherBy(rowsOfPeers)
	return errorsOf(err, d.wholeRows("one kernel"))
}

// rowsOfPeers brings all rows of a stage's input here. The words are named after the input: the stage's sums may have
// some too.
func rowsOfPeers(w *writer, s *stage) []hostir.Node {
	w.share(s.input)
	ready, done := s.input+ready, s.input+read
	w.semaphores(ready, done)
	return whileRead(s.input, ready, done, hostir.Collect(mainRef, hostir.Whole(s.here()),
		hostir.Whole(s.input).At(hostir.Var(hostir.RankIndex)).EachRank()))
}

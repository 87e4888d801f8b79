package lower

import "ovgen/schedule/hostir"

// One kernel reads from the peers all rows, or all partial results. Nobody overwrites them meanwhile.

// linkedShot serves sums by one kernel, which needs all partial results at once.
func linkedShot(d *draft) error {
	s := &d.chain.stages[d.summedIn()]
	d.sumBy(sumsOfPeers)
	return errorsOf(d.roundsSums(s), d.wholeRows("one kernel"))
}

// sumsOfPeers adds up the partial results of all ranks where they are.
func sumsOfPeers(w *writer, s *stage) []hostir.Node {
	ready, done := w.named(ready, s.sums), w.named(read, s.sums)
	w.semaphores(ready, done)
	from := w.lent(w.summands(s))
	term, remark := hostir.Whole(from).At(hostir.Var(hostir.RankIndex)), "the same order on every rank"
	if !s.toAll {
		term, remark = hostir.Remote(from, hostir.Var(hostir.RankIndex), hostir.Rank), "own rows, in the order of ranks"
	}
	sum := w.sumOf(mainRef, s, hostir.Whole(s.sums), hostir.Whole(s.sums), term.EachRank()).Described(remark)
	return whileRead(from, ready, done, sum)
}

// linkedTwoShot serves sums that each rank makes a part of.
func linkedTwoShot(d *draft) error {
	d.sumBy(sumsOfParts)
	return errorsOf(d.roundsSums(&d.chain.stages[d.summedIn()]), d.wholeRows("one kernel"))
}

// sumsOfParts adds up a part of the partial results on each rank, and copies the parts of the others.
func sumsOfParts(w *writer, s *stage) []hostir.Node {
	named := func(name string) string { return w.named(name, s.sums) }
	p := twoShots{w.lent(w.summands(s)), s.sums, named(reduced), named(ready), named(summed), named(read)}
	o := s.ops[len(s.ops)-1]
	p.declare(w.draft, o.Bias() != "" || w.any(w.byRanks))
	w.buffer(o.Added()).Chunk = w.buffer(s.sums).Chunk
	return p.nodes(func(on hostir.StreamRef, dst, rows hostir.View, terms ...hostir.View) hostir.Step {
		return w.sumOf(on, s, dst, rows, terms...)
	})
}

// linkedGatherShot serves rows that one kernel reads.
func linkedGatherShot(d *draft) error {
	d.gatherBy(rowsOfPeers)
	return errorsOf(d.equalRows("one kernel reads shards of one size only", "schedule.Get"), d.wholeRows("one kernel"))
}

// rowsOfPeers brings all rows of a stage's input here.
func rowsOfPeers(w *writer, s *stage) []hostir.Node {
	w.share(s.input)
	ready, done := w.named(ready, s.here()), w.named(read, s.here())
	w.semaphores(ready, done)
	return whileRead(s.input, ready, done, hostir.Collect(mainRef, hostir.Whole(s.here()),
		hostir.Whole(s.input).At(hostir.Var(hostir.RankIndex)).EachRank()))
}

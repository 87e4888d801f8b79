package lower

import "ovgen/schedule/hostir"

// departure is how the partial results of a stage leave, one rank's rows after another's: the way of its sums says it,
// and the writer puts it around the products.
type departure struct {
	words []hostir.Semaphore
	open  func(on hostir.StreamRef) hostir.Node // peers may begin
	mine  hostir.View                           // where own rows are made
	take  func(peer hostir.Expr) []hostir.Node  // brings a peer's rows to their owner
	came  hostir.Node                           // waits until all peers' parts of own rows are here
	sum   hostir.Step                           // of own rows
	toAll []hostir.Node                         // brings all ranks the sums of all
}

// departures asks the ways of sums how partial results leave.
func (w *writer) departures() {
	w.leaves = map[*stage]departure{}
	for i := range w.chain.stages {
		switch s := &w.chain.stages[i]; {
		case s.puts() && w.original.OverHosts():
			w.leaves[s] = hostsSlots(w, s)
		case s.puts():
			w.leaves[s] = ownersSlots(w, s)
		}
	}
}

// slotsFree posts on a stream that peers may write the slots of a stage.
func (w *writer) slotsFree(s *stage) func(on hostir.StreamRef) hostir.Node {
	return func(on hostir.StreamRef) hostir.Node {
		return hostir.Post(on, w.named(free, s.sums), every).Described("the slots may be written")
	}
}

// ownersSlots puts the partial results of peers' rows into slots at their owners, who add up the slots.
func ownersSlots(w *writer, s *stage) (d departure) {
	named := func(name string) string { return w.named(name, s.sums) }
	d.words = []hostir.Semaphore{{Name: named(free)}, w.parts.semaphore(named(arrived))}
	d.open = w.slotsFree(s)
	d.mine = w.rowsAt(named(slots), hostir.Rank)
	d.take = func(peer hostir.Expr) []hostir.Node {
		nodes := []hostir.Node{hostir.After(w.put, w.work)}
		if w.n == 1 {
			nodes = append(nodes, hostir.Wait(w.put, named(free), peer))
		}
		return append(nodes, hostir.Set(w.put, d.mine.At(peer), w.rowsAt(named(partial), peer)),
			hostir.Post(w.put, named(arrived), peer).Member(w.part()))
	}
	d.came = hostir.Wait(w.put, named(arrived), every).Member(w.part())
	rows := hostir.Chunk(s.sums, w.part())
	dst := rows
	if s.toAll {
		peer := hostir.Var("peer")
		rows, dst = hostir.Chunk(s.sums, hostir.Rank), hostir.Whole(named(reduced))
		d.words = append(d.words, hostir.Semaphore{Name: named(summed)})
		d.toAll = []hostir.Node{
			hostir.Post(w.put, named(summed), every),
			hostir.Set(w.put, rows, dst),
			steps(hostir.Bind("peer", hostir.Ahead(step)),
				hostir.Wait(w.put, named(summed), peer),
				hostir.Set(w.put, hostir.Chunk(s.sums, peer), dst.At(peer)))}
	}
	d.sum = w.sumOf(w.put, s, dst, rows, w.rowsAt(named(slots), hostir.Var(hostir.RankIndex)).EachRank()).
		Described("once, in the order of ranks")
	return d
}

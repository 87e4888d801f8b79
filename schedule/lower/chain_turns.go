package lower

import (
	"slices"

	"ovgen/schedule/hostir"
)

// batches is a stage with the rows of each batch in turn.
func (w *writer) batches(s *stage, i int) []hostir.Node {
	var nodes []hostir.Node
	switch {
	case w.through[s]: // peers may read its input already
	case i > 0 && s.pulls():
		a := w.comes[s]
		nodes = hostir.MovesOf(s.here(), a.ready(mainRef).Described("peers may read "+s.input),
			hostir.After(a.on, mainRef))
		if w.original.OverHosts() {
			nodes = append(nodes, hostir.After(ncclRef, mainRef))
		}
	case i > 0 || s.gathering != nil:
		nodes = append(nodes, hostir.Synchronize{Origin: hostir.Origin{Field: movesField},
			Streams: refs([]hostir.StreamSet{w.set}), On: []hostir.StreamRef{mainRef}})
	}
	sums := w.put
	if w.original.OverHosts() {
		nodes, sums = append(nodes, w.hostsInTurn(s)...), ncclRef
	} else {
		nodes = append(nodes, w.parts.inTurn(w.rowsInTurn(s)...)...)
	}
	if _, goesOn := w.across[s]; s.puts() && !goesOn && i < len(w.chain.stages)-1 {
		nodes = append(nodes, hostir.After(mainRef, sums))
	}
	return nodes
}

// rowsInTurn does the operations on the rows of each rank in turn. This rank's rows come first, but last in the last
// operation.
func (w *writer) rowsInTurn(s *stage) []hostir.Node {
	order, ops := w.order(s), s.ops
	if s.puts() {
		ops = ops[:len(ops)-1]
	}
	var nodes []hostir.Node
	if !w.through[s] {
		nodes = w.operations(mainRef, s, ops, ofRank(hostir.Rank), w.own(s))
	}
	if len(nodes) > 0 && s.pulls() {
		nodes[0] = nodes[0].(hostir.Step).Described("own rows, in place")
	}
	if a, comes := w.comes[s]; comes {
		nodes = append(nodes,
			order.over(hostir.MovesOf(s.here(), append(slices.Clone(a.bring), hostir.After(order.work, a.on))...)...))
	}
	nodes = append(nodes, order.over(w.operations(order.work, s, s.ops, order.piece, w.at(s.here(), order.piece))...))
	done := hostir.Synchronize{Origin: hostir.Origin{Field: movesField}, Streams: []hostir.StreamRef{mainRef},
		On: refs([]hostir.StreamSet{w.set})}
	if !s.puts() {
		if w.isLast(s) && s.summing == nil && !s.gathersColumns() {
			return nodes // the join waits for them
		}
		return append(nodes, done)
	}
	sum := s.ops[len(s.ops)-1]
	x := w.own(s)
	if sum.In[0] != s.input {
		x = w.rowsAt(sum.In[0], hostir.Rank)
	}
	leaves := w.leaves[s]
	last := w.product(mainRef, s, sum, ofRank(hostir.Rank), x).
		Described("own rows last, straight into their slot")
	last = last.Into(leaves.mine)
	nodes = append(nodes, done)
	taken := order.over(leaves.take(order.piece.rank)...)
	if j, ok := w.across[s]; ok {
		return append(nodes, w.goOn(j, last, taken, leaves)...)
	}
	out := []hostir.Node{taken, hostir.After(w.put, mainRef), leaves.came, leaves.sum}
	return append(append(nodes, last), hostir.MovesOf(s.sums, append(out, leaves.toAll...)...)...)
}

// own are this rank's rows of a stage's input, where they are.
func (w *writer) own(s *stage) hostir.View {
	if s.pulls() || w.pulled(s) {
		return hostir.Chunk(s.input, w.part())
	}
	return w.rowsAt(s.here(), hostir.Rank)
}

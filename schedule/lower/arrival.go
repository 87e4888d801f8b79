package lower

import "ovgen/schedule/hostir"

// piece is rows of one rank; absent: of all.
type piece struct{ rank hostir.Expr }

// ofRank is all rows of a rank.
func ofRank(rank hostir.Expr) piece { return piece{rank} }

// turns are rounds in which pieces of the peers' rows come or leave.
type turns struct {
	over  func(round ...hostir.Node) hostir.Node // the loop over the rounds
	piece piece                                  // of a round
	work  hostir.StreamRef                       // of its products
}

// shift takes the rows of rank r+i in round i.
func (w *writer) shift() turns {
	return turns{piece: ofRank(hostir.Var("peer")), work: w.work, over: func(round ...hostir.Node) hostir.Node {
		return steps(append([]hostir.Node{hostir.Bind("peer", hostir.Ahead(step))}, round...)...)
	}}
}

// arrival is how the rows of peers come to a stage, a piece after another: the way of the gather says it, and the
// writer puts the operations behind it.
type arrival struct {
	turns
	on    hostir.StreamRef // that brings them
	words []hostir.Semaphore
	ready func(on hostir.StreamRef) hostir.Step // peers may read the own rows
	begin []hostir.Node                         // waits for all peers, ahead of all batches
	bring []hostir.Node                         // the piece of a round
	reads bool                                  // it reads peers' memory, until the end of the run
}

// arrivals asks the ways of gathers how rows come.
func (w *writer) arrivals() {
	w.comes = map[*stage]arrival{}
	for i := range w.chain.stages {
		switch s := &w.chain.stages[i]; {
		case s.pulls() && w.original.OverHosts():
			w.comes[s] = hostsRows(w, s)
		case s.pulls():
			w.comes[s] = pulledRows(w, s)
		}
	}
}

// order is that in which the rows of peers go through a stage.
func (w *writer) order(s *stage) turns {
	if a, comes := w.comes[s]; comes {
		return a.turns
	}
	return w.shift()
}

package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// workers says which streams have products: one a round, or a number of them in turn.
func (w *writer) workers() {
	w.pool.streams = cmp.Or(w.pool.streams, w.pool.usual)
	n := w.pool.streams
	w.set = hostir.StreamSet{Name: workName, First: one, Count: hostir.Size,
		Falling: w.pool.falls && w.pool.equal == "" && n == 0 && w.Order != stages.BatchByBatch}
	if n > 0 {
		w.program.Constants[poolName] = int64(n)
		w.set.First, w.set.Count = zero, hostir.Var(poolName)
	}
	w.work = w.worker(step)
}

// writeChain writes the program once the ways of all communications are known.
func writeChain(w *writer) error {
	w.tensors()
	w.heads()
	w.workers()
	w.memories()
	w.countRows()
	w.room()
	goOn, cut := w.junctions(), w.cutPieces() // either may set wrong
	if err := cmp.Or(w.wrong, goOn, cut); err != nil {
		return err
	}
	if err := w.plan(); err != nil {
		return err
	}
	if w.any(func(s *stage) bool { return s.comes.reads != "" || w.spreads(s) }) { // peers' memory, until the end
		w.program.Semaphores = append(w.program.Semaphores, hostir.Semaphore{Name: read})
	}
	w.head()
	for _, s := range w.stages {
		w.add(w.awaitComing(s)...)
		if s.through && s.Own {
			continue
		}
		if s.gathering != nil {
			w.moves(s.here(), s.gathering(w, s)...)
		} else if s.once {
			w.add(w.bringAll(s)...)
		}
		if w.inTurns(s) {
			w.add(w.byBatch(s)...)
		} else {
			w.add(w.operations(mainRef, s, s.Ops, w.allRows(s))...)
		}
		if s.summing != nil {
			w.moves(s.Sums, s.summing(w, s)...)
		}
	}
	w.tail()
	w.again()
	return w.wrong
}

// again copies what has come to the caller's other tensors of the same.
func (w *writer) again() {
	for _, o := range w.Schedule.Ops {
		if from := w.Again[o.Out]; from != "" {
			w.add(hostir.Set(mainRef, w.whole(o.Out), w.whole(from)).AskedBy("Tensors"))
		}
	}
}

// inTurns says that the rows of the ranks go through a stage one after the other, else all at once.
func (w *writer) inTurns(s *stage) bool { return s.inTurn() || s.departs() }

// byRanks says that each rank's rows of a stage are chunks of their own: they go through it, come, or are made so.
func (w *writer) byRanks(s *stage) bool {
	return w.inTurns(s) && !s.leaving.ofAll || s.Gathers && !s.Moved.From.Columns() || len(s.taken) > 0
}

// spreads says that the sums of a stage, each made by its owner, are copied to all.
func (w *writer) spreads(s *stage) bool { return len(s.leaves.toAll) > 0 }

func (w *writer) any(is func(*stage) bool) bool {
	return slices.ContainsFunc(w.stages, is)
}

// named is the name of the memory or of a semaphore of a move. In a program of several moves it begins with theirs.
func (w *writer) named(name, move string) string {
	i := slices.IndexFunc(w.legs, func(l leg) bool { return l.move == move })
	switch {
	case len(w.legs) == 1:
		return name
	case i < 0:
		return move + name
	}
	return w.legs[i].name + name
}

// word is the name of a word of a move, which it declares.
func (w *writer) word(name, move string) string { return w.words(name, move, hostir.Expr{}) }

// words are so many members of one.
func (w *writer) words(name, move string, count hostir.Expr) string {
	name = w.named(name, move)
	w.program.Semaphores = append(w.program.Semaphores, hostir.Semaphore{Name: name, Count: count})
	return name
}

package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// stage is a stage with what the ways of its communications say of it.
type stage struct {
	*stages.Stage
	held   *stage        // an earlier one that has gathered its rows; nil: none
	launch hostir.Launch // of the caller's own work, where a kernel does it
	parts  parts         // of own rows, as they go on from the sum
	// How the rows come, and how the partial results meet, at once; nil: one rank's after another's.
	gathering, summing atOnce
	taken              []string                          // results of products that are made in the kernels of these
	leaving            leaving                           // of partial results that leave one rank's after another's
	arriving           func(w *writer, s *stage) arrival // how rows come in pieces
	cut                parts                             // that a rank's rows come in
	asMade             bool                              // peers are told of each piece when it is made
	once               bool                              // the operations begin when all rows are there
	whole              bool                              // one product makes its summands, ahead of all that leaves
	padded             bool                              // they take each rank's rows with padding
	comes              arrival                           // of rows in pieces
	leaves             departure                         // of partial results that leave one rank's after another's
	across             *junction                         // the sums go on in parts
	through            bool                              // such sums take the own rows along
}

// staged begins the stages of a program.
func staged(w *writer) (err error) {
	of := map[*stages.Stage]*stage{nil: nil}
	for _, s := range w.Stages {
		of[s] = &stage{Stage: s, held: of[s.Held]}
		w.stages = append(w.stages, of[s])
		if s.Calls {
			i := slices.IndexFunc(w.Schedule.Ops, func(o schedule.Op) bool { return o.Out == s.Ops[0].Out })
			l, wrong := hostir.LaunchOf(w.Schedule, fmt.Sprintf("Ops[%d].Kernel", i), s.Ops[0].Kernel)
			of[s].launch, err = l, cmp.Or(err, wrong)
		}
	}
	return err
}

// inPieces says that the rows of a stage's input come in pieces, one after another.
func (s *stage) inPieces() bool { return s.Gathers && s.gathering == nil }

// pulls says that the operations on each piece begin when it is there.
func (s *stage) pulls() bool { return s.inPieces() && !s.once }

// takenWhole says that all that comes is there before an operation takes it.
func (s *stage) takenWhole() bool { return len(s.Ops) == 0 || s.AddsShares() }

// inTurn says that the rows of one rank come to the operations after another's, to the stage or to an earlier one.
func (s *stage) inTurn() bool { return s.pulls() || s.held != nil && s.held.pulls() }

// departs says that the partial results of a stage leave one rank's rows after another's.
func (s *stage) departs() bool { return s.Sums != "" && s.summing == nil }

// here is the buffer in which a stage works on all ranks' rows of its input.
func (s *stage) here() string {
	if !s.OfAll() {
		return s.Input
	}
	return cmp.Or(s.Into, s.Input+hostir.GatheredSuffix)
}

// atOnce is a way by which all rows of a stage's input come at once, or all its partial results meet, on the stream of
// the products: nothing of the stage runs beside it. It also declares the words and the memory that it alone needs.
type atOnce func(w *writer, s *stage) []hostir.Node

// inKernel says that the kernel that brings the rows, or adds up the partial results, makes an operation's product.
func (s *stage) inKernel(o schedule.Op) bool { return slices.Contains(s.taken, o.Out) }

// workers says which streams have products: one a round, or a number of them in turn.
func (w *writer) workers() {
	w.pool.streams = cmp.Or(w.pool.streams, w.pool.usual)
	n := w.pool.streams
	w.set = hostir.StreamSet{Name: workName, First: one, Count: hostir.Size,
		Falling: w.pool.falls && w.pool.equal == "" && n == 0 && (w.n == 0 || w.Order != stages.BatchByBatch)}
	if n > 0 {
		w.program.Constants[poolName] = int64(n)
		w.set.First, w.set.Count = hostir.Const(0), hostir.Var(poolName)
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
	w.words()
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
			w.add(w.batches(s)...)
		} else {
			w.add(w.onAll(s)...)
		}
		if s.summing != nil {
			w.moves(s.Sums, s.summing(w, s)...)
		}
	}
	w.tail()
	w.again()
	hostir.Steps(w.program.Body, func(s hostir.Step) { // peers may read the caller's memory
		reads, _ := s.Views()
		for _, v := range reads {
			if b := w.program.At(v.Buffer); b.Owner == hostir.Caller && !v.Peer.IsZero() {
				b.Shared = true
			}
		}
	})
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

func (w *writer) words() {
	for _, s := range w.stages {
		w.program.Semaphores = append(w.program.Semaphores, s.comes.words...)
		w.program.Semaphores = append(w.program.Semaphores, s.leaves.words...)
	}
	if w.any(func(s *stage) bool { return s.comes.reads != "" || w.spreads(s) }) { // peers' memory, until the end
		w.semaphores(read)
	}
}

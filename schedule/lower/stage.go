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

// Bare says that no product makes the summands of a stage, or one has made them all.
func (s *stage) Bare() bool { return s.whole || s.Stage.Bare() }

// BeforeSum are the operations of a stage ahead of the one whose partial results meet.
func (s *stage) BeforeSum() []schedule.Op {
	if s.whole {
		return s.Ops[:len(s.Ops)-1]
	}
	return s.Stage.BeforeSum()
}

// inPieces says that the rows of a stage's input come in pieces, one after another.
func (s *stage) inPieces() bool { return s.Gathers && s.gathering == nil }

// pulls says that the operations on each piece begin when it is there.
func (s *stage) pulls() bool { return s.inPieces() && !s.once }

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

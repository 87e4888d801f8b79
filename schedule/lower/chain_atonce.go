package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// atOnce is a way by which all rows of a stage's input come at once, or all its partial results meet, on the stream of
// the products: nothing of the stage runs beside it. It also declares the words and the memory that it alone needs.
type atOnce func(w *writer, s *stage) []hostir.Node

// steps are the steps of a tensor's move; none where its rows come, or leave, one rank's after the other.
func (a atOnce) steps(w *writer, s *stage, of string) []hostir.Node {
	if a == nil {
		return nil
	}
	return hostir.MovesOf(of, a(w, s)...)
}

// inKernel says that the kernel that brings the rows, or adds up the partial results, makes an operation's product.
func (s *stage) inKernel(o schedule.Op) bool { return slices.Contains(s.taken, o.Out) }

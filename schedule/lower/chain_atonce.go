package lower

import (
	"fmt"
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

// takes says that the kernel that brings the rows, or adds up the partial results, makes the product of an operation.
func (s *stage) takes(o schedule.Op) bool { return slices.Contains(s.taken, o.Out) }

// roundsSums refuses a way whose sums no kernel keeps in fp32.
func (d *draft) roundsSums(s *stage) error {
	if !d.widens(s) {
		return nil
	}
	path, hint := d.edge.Path, "use schedule.Slots, or leave it out"
	if path == "" {
		at := slices.IndexFunc(d.original.Tensors, func(t schedule.Tensor) bool { return t.Name == d.edge.Of })
		path = fmt.Sprintf("Tensors[%d].Type", at)
		hint = fmt.Sprintf("leave it out, and the type of %s is the plan's", d.edge.Of)
	}
	return refused(path, hint, "no kernel of one shot keeps the sums of %s in fp32", d.edge.Of)
}

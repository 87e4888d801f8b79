package lower

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// NCCL gathers rows or adds up partial results at once, on the stream of the products: nothing runs beside it.

// linkedNCCL is linked for a communication by one collective.
func linkedNCCL(d *draft) error {
	if err := errorsOf(d.equalRows("NCCL's collectives have equal parts", "another way"),
		d.wholeRows("NCCL")); err != nil {
		return err
	}
	for i := range d.chain.stages {
		s := &d.chain.stages[i]
		if s.sums == d.edge.Of && s.widens() {
			return &schedule.FieldError{Path: d.at(), Hint: "use schedule.Slots, or leave it out",
				Msg: fmt.Sprintf("NCCL rounds the sums of %s to the type of the plan", d.edge.Of)}
		}
	}
	d.gatherBy(rowsByNCCL)
	d.sumBy(sumsByNCCL)
	return nil
}

// rowsByNCCL brings all rows of a stage's input to each rank.
func rowsByNCCL(_ *writer, s *stage) []hostir.Node {
	return []hostir.Node{
		hostir.Together(mainRef, hostir.AllGather, hostir.Whole(s.here()), hostir.Whole(s.input))}
}

// sumsByNCCL adds up the partial results of a stage, and then the tensors that its functions add.
func sumsByNCCL(w *writer, s *stage) []hostir.Node {
	do, to := hostir.ReduceScatter, hostir.Whole(s.sums)
	if s.toAll {
		do = hostir.AllReduce
	}
	behind := adds(s.ops[len(s.ops)-1])
	if behind {
		to = hostir.Whole(w.named(reduced, s.sums))
		columns := w.columnsOf(s.sums)
		w.memory(to.Buffer, w.rowElements(s.sums, !s.toAll, columns), w.rowAxis(s.sums, !s.toAll), columns)
	}
	nodes := []hostir.Node{hostir.Together(mainRef, do, to, hostir.Whole(w.summands(s)))}
	if behind {
		nodes = append(nodes, w.sumOf(mainRef, s, hostir.Whole(s.sums), hostir.Whole(s.sums), to))
	}
	return nodes
}

// adds says that functions add something to an operation's result.
func adds(o schedule.Op) bool { return o.Added() != "" || o.Bias() != "" }

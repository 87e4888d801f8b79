package lower

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// NCCL gathers rows or adds up partial results at once, on the stream of the products: nothing runs beside it.

// linkedNCCL is linked for a communication by one collective.
func linkedNCCL(d *draft) error {
	d.with.carriage = carriage{}
	if d.chunks > 0 {
		return &schedule.FieldError{Path: d.at, Hint: "leave the batches out, or use another way",
			Msg: fmt.Sprintf("NCCL takes all rows at once, and those of %s are in %d batches", d.of, d.chunks)}
	}
	for i := range d.chain.stages {
		s := &d.chain.stages[i]
		if s.sums == d.of && s.widens() {
			return &schedule.FieldError{Path: d.at, Hint: "use schedule.LayerSlots, or leave it out",
				Msg: fmt.Sprintf("NCCL rounds the sums of %s to the type of the plan", d.of)}
		}
		s.gathersAtOnce = s.gathersAtOnce || s.gathers && s.input == d.of
		s.sumsAtOnce = s.sumsAtOnce || s.sums == d.of
	}
	return nil
}

// gatherAtOnce brings all rows of a stage's input to each rank.
func (w *writer) gatherAtOnce(s *stage) []hostir.Node {
	if !s.gathersAtOnce {
		return nil
	}
	return hostir.MovesOf(s.input,
		hostir.Together(mainRef, hostir.AllGather, hostir.Whole(s.here()), hostir.Whole(s.input)))
}

// sumAtOnce adds up the partial results of a stage, and then what its functions add.
func (w *writer) sumAtOnce(s *stage) []hostir.Node {
	if !s.sumsAtOnce {
		return nil
	}
	do, to := hostir.ReduceScatter, hostir.Whole(s.sums)
	if s.toAll {
		do = hostir.AllReduce
	}
	behind := adds(s.ops[len(s.ops)-1])
	if behind {
		to = hostir.Whole(w.named(reduced, s))
	}
	nodes := []hostir.Node{hostir.Together(mainRef, do, to, hostir.Whole(w.named(partial, s)))}
	if behind {
		nodes = append(nodes, w.sumOf(mainRef, s, hostir.Whole(s.sums), hostir.Whole(s.sums), to))
	}
	return hostir.MovesOf(s.sums, nodes...)
}

// adds says that functions add something to an operation's result.
func adds(o schedule.Op) bool { return o.Added() != "" || o.Bias() != "" }

package lower

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// NCCL gathers rows or adds up partial results at once, on the stream of the products: nothing runs beside it. Or it
// gathers them in parts, or a batch of them after the other, and each is multiplied while the next one travels.

// gatheredByNCCL does the gathers of chains.
func gatheredByNCCL(d *draft, w schedule.NCCL) error {
	if d.chain.order == batchInRound {
		if w.Parts > 1 {
			return d.refusal("Parts", "leave it out: the stream axis has as many steps as there are collectives",
				"NCCL does the %s at once", d.edge.Kind)
		}
		d.arriveBy(batchesByNCCL)
		return nil
	}
	if w.Parts < 2 {
		return linkedNCCL(d)
	}
	for s := range d.gatherers() {
		again := d.any(func(x *stage) bool { return x.held > 0 && &d.chain.stages[x.held-1] == s })
		if again || s.into != "" {
			return d.refusal("Parts", "leave it out", "part by part all ranks' rows of %s lie together, and each "+
				"rank's are taken by another operation", s.input)
		}
	}
	d.arriveBy(func(x *writer, s *stage) arrival { return partsByNCCL(s, int64(w.Parts)) })
	return errorsOf(d.equalRows("NCCL's collectives have equal parts", "another way"), d.inParts(w.Parts, "Parts"))
}

// partsByNCCL gathers a part of every rank's rows by one collective a round.
func partsByNCCL(s *stage, n int64) arrival {
	first, q := hostir.Mul(step, hostir.Size), hostir.Var(hostir.RankIndex)
	part := piece{rank: q, part: step, from: hostir.Chunk(s.here(), hostir.Add(first, q))}
	return byNCCLBeside(turns{first: hostir.Const(0), end: hostir.Const(n), pieces: []piece{part}, ofAll: true,
		bring: []hostir.Node{hostir.Together(ncclRef, hostir.AllGather, hostir.Chunks(s.here(), first, hostir.Size),
			hostir.Chunk(s.input, step))}})
}

// batchesByNCCL gathers a batch of every rank's rows by one collective a round, and has them multiplied as one.
func batchesByNCCL(w *writer, s *stage) arrival {
	t := w.roundOfBatch()
	t.set = hostir.StreamSet{}
	t.bring = []hostir.Node{hostir.Together(ncclRef, hostir.AllGather, w.at(s.here(), t.pieces[0]),
		hostir.Chunk(s.input, step))}
	return byNCCLBeside(t)
}

// byNCCLBeside is rounds of collectives beside the products, all of which are on the caller's stream.
func byNCCLBeside(t turns) arrival {
	t.work = mainRef
	return arrival{turns: []turns{t}, on: ncclRef, copied: true, oneLoop: true,
		beyond: beyond{beside: []hostir.StreamSet{ncclSet}}}
}

// linkedNCCL serves a communication by one collective.
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

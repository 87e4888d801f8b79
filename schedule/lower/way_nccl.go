package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// ncclName is the stream of collectives beside products.
const ncclName = "nccl"

var ncclRef = hostir.Stream(ncclName)

var overNCCL = []lowering{
	intoCallers(by(gatherRows, gatheredByNCCL)),
	by(gatherSteps, gatheredByNCCL),
	by(gatherBare, gatheredByNCCL),
	by(reduceRows, summedByNCCL),
	by(reduceBare, summedByNCCL),
	by(allRows, summedByNCCL),
	by(allBare, summedByNCCL),
	by(exchange, exchangedByNCCL),
}

// ncclSet starts collectives before products: the node after the next one waits for them.
var ncclSet = hostir.StreamSet{Name: ncclName, High: true}

// exchangedByNCCL is an all-to-all by one collective.
func exchangedByNCCL(d *draft, w schedule.NCCL) error {
	d.gatherBy(func(w *writer, s *stage) []hostir.Node {
		w.cut(s.input, schedule.D)
		w.cut(s.here(), schedule.D)
		return []hostir.Node{
			hostir.Together(mainRef, hostir.AllToAll, hostir.Whole(s.here()), hostir.Whole(s.input))}
	})
	return errorsOf(d.inOne(w), d.equalRows("NCCL's collectives have equal parts", "another way"))
}

// inOne refuses parts of a communication that the way does not cut.
func (d *draft) inOne(w schedule.NCCL) error {
	if w.Parts < 2 {
		return nil
	}
	return d.refusal("Parts", "leave it out", "NCCL does the %s at once", d.edge.Kind)
}

// summedByNCCL adds up partial results by one collective or, where they are of one product to which no rows come, a
// part of the rows by one while the next part is multiplied.
func summedByNCCL(d *draft, w schedule.NCCL) error {
	if s := &d.chain.stages[0]; w.Parts > 1 && s.given == "" && d.lonely() {
		x := partsSummed{s, parts{int64(w.Parts), "j"}}
		return d.passOn(leaving{memory: x.memory, plan: x.plan})
	}
	return errorsOf(d.inOne(w), linkedNCCL(d))
}

// partsSummed are partial results of a stage that leave in parts of all ranks' rows.
type partsSummed struct {
	*stage
	parts
}

// memory is that of the partial results. In a reduce-scatter a part has rows of each rank.
func (x partsSummed) memory(w *writer, s *stage, columns schedule.Axis) {
	n, a, rows := decimal(int(x.n)), s.ops[0].In[0], w.rowExtent(s.sums)
	w.cut(s.sums, n)
	if s.toAll {
		w.cut(a, n)
		w.program.Checks = append(w.program.Checks, hostir.Divide{Extent: rows, By: n})
	} else {
		w.cut(a, schedule.D, n)
		w.cutRows(rows, x.n)
	}
	w.memory(partial, w.buffer(s.sums).Chunk, schedule.Dim(rows), columns)
}

// plan multiplies a part and adds it up while the next one is multiplied.
func (x partsSummed) plan(w *writer, s *stage) departure {
	o, q := s.ops[0], hostir.Var(hostir.RankIndex)
	index, _, _ := productOf(o)
	multiply := func(to, rows hostir.Expr) hostir.Node {
		return hostir.Multiply(mainRef, index, hostir.Chunk(partial, to), hostir.Chunk(o.In[0], rows),
			hostir.Whole(o.In[1]))
	}
	product, collective, of := multiply(x.part(), x.part()), hostir.AllReduce, hostir.Chunk(partial, x.part())
	if !s.toAll {
		first := hostir.Mul(x.part(), hostir.Size)
		product = hostir.Loop(hostir.RankIndex, hostir.Const(0), hostir.Size,
			multiply(hostir.Add(first, q), x.chunk(q)))
		collective, of = hostir.ReduceScatter, hostir.Chunks(partial, first, hostir.Size)
	}
	w.fork(ncclSet) // each collective waits for the products that it adds up
	d := departure{}
	d.share = shareOf(s, int(x.n))
	d.passes = func() []hostir.Node {
		return x.inTurn(append([]hostir.Node{product}, hostir.MovesOf(s.sums, hostir.After(ncclRef, mainRef),
			hostir.Together(ncclRef, collective, hostir.Chunk(s.sums, x.part()), of))...)...)
	}
	d.tail = []hostir.Node{join(ncclSet)}
	return d
}

package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// ncclName is the stream of collectives beside products.
const ncclName = "nccl"

var ncclRef = hostir.Stream(ncclName)

var overNCCL = []lowering{
	asStage(gather, schedule.NCCL{}),
	asStage(gatherChunks, schedule.NCCL{}),
	where(byNCCL(reduce, reduceNCCL), inOne),
	where(byNCCL(reduceAll, reduceAllNCCL), inOne),
	asStage(gatherBare, schedule.NCCL{}),
	asStage(reduceBare, schedule.NCCL{}),
	asStage(allBare, schedule.NCCL{}),
	atOnceByNCCL(exchange, bareNCCL(hostir.AllToAll, "A", "C")),
	by(gatherLink, gatheredByNCCL),
	atOnceByNCCL(reduceLink, linkedNCCL),
	atOnceByNCCL(allLink, linkedNCCL),
}

// inOne says that one collective does it.
func inOne(w schedule.NCCL) bool { return w.Parts <= 1 }

func byNCCL(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.NCCL) error {
		d.with.parts = w.Parts
		return write(d)
	})
}

// atOnceByNCCL refuses parts of a communication that the way does not cut.
func atOnceByNCCL(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.NCCL) error {
		if w.Parts > 1 {
			return d.refusal("Parts", "leave it out", "NCCL does the %s at once", d.edge.Kind)
		}
		return write(d)
	})
}

// bareNCCL is a collective and nothing else, where some tensors have a part for each
// rank.
func bareNCCL(do hostir.Kind, parts ...string) func(*draft) error {
	return func(d *draft) error {
		if d.uneven("A") {
			return &schedule.FieldError{Path: d.at(), Hint: "use another way",
				Msg: "NCCL's collectives have equal parts"}
		}
		if err := d.tensors(); err != nil {
			return err
		}
		for _, name := range parts {
			d.cut(name, schedule.D)
		}
		d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
		d.add(hostir.Together(mainRef, do, hostir.Whole("C"), hostir.Whole("A")))
		return nil
	}
}

// ncclSet starts collectives before products: the node after the next one waits for them.
var ncclSet = hostir.StreamSet{Name: ncclName, High: true}

// reduceNCCL multiplies a part of every rank's rows and adds it up by one collective, while the
// next part is multiplied.
func reduceNCCL(d *draft) error {
	p := d.rowParts()
	if err := d.tensors(); err != nil {
		return err
	}
	n := decimal(int(p.n))
	d.cut("C", n)
	d.cut("A", schedule.D, n)
	c := d.buffer("C")
	d.cutRows(c.Tensor.Axes[0].Extent, p.n)
	d.memory(partial, c.Chunk, append([]schedule.Axis{schedule.Dim(c.Tensor.Axes[0].Extent)}, c.Tensor.Axes[1:]...)...)
	q := hostir.Var(hostir.RankIndex)
	first := hostir.Mul(p.part(), hostir.Size)
	d.fork(ncclSet) // each collective waits for the products that it adds up
	d.add(p.inTurn(
		hostir.Loop(hostir.RankIndex, hostir.Const(0), hostir.Size,
			d.multiply(mainRef, hostir.Chunk(partial, hostir.Add(first, q)), hostir.Chunk("A", p.chunk(q)))),
		hostir.After(ncclRef, mainRef),
		hostir.Together(ncclRef, hostir.ReduceScatter, hostir.Chunk("C", p.part()),
			hostir.Chunks(partial, first, hostir.Size)))...)
	d.add(join(ncclSet))
	return nil
}

// reduceAllNCCL multiplies some rows and adds them up by one collective, while the next are
// multiplied.
func reduceAllNCCL(d *draft) error {
	p := d.rowParts()
	if err := d.tensors(); err != nil {
		return err
	}
	c := d.buffer("C").Tensor
	n := decimal(int(p.n))
	d.cut("A", n)
	d.cut("C", n)
	d.program.Checks = append(d.program.Checks, hostir.Divide{Extent: c.Axes[0].Extent, By: n})
	d.memory(partial, part(c, n), c.Axes...)
	d.fork(ncclSet) // as in reduceNCCL
	d.add(p.inTurn(
		d.multiply(mainRef, hostir.Chunk(partial, p.part()), hostir.Chunk("A", p.part())),
		hostir.After(ncclRef, mainRef),
		hostir.Together(ncclRef, hostir.AllReduce, hostir.Chunk("C", p.part()), hostir.Chunk(partial, p.part())))...)
	d.add(join(ncclSet))
	return nil
}

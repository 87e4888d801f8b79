package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// whileRead puts a sum that reads a buffer of all ranks between the two meetings of all ranks.
func whileRead(buffer, ready, read string, sum hostir.Step) []hostir.Node {
	return []hostir.Node{
		hostir.Post(mainRef, ready, every).Described("peers may read " + buffer),
		hostir.Wait(mainRef, ready, every),
		sum,
		hostir.Post(mainRef, read, every),
		hostir.Wait(mainRef, read, every),
	}
}

// A sum in two shots lets every rank sum its part of all inputs and copy the others' parts from the ranks that summed
// them. A part is of elements, so that all ranks share in one row.

// twoShots names what a sum in two shots works on: the inputs of all ranks, the result, memory of the plan for the own
// part of it, and the words that say that the inputs may be read, that parts are there, and that they were read.
type twoShots struct{ input, result, sum, ready, summed, read string }

// declare declares the memory and the words, and lets all be indexed by a part a rank: of elements, or of rows where a
// bias is added to each or other steps take rows of a rank.
func (p twoShots) declare(d *draft, rows bool) {
	c := d.buffer(p.result).Tensor.Axes
	d.memory(p.sum, hostir.Expr{}, schedule.Dim(c[0].Extent+"*"+c[1].Extent, schedule.DIDx(schedule.D)))
	d.cutFlat(p.result, rows, p.input, p.sum)
	d.buffer(p.sum).Elements = d.buffer(p.sum).Chunk
	d.semaphores(p.ready, p.summed, p.read)
}

// nodes are the steps. The sum is written by a function of its stream, its place, the part of the result that it
// belongs to, and its terms.
func (p twoShots) nodes(sum func(on hostir.StreamRef, dst, rows hostir.View,
	terms ...hostir.View) hostir.Step) []hostir.Node {
	from := hostir.Var("from")
	return []hostir.Node{
		hostir.Post(mainRef, p.ready, every).Described("peers may read " + p.input),
		hostir.Wait(mainRef, p.ready, every),
		sum(mainRef, hostir.Whole(p.sum), hostir.Chunk(p.result, hostir.Rank), hostir.Remote(p.input,
			hostir.Var(hostir.RankIndex), hostir.Rank).EachRank()).Described("own part, in the order of ranks"),
		hostir.Post(mainRef, p.summed, every),
		hostir.Set(mainRef, hostir.Chunk(p.result, hostir.Rank), hostir.Whole(p.sum)),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(mainRef, p.summed, from),
			hostir.Set(mainRef, hostir.Chunk(p.result, from), hostir.Whole(p.sum).At(from))),
		hostir.Post(mainRef, p.read, every),
		hostir.Wait(mainRef, p.read, every),
	}
}

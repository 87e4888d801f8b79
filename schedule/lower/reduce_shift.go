package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Shift reduce-scatters multiply the rows of rank r+i in step i and bring the partial
// result to its owner; this rank's rows come last. The owner sums the partial results of all
// ranks once, in their order, so the bits don't depend on which arrived first.

// reduceBuffers declares the tensors, A indexed by the rows of a rank, and memory for
// a part of each rank.
func (d *draft) reduceBuffers(stack string) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.cut("A", schedule.D)
	d.stack(stack, d.buffer("C").Tensor)
	if d.uneven("C") {
		d.counted("A", hostir.Var(countChunk))
		d.counted("C", hostir.Var(countRank))
	}
	return nil
}

// postFree posts to every peer that it may write its slot.
func postFree() hostir.Node {
	return hostir.Post(mainRef, free, every).Described("the slots may be written")
}

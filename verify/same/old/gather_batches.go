package old

import "ovgen/schedule/hostir"

// gatherBatches gathers a rank's rows of all batches in a step, and multiplies each batch's where they belong. One
// product of all of them would leave them together.
func gatherBatches(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	d.semaphores(ready, read)
	set, work := workStreams(d), poolRef(d)
	batch, from := hostir.Var("batch"), hostir.Var("from")
	rows := func(rank hostir.Expr) hostir.Expr { return hostir.Add(hostir.Mul(batch, hostir.Size), rank) }
	each := func(nodes ...hostir.Node) hostir.For {
		return hostir.Loop("batch", hostir.Const(0), hostir.Var(chunksName), nodes...)
	}
	peer := hostir.Bind("from", hostir.Ahead(step))
	d.add(hostir.Post(mainRef, ready, every).Described("before the forks"),
		d.fork(copySet, set),
		each(d.multiplied(mainRef, hostir.Chunk("C", rows(hostir.Rank)), hostir.Chunk("A", batch))...),
		steps(peer,
			hostir.Wait(copyRef, ready, from),
			each(hostir.Set(copyRef, hostir.Chunk(g, rows(from)), hostir.Remote("A", from, batch))),
			hostir.After(work, copyRef)),
		steps(peer, each(d.multiplied(work, hostir.Chunk("C", rows(from)), hostir.Chunk(g, rows(from)))...)),
		hostir.Post(copyRef, read, every).Described("A may be overwritten afterwards"),
		hostir.Wait(copyRef, read, every),
		join(copySet, set))
	return nil
}

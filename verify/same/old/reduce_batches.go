package old

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// reduceBatches is reducePut of the rows that a rank gets of each batch: a step multiplies them batch by batch, so that
// they lie together, and puts all of them at once.
func reduceBatches(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	c := d.buffer("C")
	d.cut("A", chunksName, schedule.D)
	for _, name := range []string{slots, partial} {
		d.memory(name, c.Chunk, append([]schedule.Axis{schedule.Dim(schedule.D)}, c.Tensor.Axes...)...)
	}
	d.semaphores(free, arrived)
	set, work, last := d.ownLast()
	copies, put := d.puts()
	batch, batches, to := hostir.Var("batch"), hostir.Var(chunksName), hostir.Var("to")
	products := func(on hostir.StreamRef, dst string, rank hostir.Expr) hostir.Node {
		return hostir.Loop("batch", hostir.Const(0), batches,
			d.multiply(on, hostir.Chunk(dst, hostir.Add(hostir.Mul(rank, batches), batch)),
				hostir.Chunk("A", hostir.Add(hostir.Mul(batch, hostir.Size), rank))))
	}
	rows := func(buffer string, rank hostir.Expr) hostir.View {
		return hostir.Chunks(buffer, hostir.Mul(rank, batches), batches)
	}
	d.add(d.forkAndPost(set, copies)...)
	d.add(steps(hostir.Bind("to", hostir.Ahead(step)),
		hostir.Wait(put, free, to),
		products(work, partial, to),
		hostir.After(put, work),
		hostir.Set(put, rows(slots, hostir.Rank).At(to), rows(partial, to)),
		hostir.Post(put, arrived, to)),
		products(last, slots, hostir.Rank), join(copies, set),
		hostir.Wait(mainRef, arrived, every),
		d.sum(mainRef, hostir.Whole("C"), hostir.Whole("C"), rows(slots, hostir.Var(hostir.RankIndex)).EachRank()).
			Described("once, in the order of ranks"))
	return nil
}

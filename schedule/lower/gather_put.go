package lower

import "ovgen/schedule/hostir"

// gatherPut pushes this rank's shard, in parts if asked, into every peer's gathered
// tensor: in step i to rank r-i, while that of rank r+i arrives. A rank says ahead of
// everything that its memory may be written. It waits for what arrives behind its own
// push of the step, which the rank that pushes to it does as well, so that no circle
// of ranks can wait for each other.
func gatherPut(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	s, from, to := d.shards(), hostir.Var("from"), hostir.Var("to")
	d.semaphore(free, count(s.parts))
	d.semaphore(arrived, count(s.parts))
	set, work := s.streams(d)
	d.add(s.each(func(p hostir.Expr) hostir.Node {
		return described(postAt(mainRef, free, p, every), "one batch, before the forks")
	})...)
	d.add(d.fork(copySet, set))
	d.add(d.ownShard(s.rows("C", hostir.Rank))...)
	d.add(s.loop(append(
		d.launch(putKernel,
			waitAt(copyRef, free, s.part(), to),
			move(copyRef, remote(g, to, s.chunk(hostir.Rank)), hostir.View{Buffer: "A", Index: s.part()}),
			postAt(copyRef, arrived, s.part(), to)),
		after(work, copyRef))...))
	d.add(s.loop(append(
		list[hostir.Node](waitAt(work, arrived, s.part(), from)),
		d.multiplied(work, slice("C", s.chunk(from)), slice(g, s.chunk(from)))...)...))
	d.add(join(copySet, set))
	return nil
}

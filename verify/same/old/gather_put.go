package old

import "ovgen/schedule/hostir"

// gatherPut pushes this rank's shard, in parts if asked, into every peer's gathered
// tensor: in step i to rank r-i, while that of rank r+i arrives. A rank says before
// everything that its memory may be written. In each step a rank first pushes and then
// waits for the shard that arrives. The rank that pushes to it does the same, so no
// circle of ranks can wait for each other.
func gatherPut(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	s, from, to := d.shards(), hostir.Var("from"), hostir.Var("to")
	d.semaphore(free, count(s.n))
	d.semaphore(arrived, count(s.n))
	set, work := s.streams(d, 1)
	d.add(s.each(func(p hostir.Expr) hostir.Node {
		return hostir.Post(mainRef, free, every).Member(p).Described("one batch, before the forks")
	})...)
	d.add(d.fork(copySet, set))
	d.add(d.ownShard(s.rows("C", hostir.Rank))...)
	d.add(
		s.loop(1,
			hostir.Wait(copyRef, free, to).Member(s.part()),
			hostir.Set(copyRef, hostir.Remote(g, to, s.chunk(hostir.Rank)), hostir.View{Buffer: "A", Index: s.part()}),
			hostir.Post(copyRef, arrived, to).Member(s.part()),
			hostir.After(work, copyRef)),
		s.loop(1, append(
			[]hostir.Node{hostir.Wait(work, arrived, from).Member(s.part())},
			d.multiplied(work, hostir.Chunk("C", s.chunk(from)), hostir.Chunk(g, s.chunk(from)))...)...),
		join(copySet, set))
	return nil
}

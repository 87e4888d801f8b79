package lower

import "ovgen/schedule/hostir"

// gatherParts pulls every peer's shard in parts, each multiplied by itself. Each part
// has its own member of the semaphore that says it is ready.
func gatherParts(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	s, from := d.shards(), hostir.Var("from")
	d.semaphore(ready, count(s.parts))
	d.semaphore(read, count(1))
	set, work := s.streams(d)
	d.add(s.each(func(p hostir.Expr) hostir.Node {
		return described(postAt(mainRef, ready, p, every), "one batch, before the forks")
	})...)
	d.add(d.fork(copySet, set))
	d.add(d.ownShard(s.rows("C", hostir.Rank))...)
	d.add(s.loop(
		waitAt(copyRef, ready, s.part(), from),
		move(copyRef, slice(g, s.chunk(from)), hostir.View{Buffer: "A", Peer: from, Index: s.part()}),
		after(work, copyRef)))
	d.add(s.loop(d.multiplied(work, slice("C", s.chunk(from)), slice(g, s.chunk(from)))...))
	d.add(
		described(post(copyRef, read, every), "A may be overwritten afterwards"),
		wait(copyRef, read, every),
		join(copySet, set))
	return nil
}

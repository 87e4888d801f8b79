package old

import "ovgen/schedule/hostir"

// gatherGrouped pulls shards in the order r+1, r+2, ... and multiplies them as two blocks:
// the shards after this rank's, r+1 to D-1, when the last of them is there, and then the
// shards before it, 0 to r-1.
func gatherGrouped(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	d.semaphores(ready, read)
	r, last := hostir.Rank, hostir.Sub(hostir.Size, hostir.Const(1))
	set := hostir.StreamSet{Name: workName, First: hostir.Const(0), Count: hostir.Const(2)}
	work := func(i int64) hostir.StreamRef { return hostir.StreamRef{Set: workName, Index: hostir.Const(i)} }
	pull := func(from, to, rank hostir.Expr) hostir.For {
		peer := hostir.Var("from")
		return hostir.Loop(stepIndex, from, to,
			hostir.Bind("from", rank),
			hostir.Wait(copyRef, ready, peer),
			hostir.Set(copyRef, hostir.Chunk(g, peer), hostir.View{Buffer: "A", Peer: peer}))
	}
	block := func(i int64, none, first, count hostir.Expr) hostir.If {
		view := func(b string) hostir.View { return hostir.View{Buffer: b, Index: first, Count: count} }
		return hostir.If{X: r, Y: none, Else: d.multiplied(work(i), view("C"), view(g))}
	}
	d.add(hostir.Post(mainRef, ready, every).Described("one batch, before the forks"), d.fork(copySet, set))
	d.add(d.ownShard(hostir.Chunk("C", r))...)
	d.add(
		pull(hostir.Const(1), hostir.Sub(hostir.Size, r), hostir.Add(r, step)),
		hostir.After(work(0), copyRef),
		pull(hostir.Sub(hostir.Size, r), hostir.Size, hostir.Sub(hostir.Add(r, step), hostir.Size)),
		hostir.After(work(1), copyRef),
		block(0, last, hostir.Add(r, hostir.Const(1)), hostir.Sub(last, r)),
		block(1, hostir.Const(0), hostir.Const(0), r),
		hostir.Post(copyRef, read, every).Described("A may be overwritten afterwards"),
		hostir.Wait(copyRef, read, every),
		join(copySet, set))
	return nil
}

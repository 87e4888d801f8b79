package old

import "ovgen/schedule/hostir"

// gatherBroadcast takes a root a step: rank i pushes its shard to all peers in step i,
// and the others multiply it when it is there. A rank after its own step waits for a
// root's shard after its own push, so waits lead to lower roots only.
func gatherBroadcast(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.semaphores(free, arrived)
	set, work := workStreams(d), poolRef(d)
	set.First = hostir.Const(0) // a step for each root, the rank itself among them
	to := hostir.Var("to")
	steps := func(own, others []hostir.Node) hostir.For {
		return hostir.For{Index: stepIndex, From: hostir.Const(0), To: hostir.Size,
			Body: []hostir.Node{hostir.If{X: step, Y: hostir.Rank, Then: own, Else: others}}}
	}
	d.add(hostir.Post(mainRef, free, every).Described("one batch, before the forks"), d.fork(copySet, set))
	d.add(d.ownShard(hostir.Chunk("C", hostir.Rank))...)
	d.add(steps(
		[]hostir.Node{
			hostir.Wait(copyRef, free, every),
			hostir.Loop("q", hostir.Const(1), hostir.Size,
				hostir.Bind("to", hostir.Ahead(hostir.Var("q"))),
				hostir.Set(copyRef, hostir.Remote(g, to, hostir.Rank), hostir.Whole("A"))),
			hostir.Post(copyRef, arrived, every),
		},
		[]hostir.Node{hostir.After(work, copyRef)}))
	d.add(steps(nil, append(
		[]hostir.Node{hostir.Wait(work, arrived, step)},
		d.multiplied(work, hostir.Chunk("C", step), hostir.Chunk(g, step))...)))
	d.add(join(copySet, set))
	return nil
}

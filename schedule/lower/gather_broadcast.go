package lower

import "ovgen/schedule/hostir"

// gatherBroadcast takes a root a step: rank i pushes its shard to all peers in step i,
// and the others multiply it when it is there. A rank behind its own step waits for a
// root's shard behind its own push, so waits lead to lower roots only.
func gatherBroadcast(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.semaphore(free, count(1))
	d.semaphore(arrived, count(1))
	set, work := workStreams(d), poolRef(d)
	set.First = hostir.Const(0) // a step for each root, the rank itself among them
	to := hostir.Var("to")
	steps := func(own, others []hostir.Node) hostir.For {
		return hostir.For{Index: stepIndex, From: hostir.Const(0), To: hostir.Size,
			Body: list[hostir.Node](hostir.If{X: step, Y: hostir.Rank, Then: own, Else: others})}
	}
	d.add(described(post(mainRef, free, every), "one batch, before the forks"), d.fork(copySet, set))
	d.add(d.ownShard(slice("C", hostir.Rank))...)
	d.add(steps(list[hostir.Node](
		wait(copyRef, free, every),
		hostir.For{Index: "q", From: hostir.Const(1), To: hostir.Size, Body: list[hostir.Node](
			let("to", ahead(hostir.Var("q"))),
			move(copyRef, remote(g, to, hostir.Rank), whole("A")))},
		post(copyRef, arrived, every)),
		list[hostir.Node](after(work, copyRef))))
	d.add(steps(nil, append(
		list[hostir.Node](wait(work, arrived, step)),
		d.multiplied(work, slice("C", step), slice(g, step))...)))
	d.add(join(copySet, set))
	return nil
}

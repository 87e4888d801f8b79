package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// gatherCopy copies every rank's shard of A straight to its place in C.
func gatherCopy(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.share("A")
	d.cut("C", schedule.D)
	if d.uneven("A") {
		d.counted("A", hostir.Var(countRank))
		d.counted("C", hostir.Var(countChunk))
	}
	return d.exchange(whole("A"), func(from hostir.Expr) hostir.View { return hostir.View{Buffer: "A", Peer: from} })
}

// allToAllCopy copies part r of every rank's A to its place in C.
func allToAllCopy(d *draft) error {
	if err := d.unbounded(); err != nil {
		return err
	}
	if err := d.tensors(); err != nil {
		return err
	}
	d.share("A")
	d.cut("A", schedule.D)
	d.cut("C", schedule.D)
	if d.uneven("A") {
		from, to := hostir.Var(countRank), hostir.Var(countChunk)
		d.counted("A", hostir.Add(hostir.Mul(from, hostir.Size), to))
		d.counted("C", hostir.Add(hostir.Mul(to, hostir.Size), from))
	}
	return d.exchange(slice("A", hostir.Rank), func(from hostir.Expr) hostir.View { return remote("A", from, hostir.Rank) })
}

// exchange copies a part of C from every rank, r+1 first, and the own one beside that.
func (d *draft) exchange(own hostir.View, of func(from hostir.Expr) hostir.View) error {
	d.semaphores(ready, read)
	from := hostir.Var("from")
	d.program.Body = []hostir.Node{
		described(post(mainRef, ready, every), "peers may read A"),
		d.fork(copySet),
		steps(let("from", ahead(step)),
			wait(copyRef, ready, from),
			move(copyRef, slice("C", from), of(from))),
		move(mainRef, slice("C", hostir.Rank), own),
		described(post(copyRef, read, every), "A may be overwritten afterwards"),
		wait(copyRef, read, every),
		join(copySet),
	}
	return nil
}

// permuteCopy copies a shard from the one rank that has it.
func permuteCopy(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.share("A")
	d.program.Streams = []hostir.StreamSet{{Name: mainName}}
	d.semaphores(ready, read)
	places := hostir.Const(int64(shift(d.buffer("C").Tensor) - shift(d.buffer("A").Tensor)))
	distance := hostir.Mod(places, hostir.Size)
	from, to := hostir.Var("from"), hostir.Var("to")
	d.program.Body = []hostir.Node{
		let("from", behind(distance)),
		let("to", ahead(distance)),
		hostir.If{X: from, Y: hostir.Rank,
			Then: []hostir.Node{move(mainRef, whole("C"), whole("A"))},
			Else: []hostir.Node{
				post(mainRef, ready, to),
				wait(mainRef, ready, from),
				move(mainRef, whole("C"), hostir.View{Buffer: "A", Peer: from}),
				post(mainRef, read, from),
				described(wait(mainRef, read, to), "A may be overwritten afterwards"),
			}},
	}
	return nil
}

// shift is by how many ranks a tensor's parts are moved on.
func shift(t schedule.Tensor) int {
	axis, split, _ := t.Sharded()
	return t.Axes[axis].Outer[split].Shift
}

// broadcastCopy lets every rank copy A from rank 0.
func broadcastCopy(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.share("A")
	d.program.Streams = []hostir.StreamSet{{Name: mainName}}
	d.semaphores(ready, read)
	root := hostir.Const(0)
	d.program.Body = []hostir.Node{
		hostir.If{X: hostir.Rank, Y: root,
			Then: []hostir.Node{
				post(mainRef, ready, every),
				move(mainRef, whole("C"), whole("A")),
				described(wait(mainRef, read, every), "A may be overwritten afterwards"),
			},
			Else: []hostir.Node{
				wait(mainRef, ready, root),
				move(mainRef, whole("C"), hostir.View{Buffer: "A", Peer: root}),
				post(mainRef, read, root),
			}},
	}
	return nil
}

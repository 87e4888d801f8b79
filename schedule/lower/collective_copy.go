package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

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
	return d.exchange(hostir.Chunk, hostir.Chunk("A", hostir.Rank),
		func(from hostir.Expr) hostir.View { return hostir.Remote("A", from, hostir.Rank) })
}

// exchange copies a part of C from every rank, r+1 first, and this rank's part at the same time.
func (d *draft) exchange(part func(buffer string, of hostir.Expr) hostir.View, own hostir.View,
	of func(from hostir.Expr) hostir.View) error {
	d.semaphores(ready, read)
	from := hostir.Var("from")
	d.program.Body = []hostir.Node{
		hostir.Post(mainRef, ready, every).Described("peers may read A"),
		d.fork(copySet),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, part("C", from), of(from))),
		hostir.Set(mainRef, part("C", hostir.Rank), own),
		hostir.Post(copyRef, read, every).Described("A may be overwritten afterwards"),
		hostir.Wait(copyRef, read, every),
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
	d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	d.semaphores(ready, read)
	places := hostir.Const(int64(shift(d.buffer("C").Tensor) - shift(d.buffer("A").Tensor)))
	distance := hostir.Mod(places, hostir.Size)
	from, to := hostir.Var("from"), hostir.Var("to")
	d.program.Body = []hostir.Node{
		hostir.Bind("from", hostir.Behind(distance)),
		hostir.Bind("to", hostir.Ahead(distance)),
		hostir.If{X: from, Y: hostir.Rank,
			Then: []hostir.Node{hostir.Set(mainRef, hostir.Whole("C"), hostir.Whole("A"))},
			Else: []hostir.Node{
				hostir.Post(mainRef, ready, to),
				hostir.Wait(mainRef, ready, from),
				hostir.Set(mainRef, hostir.Whole("C"), hostir.View{Buffer: "A", Peer: from}),
				hostir.Post(mainRef, read, from),
				hostir.Wait(mainRef, read, to).Described("A may be overwritten afterwards"),
			}},
	}
	return nil
}

// shift is the number of ranks by which a tensor's parts are moved on.
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
	d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	d.semaphores(ready, read)
	root := hostir.Const(0)
	d.program.Body = []hostir.Node{
		hostir.If{X: hostir.Rank, Y: root,
			Then: []hostir.Node{
				hostir.Post(mainRef, ready, every),
				hostir.Set(mainRef, hostir.Whole("C"), hostir.Whole("A")),
				hostir.Wait(mainRef, read, every).Described("A may be overwritten afterwards"),
			},
			Else: []hostir.Node{
				hostir.Wait(mainRef, ready, root),
				hostir.Set(mainRef, hostir.Whole("C"), hostir.View{Buffer: "A", Peer: root}),
				hostir.Post(mainRef, read, root),
			}},
	}
	return nil
}

package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var pushShots = []lowering{
	asStage(reduceAll, schedule.PushShot{}),
	pushShotOf(allBare, pushShot),
	asStage(reduce, schedule.PushShot{}),
	pushShotOf(reduceBare, barePushScatter),
	pushShotOf(reduceLink, linkedPushShot),
	pushShotOf(allLink, linkedPushShot),
}

func pushShotOf(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.PushShot) error {
		d.with.words = w.Words
		return write(d)
	})
}

// pushShot lets every rank send its input to each peer as packets, and sum its input with the inputs that land. All add
// in the order of ranks, so all get equal bits.
func pushShot(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	input := d.shotInput()
	d.buffer(input).Shared = false
	d.add(d.landSums(hostir.Whole(input)))
	return nil
}

// barePushScatter lets every rank send each rank its rows of A, and sum the rows that land.
func barePushScatter(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	d.cut("A", schedule.D)
	d.add(d.landSums(hostir.Chunk("A", hostir.Var(hostir.RankIndex))))
	return nil
}

// landSums sends each rank a view, and sums the views that land to C in the order of ranks.
func (d *draft) landSums(each hostir.View) hostir.Step {
	c := d.buffer("C").Tensor
	to := d.landing(landed, arrived, d.with.words, elements(c), c.Axes...)
	return hostir.SumPackets(mainRef, hostir.Whole("C"), to, each.EachRank(), hostir.View{}).
		Described("q's part to rank q; the order of ranks")
}

// landing declares memory in which a part of every rank's lands, with the given elements and axes: packets, which are
// their own flags, or plain data with words behind it.
func (d *draft) landing(name, flags string, words bool, chunk hostir.Expr, axes ...schedule.Axis) hostir.Buffer {
	d.memory(name, chunk, append([]schedule.Axis{schedule.Dim(schedule.D)}, axes...)...)
	d.buffer(name).Lands = hostir.Landing{Flags: flags, Halves: hostir.Halves, Words: words}
	d.semaphores(flags)
	return *d.buffer(name)
}

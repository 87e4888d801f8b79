package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var pushShots = []lowering{pushShotOf(reduceAll), pushShotOf(allBare)}

func pushShotOf(m moves) lowering {
	return by(m, func(d *draft, _ schedule.PushShot) error {
		d.with.carriage = carriage{signals: true, fused: true, byBlocks: true}
		return pushShot(d)
	})
}

// pushShot lets every rank send its input to each peer as packets, and sum what lands here and its own. All add in the
// order of ranks, so all get equal bits.
func pushShot(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	input := d.shotInput()
	d.buffer(input).Shared = false
	c := d.buffer("C").Tensor
	d.landing(part(c), c.Axes...)
	d.add(hostir.SumPackets(mainRef, hostir.Whole("C"), *d.buffer(landed), hostir.Whole(input).EachRank()).
		Described("own part to rank q; the order of ranks"))
	return nil
}

// landing declares memory in which a part of every rank's lands as packets, of so many elements and such axes.
func (d *draft) landing(chunk hostir.Expr, axes ...schedule.Axis) {
	d.memory(landed, chunk, append([]schedule.Axis{schedule.Dim(schedule.D)}, axes...)...)
	d.buffer(landed).Lands = hostir.Landing{Flags: arrived, Halves: hostir.Halves}
	d.semaphores(arrived)
}

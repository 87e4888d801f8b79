package lower

import (
	"cmp"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// staging holds the partial results that peers read.
const staging = "staging"

var stagings = by(staged, reduceRows, reduceColumns).with(ofOneProduct)

func staged(d *draft, s *stage, w schedule.Staged) error {
	const buffers = 2 // while one is read the next is written
	d.with.compute = cmp.Or(w.Buffers, buffers)
	d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
	d.leaveBy(s, leaving{memory: stagedMemory, plan: stagedLeave})
	return nil
}

func stagedMemory(w *writer, s *stage, columns schedule.Axis) {
	w.stacks(s, columns, 1, slots)
	sum := w.buffer(s.sums).Tensor
	w.memory(staging, part(sum), append([]schedule.Axis{schedule.Dim(decimal(w.with.compute))}, sum.Axes...)...)
}

// stagedLeave lets the owner copy partial results out of staging buffers that the steps take in turn, one for each
// compute stream. A step posts that its buffer is ready; the next step that takes the buffer waits until it was read.
// It waits after this rank's own copy of the step, for which another rank may wait.
func stagedLeave(w *writer, s *stage) (d departure) {
	d.share, d.words = shareOf(s, 1), []hostir.Semaphore{{Name: ready}, {Name: read}}
	d.head = []hostir.Node{w.fork(copySet, w.set)}
	d.slot = func(hostir.Expr) hostir.View { return hostir.Chunk(staging, w.work.Index) }
	d.before = func(hostir.StreamRef, hostir.Expr) []hostir.Node {
		return []hostir.Node{hostir.Bind("from", hostir.Behind(step))}
	}
	d.take = func(to hostir.Expr) []hostir.Node {
		from := hostir.Var("from")
		return []hostir.Node{
			hostir.Post(w.work, ready, to),
			hostir.After(copyRef, w.work),
			hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, d.at(slots, from), d.slot(to).At(from)),
			hostir.Post(copyRef, read, from),
			hostir.After(w.work, copyRef),
			hostir.Wait(w.work, read, to).Described("the buffer is free again")}
	}
	d.last, d.mine = mainRef, d.at(slots, hostir.Rank)
	d.met = []hostir.Node{join(copySet, w.set)}
	d.sum = w.slotsSum(mainRef, s, hostir.Whole(s.sums), hostir.Whole(s.sums), d.at)
	return d
}

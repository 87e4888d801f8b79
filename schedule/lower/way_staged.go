package lower

import (
	"cmp"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// staging holds the partial results that peers read.
const staging = "staging"

var stagings = by(staged, reduceRows, reduceColumns).with(noRowsCome)

func staged(d *draft, s *stage, w schedule.Staged) error {
	const buffers = 2 // while one is read the next is written
	s.leaving = leaving{memory: stagedMemory, plan: stagedLeave}
	return d.inTurn("Buffers", cmp.Or(w.Buffers, buffers), false)
}

func stagedMemory(w *writer, s *stage, columns schedule.Axis) {
	w.ofEachRank(s, columns, slots)
	axes := w.buffer(s.sums).Tensor.Axes
	if len(axes) == 0 {
		axes = []schedule.Axis{w.rowAxis(s.sums, true), columns}
	}
	buffer := hostir.Elements(schedule.Tensor{Axes: axes})
	axes = append([]schedule.Axis{schedule.Dim(schedule.Number(w.with.compute))}, axes...)
	w.memory(w.named(staging, s.sums), buffer, axes...)
}

// stagedLeave lets the owner copy partial results out of staging buffers that the steps take in turn, one for each
// compute stream. A step posts that its buffer is ready; the next step that takes the buffer waits until it was read.
// It waits after this rank's own copy of the step, for which another rank may wait.
func stagedLeave(w *writer, s *stage) (d departure) {
	slots, staging := w.named(slots, s.sums), w.named(staging, s.sums)
	ready, read := w.named(ready, s.sums), w.named(read, s.sums)
	d.words = []hostir.Semaphore{{Name: ready}, {Name: read}}
	d.slot = func(piece) hostir.View { return hostir.Chunk(staging, w.work.Index) }
	d.before = func(hostir.StreamRef, hostir.Expr) []hostir.Node {
		return []hostir.Node{hostir.Bind("from", hostir.Behind(step))}
	}
	d.behind = func(hostir.StreamRef, hostir.Expr) []hostir.Node { return nil }
	d.take = func(p piece) []hostir.Node {
		from := hostir.Var("from")
		return []hostir.Node{
			hostir.Post(w.work, ready, p.rank),
			hostir.After(w.put, w.work),
			hostir.Wait(w.put, ready, from),
			hostir.Set(w.put, w.rowsAt(slots, from), d.slot(p).At(from)),
			hostir.Post(w.put, read, from),
			hostir.After(w.work, w.put),
			hostir.Wait(w.work, read, p.rank).Described("the buffer is free again")}
	}
	d.sums, d.own, d.after = w.put, mainRef, refs([]hostir.StreamSet{w.set})
	d.sum = w.slotsSum(w.put, s, hostir.Whole(s.sums), hostir.Whole(s.sums))
	return d
}

package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var stored = []lowering{
	asStage(reduce, schedule.Stores{}),
	ofOneProduct(by(reduceLink, func(d *draft, w schedule.Stores) error {
		d.edge.Carrier = signalledBy(w.Signals, schedule.OneKernel)
		d.leaveBy(leaving{storesMemory, storesLeave})
		return d.prioritize(w.Streams, w.Equal)
	})),
}

func storesMemory(w *writer, s *stage, _ schedule.Axis) {
	c := shareOf(s, 1)
	c.callers(w)
	c.stack(w, slots, true)
}

// storesLeave lets the product itself write the owner's slot. The own rows need not wait
// for the post to the peers.
func storesLeave(w *writer, s *stage) (d departure) {
	set, last := w.ownLast()
	d.share, d.last, d.first = shareOf(s, 1), last, true
	d.words = []hostir.Semaphore{{Name: free}, {Name: arrived}}
	d.open = w.slotsFree(s)
	fork := w.fork(set)
	if w.with.compute == 0 {
		own := fork
		own.Streams = []hostir.StreamRef{last}
		fork.Streams = []hostir.StreamRef{{Set: set.Name, From: set.First, To: hostir.Size}}
		d.head = append(d.head, own)
	}
	d.head = append(append(d.head, d.post(s)...), fork)
	d.mine = d.at(slots, hostir.Rank)
	d.slot = d.mine.At
	d.before = func(to hostir.Expr) []hostir.Node { return []hostir.Node{hostir.Wait(w.work, free, to)} }
	d.take = func(to hostir.Expr) []hostir.Node { return []hostir.Node{hostir.Post(w.work, arrived, to)} }
	d.met = []hostir.Node{join(set)}
	d.came = []hostir.Node{hostir.Wait(mainRef, arrived, every)}
	d.sum = w.slotsSum(mainRef, s, hostir.Whole(s.sums), hostir.Whole(s.sums), d.at)
	return d
}

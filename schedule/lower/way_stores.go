package lower

import (
	"cmp"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var stored = by(stores, reduceRows, reduceColumns, reduceBalanced, reduceBatches).
	with(lacksOf("Signals kernels", "Signals one kernel"))

func stores(d *draft, s *stage, w schedule.Stores) error {
	d.edge.Carrier = signalledBy(w.Signals, schedule.OneKernel)
	d.leaveBy(s, leaving{memory: storesMemory, plan: storesLeave})
	return cmp.Or(besideOthers(d), d.prioritize(w.Streams, w.Equal))
}

// besideOthers refuses kernels that signal in a chain.
func besideOthers(d *draft) error {
	if d.lonely() || !d.edge.Carrier.Signals {
		return nil
	}
	return d.refusal("Signals", "use schedule.MemOps",
		"a kernel that waits ahead of a product holds the device, and posts of other stages are behind it")
}

func storesMemory(w *writer, s *stage, columns schedule.Axis) { w.stacks(s, columns, 1, slots) }

// storesLeave lets the product itself write the owner's slot.
func storesLeave(w *writer, s *stage) (d departure) {
	free, arrived, slots := w.named(free, s.sums), w.named(arrived, s.sums), w.named(slots, s.sums)
	at, sum := w.rowsAt, w.put
	if w.lonely() {
		d.share = shareOf(s, 1)
		at, sum = d.at, mainRef
	}
	d.words = []hostir.Semaphore{{Name: free}, {Name: arrived}}
	d.open = w.slotsFree(s)
	d.mine = at(slots, hostir.Rank)
	d.slot = d.mine.At
	d.before = func(on hostir.StreamRef, to hostir.Expr) []hostir.Node {
		return []hostir.Node{hostir.Wait(on, free, to)}
	}
	d.behind = func(on hostir.StreamRef, to hostir.Expr) []hostir.Node {
		return []hostir.Node{hostir.Post(on, arrived, to)}
	}
	d.came = []hostir.Node{hostir.Wait(sum, arrived, every)}
	d.sum = w.slotsSum(sum, s, hostir.Whole(s.sums), hostir.Whole(s.sums), at)
	if w.lonely() {
		d.storesAlone(w, s)
	}
	return d
}

// storesAlone has the own rows first, which need not wait for the post to the peers.
func (d *departure) storesAlone(w *writer, s *stage) {
	set, last := w.ownLast()
	d.last, d.first = last, true
	fork := w.fork(set)
	if w.with.compute == 0 {
		own := fork
		own.Streams = []hostir.StreamRef{last}
		fork.Streams = []hostir.StreamRef{{Set: set.Name, From: set.First, To: hostir.Size}}
		d.head = append(d.head, own)
	}
	d.head = append(append(d.head, d.post(s)...), fork)
	d.met = []hostir.Node{join(set)}
}

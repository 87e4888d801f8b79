package lower

import (
	"cmp"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var stored = append(by(stores, reduceRows, reduceColumns, reduceBalanced).
	with(lacksOf("Signals kernels", "Signals one kernel")), by(stores, reduceBatches).with(lacksOf("Signals"))...)

func stores(d *draft, s *stage, w schedule.Stores) error {
	if d.chunks > 0 && !d.edge.Carrier.Fused {
		return d.refusal("Signals", "leave it out", "one kernel waits for the slots of all batches of %s", s.sums)
	}
	s.leaving = leaving{memory: storesMemory, plan: storesLeave}
	return cmp.Or(d.roundsSums(s, "the kernel of Stores"), besideOthers(d, s), d.prioritize(w.Streams, w.Equal))
}

// besideOthers refuses kernels that signal in a chain.
func besideOthers(d *draft, s *stage) error {
	if len(d.legs) == 1 || !d.edge.Carrier.Signals {
		return nil
	}
	return d.refusal("Signals", "use schedule.MemOps",
		"a kernel that waits ahead of a product holds the device, and posts of other stages are behind it")
}

func storesMemory(w *writer, s *stage, columns schedule.Axis) { w.ofEachRank(s, columns, slots) }

// storesLeave lets the product itself write the owner's slot.
func storesLeave(w *writer, s *stage) (d departure) {
	free, arrived, slots := w.named(free, s.sums), w.named(arrived, s.sums), w.named(slots, s.sums)
	d.words = []hostir.Semaphore{{Name: free}, {Name: arrived}}
	d.open = w.slotsFree(s)
	d.slot = func(p piece) hostir.View { return w.at(slots, piece{rank: hostir.Rank, part: p.part}).At(p.rank) }
	d.before = func(on hostir.StreamRef, to hostir.Expr) []hostir.Node {
		return []hostir.Node{hostir.Wait(on, free, to)}
	}
	d.behind = func(on hostir.StreamRef, to hostir.Expr) []hostir.Node {
		return []hostir.Node{hostir.Post(on, arrived, to)}
	}
	d.sums = w.sumsOf(s)
	d.came = []hostir.Node{hostir.Wait(d.sums, arrived, every)}
	if w.outward(s) {
		d.after = refs([]hostir.StreamSet{w.set})
	}
	d.sum = w.slotsSum(d.sums, s, hostir.Whole(s.sums), hostir.Whole(s.sums))
	return d
}

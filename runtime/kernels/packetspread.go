package kernels

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Spreads reports whether the kernel sends the sum of the packets that land to all ranks.
func (k Kernel) Spreads() bool { return k.Kind.Work() == LandsTwice }

// PacketSpread sends each rank its part, of the given bytes, as packets. It sums this rank's part and the parts that
// land, in the order of ranks, sends the sum to all ranks, and puts the sums one after another from dst on.
func (s *Set) PacketSpread(q *plan.Queue, on *plan.Stream, landing, spread *plan.Packets, dst driver.Ptr, bytes int64,
	parts ...driver.Ptr) {
	WithAdded{set: s}.PacketSpread(q, on, landing, spread, dst, bytes, parts...)
}

// PacketSpread is Set.PacketSpread with this rank's part of the added tensor.
func (w WithAdded) PacketSpread(q *plan.Queue, on *plan.Stream, landing, spread *plan.Packets, dst driver.Ptr,
	bytes int64, parts ...driver.Ptr) {
	w.sum(q, on, PacketSpread, dst, bytes, parts, landing, spread)
}

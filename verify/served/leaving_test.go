package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/sampling"
)

// leaving are ways by which terms of sums leave.
var leaving = []struct {
	name string
	form
	of   string
	ways []s.Way
}{
	{"own rows of the caller's terms", sum("A[D/D M N] C[M/D N]"), "C",
		[]s.Way{s.Slots{}, s.Slots{By: s.Kernels}, s.Slots{By: s.OneKernel}}},
	{"all rows of the caller's terms", sum("A[D/D M N] C[M N]"), "C",
		[]s.Way{s.Slots{}, s.Slots{By: s.KernelSignals}, s.Slots{Parts: 3}, s.Slots{Parts: 2, By: s.Kernels}}},
}

// TestLeaving: terms of sums leave by each way that a chain has for them.
func TestLeaving(t *testing.T) {
	for _, x := range leaving {
		for _, way := range x.ways {
			isCrossed(t, x.name, x.by(x.of, way).Schedule, 1, 2, 3, 4, 5, 6, 7, 8)
		}
	}
}

// TestLeavingStages: products of a stage write into their owners' slots, while rows come by any way, or other
// sums leave.
func TestLeavingStages(t *testing.T) {
	sampling.Test(t, 1, 3)
	stores := s.Stores{Signals: s.MemOps}
	for _, x := range []struct {
		s.Schedule
		of   string
		rows []s.Way
		sums []s.Way
	}{
		{catalog.GatedMLP, "A",
			[]s.Way{nil, s.Push{}, s.Pull{WithStep: true}, s.GatherShot{}, s.PushGather{}, s.NCCL{},
				s.Ring{}, s.PushRing{}, s.Broadcast{}},
			[]s.Way{stores, s.Stores{Signals: s.MemOps, Streams: 2}, s.Stores{Signals: s.MemOps, Equal: true}}},
		{catalog.LlamaLayer, "R", []s.Way{nil, s.Slots{}, stores, s.Shot{}, s.PushShot{}}, []s.Way{stores}},
		{catalog.BlockBehindAttention, "R", []s.Way{stores, s.Slots{}}, []s.Way{stores, s.Slots{}}},
	} {
		for _, rows := range x.rows {
			for _, sums := range x.sums {
				y := scheduletest.Clone(x.Schedule)
				y.Moves = []s.Move{{Of: "C", Way: sums}}
				if rows != nil {
					y.Moves = append(y.Moves, s.Move{Of: x.of, Way: rows})
				}
				isCrossed(t, "a stage", y, 1, 2, 3, 4, 5, 6, 7, 8)
			}
		}
	}
}

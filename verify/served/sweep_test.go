package served

import (
	"math/rand/v2"
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/sampling"
)

// sweep are forms with ways that are drawn often, beside any with any options.
type sweep struct {
	name  string
	of    []swept
	with  func(form) form
	usual ways
}

// ways are those of what travels, a list for each kind. nil among them is no move.
type ways struct{ rows, operands, sums, toAll []s.Way }

// sweeps are drawn alike, but for the first, which is half of all.
var sweeps = []sweep{
	{"even rows", evenForms, func(f form) form { return f }, anyWays},
	{"hosts", evenForms, form.onHosts, ways{rails, rails, rails, rails}},
	{"rows by counts", unevenForms, func(f form) form { return f }, ways{
		rows: []s.Way{nil, s.Pull{}, s.Pull{By: s.OneKernel}, s.Pull{By: s.Kernels}, s.Push{}, s.Push{By: s.Kernels},
			s.Ring{}, s.Ring{By: s.KernelSignals}, s.PushRing{}, s.PushRing{By: s.Kernels}, s.Broadcast{}},
		operands: []s.Way{nil, s.Pull{By: s.Kernels}}, sums: []s.Way{nil, s.Shot{Signals: s.MemOps}, s.RingSum{},
			s.RingSum{Signals: s.Kernels}, s.Slots{}, s.Slots{By: s.OneKernel}}}},
	{"rows up to a number", unevenForms, func(f form) form { return f.most("4") }, ways{
		rows: []s.Way{s.Padded{}, s.Padded{By: s.Kernels}}, operands: []s.Way{nil, s.Padded{}},
		sums: []s.Way{nil, s.Shot{Signals: s.Kernels}}}},
	{"balanced rows", unevenForms, form.inBalance, ways{
		rows: []s.Way{nil, s.Pull{Once: true}, s.Pull{WithStep: true}, s.Push{}, s.Push{By: s.OneKernel}, s.Ring{},
			s.Ring{WithStep: true}, s.PushRing{}, s.Broadcast{}, s.Naive{Copied: true}},
		operands: []s.Way{nil, s.Pull{By: s.Kernels}},
		sums: []s.Way{nil, s.Shot{}, s.Stores{}, s.Stores{Signals: s.Kernels}, s.Slots{By: s.OneKernel},
			s.Slots{Streams: 2}, s.RingSum{}, s.RingAccumulate{By: s.Kernels}}}},
	{"batches", batchForms, func(f form) form { return f }, ways{
		rows: []s.Way{nil, s.Pull{WithStep: true}, s.Pull{By: s.Kernels}, s.Pull{Streams: 2}, s.Pull{Once: true},
			s.Push{}, s.Push{By: s.Kernels}, s.Ring{}, s.Ring{WithStep: true}, s.PushRing{}, s.PushRing{By: s.Kernels},
			s.Broadcast{}, s.Grouped{}, s.Naive{Copied: true}, s.GatherShot{}, s.NCCL{}},
		operands: []s.Way{nil, s.NCCL{}, s.Collective{WithStep: true}, s.Collective{Streams: 2},
			s.GatherShot{}, s.Push{}},
		sums: []s.Way{nil, s.Stores{}, s.Slots{Streams: 2}, s.Slots{By: s.OneKernel}, s.Slots{Equal: true},
			s.Stores{Signals: s.MemOps}, s.Stores{Signals: s.Kernels}, s.Staged{}, s.RingSum{}, s.RingAccumulate{},
			s.Shot{}, s.Shot{Signals: s.MemOps}, s.NCCL{}},
		toAll: []s.Way{nil, s.Shot{}, s.TwoShot{By: s.CopyEngine}, s.PushShot{}, s.PushTwoShot{}, s.NCCL{}}}},
	{"rows by counts over hosts", unevenForms, form.onHosts, ways{rails, rails, rails, rails}},
	{"balanced rows over hosts", unevenForms, func(f form) form { return f.inBalance().onHosts() },
		ways{rails, rails, rails, rails}},
	{"batches over hosts", batchForms, form.onHosts, ways{rails, rails, rails, rails}},
}

// inBalance is the form with balanced rows in place of those by counts.
func (f form) inBalance() form {
	f.Schedule = scheduletest.Clone(f.Schedule)
	f.axes(s.M, func(a *s.Axis) {
		if len(a.Outer) > 0 {
			a.Outer = []s.Split{s.Balanced(s.D)}
		}
	})
	return f
}

var rails = []s.Way{nil, s.Rails{}, s.Rails{Parts: 2}, s.Rails{Parts: 3}}

// anyWays are ways of rows on one host, with options.
var anyWays = ways{
	rows: []s.Way{nil, s.Pull{Parts: 2}, s.Pull{WithStep: true}, s.Pull{WithStep: true, By: s.Kernels},
		s.Pull{Once: true}, s.Pull{By: s.Kernels}, s.Push{}, s.Push{Parts: 2}, s.Push{By: s.OneKernel}, s.Ring{},
		s.Ring{Direction: s.Both}, s.Ring{WithStep: true}, s.Ring{WithStep: true, By: s.Kernels}, s.PushRing{},
		s.PushRing{By: s.Kernels}, s.Broadcast{}, s.Broadcast{By: s.KernelSignals}, s.Grouped{}, s.GatherShot{},
		s.Tiles{}, s.PushGather{}, s.NCCL{}, s.NCCL{Parts: 2}},
	operands: []s.Way{nil, s.Pull{By: s.KernelSignals}, s.Pull{By: s.Kernels}, s.Push{}, s.Push{By: s.Kernels},
		s.Ring{}, s.Ring{Direction: s.Both, By: s.Kernels}, s.PushRing{}, s.PushRing{Direction: s.Both},
		s.GatherShot{}, s.PushGather{}, s.NCCL{}},
	sums: []s.Way{nil, s.Slots{Parts: 2}, s.Slots{By: s.OneKernel}, s.Slots{Streams: 2}, s.Staged{}, s.Stores{},
		s.Stores{Signals: s.Kernels}, s.Stores{Signals: s.OneKernel}, s.Shot{}, s.Shot{Signals: s.MemOps}, s.TwoShot{},
		s.TwoShot{By: s.CopyEngine}, s.PushShot{}, s.PushShot{Words: true}, s.PushTwoShot{}, s.RingSum{},
		s.RingSum{Signals: s.Kernels}, s.RingAccumulate{}, s.RingAccumulate{By: s.Kernels}, s.Tiles{}, s.NCCL{},
		s.NCCL{Parts: 2}},
	toAll: []s.Way{nil, s.Slots{Parts: 2}, s.Slots{Streams: 2}, s.Staged{}, s.Stores{}, s.Shot{},
		s.Shot{Signals: s.MemOps}, s.TwoShot{}, s.TwoShot{By: s.CopyEngine}, s.PushShot{}, s.PushShot{Words: true},
		s.PushTwoShot{}, s.RingSum{}, s.RingAccumulate{By: s.Kernels}, s.Tiles{}, s.NCCL{}, s.NCCL{Parts: 2}},
}

// drawnOf is the schedule of a seed, and the names of its sweep and form.
func drawnOf(seed int) (f form, name string) {
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	w := sweeps[max(0, r.IntN(2*len(sweeps)-1)-len(sweeps)+1)]
	x := w.of[r.IntN(len(w.of))]
	f = w.with(x.form).types(s.BF16, s.FP16)
	draw := func(of []string, usual []s.Way, sums bool) {
		for _, name := range of {
			way := usual[r.IntN(len(usual))]
			if r.IntN(8) == 0 {
				way = scheduletest.Way(r, sums)
			}
			if way != nil {
				f = f.by(name, way)
			}
		}
	}
	draw(x.rows, w.usual.rows, false)
	draw(x.operands, w.usual.operands, false)
	draw(x.sums, w.usual.sums, true)
	draw(x.toAll, w.usual.toAll, true)
	return f, x.name + ", " + w.name
}

// TestSweep: whatever ways communications have beside each other, and wherever rows lie, a schedule is refused by a
// field, or is lowered and proven, as a graph too, but for a Naive. The explorer agrees on one in eight.
func TestSweep(t *testing.T) {
	seeds := 2000
	if sampling.All() {
		seeds = 20000
	}
	var n struct{ Lowered, Proven, Explored, Refused int }
	for i := range seeds {
		if !sampling.Takes(i, 25) {
			continue
		}
		f, name := drawnOf(i)
		b := lowering(lower.Lower).become(t, f.Schedule, []int{1, 2, 3}, i%8 == 0)
		naive := slices.ContainsFunc(f.Moves, func(m s.Move) bool { return s.WayName(m.Way) == s.WayName(s.Naive{}) })
		if b.proven && !b.graph && !naive { // whose mistakes need a program to be enqueued in order
			b.wrong = "a graph of it may hang"
		}
		if b.wrong != "" {
			t.Errorf("%d, %s by %#v: %s", i, name, f.Moves, b.wrong)
		}
		count(&n.Lowered, b.lowered)
		count(&n.Refused, !b.lowered)
		count(&n.Proven, b.proven)
		count(&n.Explored, b.explored)
	}
	t.Logf("%+v", n)
}

func count(n *int, is bool) {
	if is {
		*n++
	}
}

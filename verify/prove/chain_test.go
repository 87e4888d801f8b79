package prove_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
)

// A chain whose moves are carried by one kernel, by kernels and by the copy engine is proven; without a signal of
// one of them it is not.
func TestMovesOfAChain(t *testing.T) {
	for _, moves := range [][]schedule.Move{
		{{Of: "R", Way: schedule.Shot{}}, {Of: "X", Way: schedule.Get{By: schedule.KernelCopies}},
			{Of: "C", Way: schedule.LayerSlots{By: schedule.KernelSignals}}},
		{{Of: "R", Way: schedule.Shot{Signals: schedule.Kernels}}, {Of: "X", Way: schedule.Get{}},
			{Of: "C", Way: schedule.LayerSlots{By: schedule.Kernels}}},
		{{Of: "R", Way: schedule.Shot{Signals: schedule.MemOps}}, {Of: "X", Way: schedule.Get{By: schedule.Kernels}}},
	} {
		s := scheduletest.Clone(catalog.BlockBehindAttention)
		s.Moves = moves
		p, err := lower.Lower("X", s)
		if err != nil {
			t.Fatalf("%v: %v", moves, err)
		}
		if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3}}); err != nil {
			t.Errorf("%v: %v", moves, err)
		}
		body, semaphores := p.Body, p.Semaphores
		for name, property := range map[string]prove.Property{"ready": prove.Window, "ready2": prove.Race,
			"arrived2": prove.Reset} { // of R, X and C
			p.Body = hostir.Without(body, name)
			p.Semaphores = slices.DeleteFunc(slices.Clone(semaphores),
				func(s hostir.Semaphore) bool { return s.Name == name })
			_, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2}})
			if c := (*prove.Counterexample)(nil); !errors.As(err, &c) || c.Property != property {
				t.Errorf("%v without %s: %v, want %q", moves, name, err, property)
			}
		}
	}
}

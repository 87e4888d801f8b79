package served

import (
	"testing"

	s "ovgen/schedule"
)

// TestSumsInPlace: a sum for all ranks that adds an operand may lie where that was, by every way. Where another operand
// was it may lie by the ways that do not cut it.
func TestSumsInPlace(t *testing.T) {
	place := func(way s.Way, then ...s.Func) error {
		x := of("A[M K] W[N/D K] Wo[K N/D] C[M K]", s.Linear("H", "A", "W"), s.Linear("C", "H", "Wo", then...))
		return accepts(t, x.within("C", "A").by("C", way).Schedule)
	}
	for way, cuts := range map[s.Way]bool{s.Slots{}: false, s.Shot{}: false, s.PushShot{}: false, s.NCCL{}: false,
		s.TwoShot{}: true, s.PushTwoShot{}: true} {
		if err := place(way, s.Add("A")); err != nil {
			t.Errorf("%T, a residual: %v", way, err)
		}
		if err := place(way); (err != nil) != cuts {
			t.Errorf("%T, another operand: %v", way, err)
		}
	}
}

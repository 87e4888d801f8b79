package passes_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// Formulas read peers' rows where they lie if kernels copy these for them alone.
func TestAtPeers(t *testing.T) {
	gather := func(way schedule.Way, then ...schedule.Op) schedule.Schedule {
		s := schedule.Schedule{Tensors: scheduletest.Tensors("A[M/D N] H[M/D N] C[M:D N] W[K N] Y[M:D K]"),
			Ops: append([]schedule.Op{schedule.Copy("H", "A", schedule.SiLU()),
				schedule.Copy("C", "H", schedule.Scale(2))}, then...),
			Moves: []schedule.Move{{Of: "H", Way: way}}}
		if len(then) == 0 {
			s.Tensors = s.Tensors[:3]
		}
		return s
	}
	product := schedule.Linear("Y", "H", "W")
	for _, test := range []struct {
		name   string
		s      schedule.Schedule
		copies int // of peers' rows
	}{
		{"by kernel copies", gather(schedule.Pull{WithStep: true, By: schedule.KernelCopies}), 0},
		{"in parts", gather(schedule.Pull{Parts: 4, WithStep: true, By: schedule.KernelCopies}), 0},
		{"by kernels", gather(schedule.Pull{WithStep: true, By: schedule.Kernels}), 0},
		{"by the copy engine", gather(schedule.Pull{WithStep: true}), 1},
		{"on a stream of the copies", gather(schedule.Pull{By: schedule.KernelCopies}), 1},
		{"a product reads them too", gather(schedule.Pull{WithStep: true, By: schedule.KernelCopies}, product), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := lower.Lower("x", test.s)
			if err != nil {
				t.Fatal(err)
			}
			copies, reads := 0, 0
			hostir.Steps(p.Body, func(s hostir.Step) {
				if s.Remote() {
					copies++
				}
				if x, makes := s.Do.(hostir.Apply); makes && !x.X.Peer.IsZero() {
					reads++
				}
			})
			_, held := p.Buffer("Hgathered")
			if copies != test.copies || reads != 1-test.copies || held != (copies > 0) {
				t.Errorf("%d copies of peers' rows and %d formulas that read them there, memory for copies: %v", copies,
					reads, held)
			}
		})
	}
}

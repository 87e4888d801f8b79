package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// crossed attend to rows of another number: of an encoder, in rows of their own, or summed up before.
var crossed = []struct {
	name string
	form
	travels []string
}{
	{"spread rows of both", of("A[M/D K] Wq[N/D K] E[P/D K] Wk[N2/D K] Wo[K N/D] C[M/D K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))), []string{"A", "E", "C"}},
	{"sums of the others", of("A[M/D K] Wq[N/D K] E[P F/D] We[K F/D] Wk[N2/D K] Wo[K N/D] C[M/D K]",
		s.Linear("Es", "E", "We"), s.Linear("Keys", "Es", "Wk"), s.Linear("Q", "A", "Wq"),
		s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"), s.Linear("C", "O", "Wo", s.Add("A"))),
		[]string{"Es", "A", "C"}},
	{"whole rows of both", of("A[M K] Wq[N/D K] E[P K] Wk[N2/D K] Wo[K N/D] C[M K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))), []string{"C"}},
	{"two gathers", of("A[M/D K] B[N/D K] C[M:D N/D] E[P/D F] B2[N2/D F] C2[P:D N2/D]",
		s.Linear("C", "A", "B"), s.Linear("C2", "E", "B2")), []string{"A", "E"}},
	{"two sums", of("A[M K/D] B[N K/D] C[M/D N] E[P F/D] B2[N2 F/D] C2[P/D N2]",
		s.Linear("C", "A", "B"), s.Linear("C2", "E", "B2")), []string{"C", "C2"}},
	{"two sums for all", of("A[M K/D] B[N K/D] C[M N] E[P F/D] B2[N2 F/D] C2[P N2]",
		s.Linear("C", "A", "B"), s.Linear("C2", "E", "B2")), []string{"C", "C2"}},
	{"a sum that is added", of("A[M K/D] B[N K/D] E[M F/D] B2[N F/D] C[M/D N]",
		s.Linear("T", "A", "B"), s.Linear("C", "E", "B2", s.Add("T"))), []string{"T", "C"}},
}

// TestCrossed: a second operand of a chain has rows of its own number, which travel by ways of their own.
func TestCrossed(t *testing.T) {
	sampling.Test(t, 0, 3)
	for _, x := range crossed {
		for _, ways := range [][2]s.Way{{}, {s.NCCL{}, s.NCCL{}}, {s.GatherShot{}, s.Shot{}},
			{s.PushGather{}, s.PushShot{}}} {
			y := scheduletest.Clone(x.Schedule)
			for _, name := range x.travels {
				maker, made := y.Maker(name)
				m := s.Move{Of: name, Way: ways[0]}
				if made && y.Partial(maker) {
					m.Way = ways[1]
				}
				y.Moves = append(y.Moves, m)
			}
			isCrossed(t, x.name, y, 1, 2, 3, 4, 8)
		}
	}
	for _, x := range crossed {
		y := scheduletest.Clone(x.Schedule)
		y.Mesh = s.Hosts()
		isCrossed(t, x.name+" over hosts", y, 2, 4, 6)
	}
}

// isCrossed lowers a schedule, proves it and lets the explorer look at it.
func isCrossed(t *testing.T, name string, x s.Schedule, ranks ...int) {
	t.Helper()
	p, err := lower.Lower("X", x)
	if err != nil {
		t.Errorf("%s, %+v: %v", name, x.Moves, err)
		return
	}
	if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks}); err != nil {
		t.Errorf("%s, %+v: %v", name, x.Moves, err)
	}
	if explored, err := explore.Small(p, []int{1, 2, 3}, false); err != nil || len(explored) == 0 {
		t.Errorf("%s, %+v: explored for %v ranks: %v", name, x.Moves, explored, err)
	}
}

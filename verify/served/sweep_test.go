package served

import (
	"errors"
	"math/rand"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// swept is a schedule of which the ways of some tensors are drawn.
type swept struct {
	name string
	form
	gathers, sums []string
}

// sweeps are layers and pairs of products, as people write them.
var sweeps = []swept{
	{"block", of("O[M N/D] A[M/D K] Wo[K N/D] V[K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M/D K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V")), s.Linear("U", "X", "Up"),
		s.Linear("G", "X", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R"))),
		[]string{"X"}, []string{"R", "C"}},
	{"gated MLP", of("A[M/D K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M/D K]", s.Linear("U", "A", "Up"),
		s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
		[]string{"A"}, []string{"C"}},
	{"block by all-reduces", of("O[M N/D] Wo[K N/D] A[M K] R[M K] V[K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V")), s.Linear("U", "X", "Up"),
		s.Linear("G", "X", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R"))),
		nil, []string{"R", "C"}},
	{"cross attention", of("A[M/D K] E[P/D K] Wq[N/D K] Wk[N/D K] Wv[N/D K] Wo[K N/D] C[M/D K]",
		s.Linear("Query", "A", "Wq"), s.Linear("Key", "E", "Wk"), s.Linear("Value", "E", "Wv"),
		s.Call("O", "Attention", "mq,pq,pq->mq", "Query", "Key", "Value"), s.Linear("C", "O", "Wo", s.Add("A"))),
		[]string{"A", "E"}, []string{"C"}},
	{"parallel block", of("A[M/D K] V[K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] Gate[F/D K] Up[F/D K] Down[K F/D] "+
		"C[M/D K]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"),
		s.Linear("Value", "X", "Wv"), s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value"),
		s.Linear("Pa", "O", "Wo"), s.Linear("U", "X", "Up"), s.Linear("G", "X", "Gate", s.SwiGLU("U")),
		s.Linear("C", "G", "Down", s.Add("Pa"), s.Add("A"))),
		[]string{"X"}, []string{"C"}},
	{"two linears", of("A[M/D K] E[P/D K] B[N/D K] C[M:D N/D] C2[P:D N/D]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B")), []string{"A", "E"}, nil},
	{"two sums", of("A[M K/D] E[P K/D] B[N K/D] C[M/D N] C2[P/D N]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B")), nil, []string{"C", "C2"}},
	{"a sum beside a gather", of("A[M K/D] B[N K/D] C[M/D N] E[P/D K] B2[N/D K] C2[P:D N/D]",
		s.Linear("C", "A", "B"), s.Linear("C2", "E", "B2")), []string{"E"}, []string{"C"}},
	{"gradients", of("Dy[M N/D] X[M/D K] Wt[K N/D] Dx[M/D K] Dw[N/D K]", s.Linear("Dx", "Dy", "Wt"),
		s.Gradient("Dw", "Dy", "X")), []string{"X"}, []string{"Dx"}},
	{"gradients beside an all-reduce", of("Dy[M N/D] X[M/D K] Wt[K N/D] Dx[M K] Dw[N/D K]",
		s.Linear("Dx", "Dy", "Wt"), s.Gradient("Dw", "Dy", "X")), []string{"X"}, []string{"Dx"}},
	{"two all-reduces", of("A[M K/D] E[P K/D] B[N K/D] C[M N] C2[P N]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B")), nil, []string{"C", "C2"}},
	{"an all-reduce that another one adds", of("A[M K/D] E[M K/D] B[N K/D] C[M N] C2[M N]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B", s.Add("C"))), nil, []string{"C", "C2"}},
	{"a sum that another one adds", of("A[M K/D] E[M K/D] B[N K/D] C[M/D N] C2[M/D N]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B", s.Add("C"))), nil, []string{"C", "C2"}},
	{"two sums, one of which is gathered", of("O[M K/D] Wo[N K/D] R[M/D N] X[M/D N] Wq[F/D N] Q[M:D F/D] More[M N] "+
		"Weight[N K/D]", s.Linear("X", "O", "Wo", s.Add("R")), s.Linear("More", "O", "Weight"),
		s.Linear("Q", "X", "Wq")), nil, []string{"X", "More"}},
	{"gathers around a layer", of("A[M/D K] E[P/D K] Wq[N/D K] Wk[N/D K] Wo[K N/D] C[M K]",
		s.Linear("Query", "A", "Wq"), s.Linear("Key", "E", "Wk"),
		s.Call("O", "Attention", "mq,pq->mq", "Query", "Key"), s.Linear("C", "O", "Wo")),
		[]string{"A", "E"}, []string{"C"}},
	{"weights that come", of("A[M/D K] Gate[F/D K] Up[F/D K] Down[K/D F] C[M/D K]", s.Linear("U", "A", "Up"),
		s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
		[]string{"Up", "Gate", "Down"}, nil},
	{"Llama layer", of("A[M/D K] V[K] V2[K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] Gate[F/D K] Up[F/D K] "+
		"Down[K F/D] C[M/D K]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Query", "X", "Wq"),
		s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value"), s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("Y", "R", s.RMSNorm("V2")), s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.SwiGLU("U")),
		s.Linear("C", "G", "Down", s.Add("R"))),
		[]string{"X", "Y"}, []string{"R", "C"}},
}

// Ways that are drawn, with options; nil is none.
var (
	sweptGathers = []s.Way{nil, s.Pull{Parts: 2}, s.Pull{WithStep: true}, s.Pull{WithStep: true, By: s.Kernels},
		s.Pull{Once: true}, s.Pull{By: s.Kernels}, s.Push{}, s.Push{Parts: 2}, s.Push{By: s.OneKernel}, s.Ring{},
		s.Ring{Direction: s.Both}, s.Ring{WithStep: true}, s.Ring{WithStep: true, By: s.Kernels}, s.PushRing{},
		s.PushRing{By: s.Kernels}, s.Broadcast{}, s.Broadcast{By: s.KernelSignals}, s.Grouped{}, s.GatherShot{},
		s.Tiles{}, s.PushGather{}, s.NCCL{}, s.NCCL{Parts: 2}}
	sweptSums = []s.Way{nil, s.Slots{Parts: 2}, s.Slots{By: s.OneKernel}, s.Slots{Streams: 2}, s.Staged{}, s.Stores{},
		s.Stores{Signals: s.Kernels}, s.Stores{Signals: s.OneKernel}, s.Shot{}, s.Shot{Signals: s.MemOps}, s.TwoShot{},
		s.TwoShot{By: s.CopyEngine}, s.PushShot{}, s.PushShot{Words: true}, s.PushTwoShot{}, s.RingSum{},
		s.RingSum{Signals: s.Kernels}, s.RingAccumulate{}, s.RingAccumulate{By: s.Kernels}, s.Tiles{}, s.NCCL{},
		s.NCCL{Parts: 2}}
)

// drawn is the schedule of a seed.
func (x swept) drawn(seed int64) form {
	r, f := rand.New(rand.NewSource(seed)), x.form.types(s.BF16, s.FP16)
	draw := func(of []string, ways []s.Way) {
		for _, name := range of {
			if w := ways[r.Intn(len(ways))]; w != nil {
				f = f.by(name, w)
			}
		}
	}
	draw(x.gathers, sweptGathers)
	draw(x.sums, sweptSums)
	return f
}

// TestSweep: whatever ways communications have beside each other, a schedule is refused by a field, or is lowered and
// proven, as a graph too.
func TestSweep(t *testing.T) {
	seeds, lowered, refused := 2000, 0, 0
	if sampling.All() {
		seeds = 20000
	}
	for i := range seeds {
		if !sampling.Takes(i, 21) {
			continue
		}
		x := sweeps[i%len(sweeps)]
		f := x.drawn(int64(i))
		p, err := lower.Lower("X", f.Schedule)
		switch {
		case err == nil:
			lowered++
			var report *prove.Report
			report, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3}})
			if err == nil && !report.Replay() {
				err = errors.New("a graph of it may hang")
			}
		case len(s.FieldErrors(err)) > 0:
			refused++
			continue
		}
		if err != nil {
			t.Errorf("%s by %#v: %v", x.name, f.Moves, err)
		}
	}
	t.Logf("%d schedules are lowered and proven, %d refused", lowered, refused)
}

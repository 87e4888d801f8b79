package served

import (
	"slices"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/explore"
	"ovgen/verify/mutate"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// Attention and an MLP of the same rows, side by side.
var sideBySide = []s.Op{s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"),
	s.Linear("Value", "X", "Wv"), s.Call("O", "Attention", "mq,mk,mv->mq", "Query", "Key", "Value"),
	s.Linear("U", "X", "Up"), s.Linear("G", "X", "Gate", s.SwiGLU("U")), s.Linear("Pa", "O", "Wo"),
	s.Linear("C", "G", "Down", s.Add("Pa"), s.Add("A"))}

const sideWeights = "Norm[K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] Up[F/D K] Gate[F/D K] Down[K F/D] "

// oneSums are products that stand side by side, and what travels.
var oneSums = []struct {
	name string
	form
	travels []string
}{
	{"two products", form{P01SumOfTwoRS}, []string{"C"}},
	{"two products for all", form{P02SumOfTwoAR}, []string{"C"}},
	{"a layer's two halves", form{D23NeoXParallel}, []string{"C"}},
	{"a layer's two halves, of own rows", of("A[M/D K] "+sideWeights+"C[M/D K]", sideBySide...), []string{"X", "C"}},
	{"three, and a bias", of("A[M K/D] B[N K/D] B2[F/D N] B3[K/D N] Bias[N] C[M/D N] E[M F/D]", s.Linear("P", "A", "B"),
		s.Matmul("Q", "E", "B2", s.Add("P")), s.Matmul("C", "A", "B3", s.Bias("Bias"), s.Add("Q"))), []string{"C"}},
	{"ahead of a norm and the next layer", of("A[M K/D] B[N K/D] E[M F/D] B2[N F/D] Norm[N] R[M/D N] Next[K/D N] "+
		"C[M:D K/D]", s.Linear("P", "A", "B"), s.Linear("S", "E", "B2", s.Add("P"), s.Add("R")),
		s.Copy("X", "S", s.RMSNorm("Norm")), s.Linear("C", "X", "Next")), []string{"S", "X"}},
	{"ahead of a function", of("A[M K/D] B[N K/D] E[M F/D] B2[N F/D] C[M/D N]", s.Linear("P", "A", "B"),
		s.Linear("C", "E", "B2", s.Add("P"), s.SiLU())), []string{"C"}},
}

// TestOneSum: each rank adds the partial results of products that stand side by side, and these meet once, by whichever
// way.
func TestOneSum(t *testing.T) {
	sampling.Test(t, 0, 3)
	for _, x := range oneSums {
		for _, ways := range [][2]s.Way{{}, {s.NCCL{}, s.NCCL{}}, {s.GatherShot{}, s.Shot{}},
			{s.Pull{By: s.Kernels}, s.Slots{Streams: 2, By: s.Kernels}}, {s.PushGather{}, s.PushShot{}}} {
			y := scheduletest.Clone(x.Schedule)
			for _, name := range x.travels {
				m := s.Move{Of: name, Way: ways[0]}
				if maker, made := y.Maker(name); made && y.Partial(maker) {
					m.Way = ways[1]
				}
				y.Moves = append(y.Moves, m)
			}
			if maker, _ := y.Maker("C"); maker.Bias() == "" || ways[1] != (s.PushShot{}) {
				isCrossed(t, x.name, y, 1, 2, 3, 4, 8)
				travels(t, x.name, y, x.travels...)
			}
		}
		y := scheduletest.Clone(x.Schedule)
		y.Mesh = s.Hosts()
		isCrossed(t, x.name+" over hosts", y, 2, 4, 6)
	}
	parts := oneSums[5].by("S", s.Slots{Parts: 2}).Schedule
	isCrossed(t, "in parts", parts, 1, 2, 3, 4, 8)
	travels(t, "in parts", parts, "S", "X")
}

// TestTwoSums: what has a way, a function or another reader of its own, and what a kernel would send, is a sum apart.
func TestTwoSums(t *testing.T) {
	const tensors = "A[M K/D] B[N K/D] E[M F/D] B2[N F/D] C[M/D N]"
	two := of(tensors, s.Linear("P", "A", "B"), s.Linear("C", "E", "B2", s.Add("P")))
	for name, x := range map[string]form{
		"a way of its own": two.by("P", s.Shot{}),
		"by stores":        two.by("C", s.Stores{Signals: s.MemOps}),
		"a function":       of(tensors, s.Linear("P", "A", "B", s.GELU()), s.Linear("C", "E", "B2", s.Add("P"))),
		"declared":         of(tensors+" P[M/D N]", two.Ops...),
		"behind a function": of(tensors, s.Linear("P", "A", "B"),
			s.Linear("C", "E", "B2", s.SiLU(), s.Add("P"))),
	} {
		isCrossed(t, name, x.Schedule, 1, 2, 3, 4, 8)
		travels(t, name, x.Schedule, "P", "C")
	}
}

// travels holds what a schedule's program moves.
func travels(t *testing.T, name string, x s.Schedule, want ...string) {
	t.Helper()
	p, err := lower.Lower("X", x)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var got []string
	for _, e := range p.Edges {
		got = append(got, e.Of)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v travel, want %v", name, got, want)
	}
}

// TestTermsAreAdded: both checkers refuse a program in which a product replaces the term before it, or makes a partial
// result of another peer's rows.
func TestTermsAreAdded(t *testing.T) {
	for what, change := range map[string]func(o *ops.Op) bool{
		"a product that adds nothing": func(o *ops.Op) bool {
			if !o.Accumulate {
				return false
			}
			o.Accumulate = false
			o.Uses = slices.DeleteFunc(o.Uses, func(u ops.Use) bool {
				return !u.Write && (u.At.Buffer == "partial" || u.At.Buffer == "slots")
			})
			return true
		},
		"a term of other rows": func(o *ops.Op) (done bool) {
			for i, u := range o.Uses {
				if o.Kind == ops.Product && !o.Accumulate && u.At.Buffer == "A" && u.At.Offset > 0 { // of rank 1, or 2
					o.Uses[i].At.Offset, done = 3*u.Bytes-u.At.Offset, true
				}
			}
			return done
		},
	} {
		for checker, c := range map[string]struct {
			check mutate.Checker
			want  string
		}{"prover": {mutate.Prove, string(prove.Contents)}, "explorer": {mutate.Explore, string(explore.Contents)}} {
			changed := 0
			o := looked(t, oneSums[0].form, func(list []ops.Op) {
				for i := range list {
					if change(&list[i]) {
						changed++
					}
				}
			}, c.check)
			if o.Safe || !strings.HasPrefix(o.Text, c.want) || changed < 2 {
				t.Errorf("%s, %d changed: the %s says %q, want %s", what, changed, checker, o.Text, c.want)
			}
		}
	}
}

// TestProductAddsTerms: functions that add partial results are said to be the library's.
func TestProductAddsTerms(t *testing.T) {
	p, err := lower.Lower("X", D23NeoXParallel)
	if err != nil {
		t.Fatal(err)
	}
	const want = "add(Pa) of C by the library of products; add(A) of C by the kernel that sums"
	if got := hostir.Sentences(p.FunctionsBy()); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	adds := 0
	hostir.Steps(p.Body, func(n hostir.Step) {
		if x, is := n.Do.(hostir.Product); is && x.Accumulate {
			adds++
		}
	})
	if adds != 2 {
		t.Errorf("%d products add to what is there, want that of peers' rows and that of own rows", adds)
	}
}

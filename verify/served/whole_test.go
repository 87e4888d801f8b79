package served

import (
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/mutate"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// Attention over keys and values of low rank, which each rank makes for itself of its rows.
var lowRank = []s.Op{
	s.Copy("X", "A", s.RMSNorm("Norm")),
	s.Linear("Ql", "X", "Dq"), s.Copy("Qn", "Ql", s.RMSNorm("QNorm")), s.Linear("Query", "Qn", "Uq"),
	s.Linear("Kl", "X", "Dk"), s.Copy("Kn", "Kl", s.RMSNorm("KNorm")), s.Linear("Key", "Kn", "Uk"),
	s.Linear("Value", "Kn", "Uv"), s.Call("O", "Attention", "mq,mq,mv->mv", "Query", "Key", "Value"),
	s.Linear("C", "O", "Wo", s.Add("A")),
}

// twoNorms is a layer whose sums are normed before a call adds what came before.
var twoNorms = []s.Op{
	s.Linear("Q", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("V", "A", "Wv"), attention, s.Linear("H", "O", "Wo"),
	s.Copy("Hn", "H", s.RMSNorm("Norm")), s.Call("R", "AddR", "mk,mk->mk", "Hn", "A"),
	s.Linear("U", "R", "Up"), s.Linear("G", "R", "Gate", s.GeGLU("U")), s.Linear("Z", "G", "Down"),
	s.Copy("Zn", "Z", s.RMSNorm("Norm2")), s.Call("C", "AddC", "mk,mk->mk", "Zn", "R"),
}

// whole are chains with weights and residuals that every rank has whole, of which other ranks take what is made.
var whole = []declared{
	{"a whole weight ahead of a gather", "its rows travel", of("A[M/D K] B[N K] B2[N2/D N] C[M:D N2/D]",
		s.Linear("H", "A", "B"), s.Linear("C", "H", "B2")), served},
	{"low-rank attention", "sequence-parallel", of(
		"A[M/D K] Norm[K] Dq[N2 K] QNorm[N2] Uq[N/D N2] Dk[N3 K] KNorm[N3] Uk[N/D N3] Uv[F/D N3] Wo[K F/D] "+
			"O[M F/D] C[M/D K]", lowRank...), served},
	{"keys of low rank", "the caller's", of("A[M/D K] Dk[N3 K] KNorm[N3] Uk[N/D N3] Key[M:D N/D]",
		s.Linear("Kl", "A", "Dk"), s.Copy("Kn", "Kl", s.RMSNorm("KNorm")), s.Linear("Key", "Kn", "Uk")), served},
	{"a low-rank product beside a weight", "a call adds them", of("A[M/D K] B[N/D K] La[16 K] Lb[N/D 16] C[M N/D]",
		s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("Y", "A", "B"),
		s.Call("C", "AddUp", "mn,mn->mn", "Y", "T")), served},
	{"a low-rank product beside a row-parallel weight", "two sums", of(
		"A[M K/D] B[N K/D] La[16 K/D] Lb[N 16] L[M 16] C[M N]", s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"),
		s.Linear("C", "A", "B", s.Add("T"))).by("L", s.Shot{}).by("C", s.Shot{}), served},
	{"a norm before the residual", "at decoding, by calls", of(
		"A[M K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] Norm[K] Norm2[K] Gate[F/D K] Up[F/D K] Down[K F/D] "+
			"H[M K] Z[M K] C[M K]", twoNorms...).by("H", s.Shot{}).by("Z", s.Shot{}), served},
	{"a gate beside a sum", "by a call", of("A[M K] Wr[N2 K] Wk[F/D K] Wv[N2 F/D] V[M N2] C[M N2]",
		s.Linear("R", "A", "Wr"), s.Linear("H", "A", "Wk", s.ReLU()), s.Linear("V", "H", "Wv"),
		s.Call("C", "GateBy", "mk,mk->mk", "R", "V")).by("V", s.Shot{}), served},
	{"a residual behind a sum", "by a call", of("A[M K] R[M K] B[F/D K] B2[K F/D] V[M K] C[M K]",
		s.Linear("H", "A", "B", s.GELU()), s.Linear("V", "H", "B2"), s.Call("C", "AddUp", "mk,mk->mk", "V", "R")).
		by("V", s.Shot{}), served},
	{"a router behind a sum", "every rank's scores", of("A[M K] R[M K] Norm[K] B[F/D K] B2[K F/D] Router[64 K] "+
		"C[M K] Scores[M 64]", s.Linear("H", "A", "B", s.SiLU()), s.Linear("C", "H", "B2", s.Add("R")),
		s.Copy("Y", "C", s.RMSNorm("Norm")), s.Linear("Scores", "Y", "Router")).by("C", s.Shot{}), served},
}

// TestWhole holds each such chain against its verdict; the explorer says the same.
func TestWhole(t *testing.T) {
	for i := range whole {
		d := &whole[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
		if o := looked(t, d.form, nil, mutate.Explore); !o.Safe {
			t.Errorf("%s: the explorer: %s", d.id, o.Text)
		}
	}
}

// TestOtherRows: both checkers refuse a program that makes one peer's rows of the result of the other's rows, of a
// tensor that the ranks share out and of what a weight makes that they must agree on.
func TestOtherRows(t *testing.T) {
	swap := func(list []ops.Op) (n int) {
		for i := range list {
			for j := range list[i].Uses {
				if u := &list[i].Uses[j]; u.Write && u.At.Buffer == "C" && u.At.Offset > 0 { // of rank 1, or 2
					u.At.Offset = 3*u.Bytes - u.At.Offset
					n++
				}
			}
		}
		return n
	}
	for what, f := range map[string]form{
		"A": of("A[M/D K] B[N K] C[M:D N]", s.Linear("C", "A", "B")),
		"H": whole[0].form,
	} {
		for checker, c := range map[string]struct {
			check mutate.Checker
			want  string
		}{"prover": {mutate.Prove, string(prove.Contents)}, "explorer": {mutate.Explore, string(explore.Contents)}} {
			swapped := 0
			o := looked(t, f, func(list []ops.Op) { swapped = swap(list) }, c.check)
			if o.Safe || !strings.HasPrefix(o.Text, c.want) || swapped != 2 {
				t.Errorf("%s, %d changed: the %s says %q, want %s", what, swapped, checker, o.Text, c.want)
			}
		}
	}
}

// looked is a checker's opinion of a schedule on three ranks, with rank 0's operations changed.
func looked(t *testing.T, f form, change func([]ops.Op), check mutate.Checker) mutate.Opinion {
	t.Helper()
	p, err := lower.Lower("X", f.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	shape := explore.ShapeOf(p, 3)
	right, err := shape.Unroll(p)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := shape.Unroll(p)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(lists[0])
	}
	o, err := check(mutate.CaseOf(p, shape, right).With(lists))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
)

var scratch = []struct {
	name string
	f    form
}{
	{"norm+mlp", of("A[M*4/D K] V[K] B[F/D K] B2[N F/D] C[M*4/D N]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2"))},
	{"norm+mlp+res", of("A[M*4/D K] V[K] B[F/D K] U[F/D K] B2[K F/D] C[M*4/D K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")), s.Linear("C", "H", "B2", s.Add("A")))},
	{"X given", of("A[M*4/D K] V[K] X[M*4/D K] B[F/D K] B2[N F/D] C[M*4/D N]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2"))},
	{"norm, columns", of("A[M*4/D K] V[K] B[F/D K] C[M*4:D F/D]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("C", "X", "B"))},
	{"attention", of("A[M*4/D K] B[F/D K] B2[N F/D] C[M*4/D N]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "B2"))},
	{"two layers", of("A[M*4/D K] B[F/D K] B2[K F/D] B3[F/D K] B4[K F/D] X[M*4/D K] C[M*4/D K]",
		s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Linear("H2", "X", "B3"), s.Linear("C", "H2", "B4"))},
	{"sum, gathered", of("A[M*4/D K] B[F/D K] B2[K F/D] X[M*4/D K] C[M K]",
		s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Copy("C", "X"))},
	{"behind attention", of("O[M N/D] Wo[K N/D] A[M*4/D K] B[F/D K] B2[K F/D] C[M*4/D K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Linear("H", "R", "B"), s.Linear("C", "H", "B2"))},
	{"behind attention R", of("O[M N/D] Wo[K N/D] A[M*4/D K] R[M*4/D K] B[F/D K] B2[K F/D] C[M*4/D K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Linear("H", "R", "B"), s.Linear("C", "H", "B2"))},
	{"call rows", of("A[M*4/D K] B[F/D K] C[M*4:D F/D] E[M*4/D F]", s.Linear("C", "A", "B"),
		s.CallRows("E", "Own", "mn->mn", "C"))},
	{"block norm", of("O[M N/D] Wo[K N/D] A[M*4/D K] V[K] R[M*4/D K] B[F/D K] U[F/D K] B2[K F/D] C[M*4/D K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V")), s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")), s.Linear("C", "H", "B2", s.Add("R")))},
	{"layer", of("A[M*4/D K] V[K] Wq[N/D K] Wo[K N/D] V2[K] R[M*4/D K] B[F/D K] U[F/D K] B2[K F/D] C[M*4/D K]",
		s.Copy("Y", "A", s.RMSNorm("V")), s.Linear("Q", "Y", "Wq"), s.Call("O", "Attn", "mn->mn", "Q"),
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V2")), s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")), s.Linear("C", "H", "B2", s.Add("R")))},
	{"fsdp", of("A[M*4/D K] V[K] B[F/D K] B2[K F/D] C[M*4/D K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B", s.GELU()), s.Linear("C", "H", "B2", s.Add("A"))).by("X", s.NCCL{})},
	{"weights travel", of("A[M*4/D K] B[F/D K] B2[K F/D] C[M*4/D K]",
		s.Linear("H", "A", "B", s.GELU()), s.Linear("C", "H", "B2", s.Add("A")))},
	{"cross", of("A[M*4/D K] Wq[N/D K] E[P*4/D K] Wk[N2/D K] Wo[K N/D] C[M*4/D K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A")))},
	{"cross other", of("A[M*4/D K] Wq[N/D K] E[P/D K] Wk[N2/D K] Wo[K N/D] C[M*4/D K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A")))},
	{"all columns", of("A[M*4/D K] B[F/D K] B2[N/D F] H[M*4:D F/D] C[M*4:D N/D]", s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"))},
	{"qkv", of("A[M*4/D K] V[K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M*4/D K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Q", "X", "Wq"), s.Linear("Kk", "X", "Wk"), s.Linear("Vv", "X", "Wv"),
		s.Call("O", "Attn", "mq,mk,mk->mq", "Q", "Kk", "Vv"),
		s.Linear("C", "O", "Wo", s.Add("A")))},
	{"parallel block", of("A[M*4/D K] V[K] Wq[N/D K] Wo[K N/D] B[F/D K] B2[K F/D] C[M*4/D K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Q", "X", "Wq"), s.Linear("H", "X", "B", s.GELU()), s.Call("O", "Attn", "mq->mq", "Q"),
		s.Linear("T", "O", "Wo"), s.Linear("C", "H", "B2", s.Add("T"), s.Add("A")))},
	{"backward mlp", of("Dy[M*4/D N] W[N F/D] H[M F/D] X[M*4/D K] W1[F/D K] Dw[N F/D] Dh[M F/D] Dx[M*4/D K]",
		s.Matmul("Dh", "Dy", "W"), s.Gradient("Dw", "Dy", "H"), s.Matmul("Dx", "Dh", "W1"))},
	{"ulysses", of("A[M*4/D K] W[N K] Q[M*4/D N] T[M N/D]", s.Linear("Q", "A", "W"), s.Copy("T", "Q"))},
	{"batched axis", of("A[4 M/D K] V[K] B[F/D K] B2[N F/D] C[4 M/D N]",
		s.Copy("X", "A", s.RMSNorm("V")), s.BatchedLinear("H", "X", "B"), s.BatchedLinear("C", "H", "B2"))},
	{"batched attention", of("A[4 M/D K] B[F/D K] B2[N F/D] C[4 M/D N]", s.BatchedLinear("H", "A", "B"),
		s.Call("O", "Own", "smn->smn", "H"), s.BatchedLinear("C", "O", "B2"))},
	{"kept", of("A[M*4/D K] V[K] B[F/D K] B2[N F/D] C[M*4/D N] E[M K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2"), s.Copy("E", "X"))},
	{"cross other, ways", of("A[M*4/D K] Wq[N/D K] E[P/D K] Wk[N2/D K] Wo[K N/D] C[M*4/D K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))).by("E", s.Push{}).by("A", s.Push{}).by("C", s.Shot{})},
	{"sum columns", of("A[M*4/D K] B[F/D K] B2[N F/D] C[M N/D]", s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"))},
	{"fsdp push", of("A[M*4/D K] W0[F/D K] H[M*4/D F] V[F] B[N/D F] B2[K N/D] C[M*4/D K]",
		s.Linear("H", "A", "W0"), s.Copy("X", "H", s.RMSNorm("V")), s.Linear("Y", "X", "B"), s.Linear("C", "Y", "B2")).by("W0", s.Push{})},
	{"fsdp nccl", of("A[M*4/D K] W0[F/D K] H[M*4/D F] V[F] B[N/D F] B2[K N/D] C[M*4/D K]",
		s.Linear("H", "A", "W0"), s.Copy("X", "H", s.RMSNorm("V")), s.Linear("Y", "X", "B"), s.Linear("C", "Y", "B2")).by("W0", s.NCCL{})},
	{"fsdp shot", of("A[M*4/D K] W0[F/D K] H[M*4/D F] V[F] B[N/D F] B2[K N/D] C[M*4/D K]",
		s.Linear("H", "A", "W0"), s.Copy("X", "H", s.RMSNorm("V")), s.Linear("Y", "X", "B"), s.Linear("C", "Y", "B2")).by("W0", s.GatherShot{})},
	{"to all res", of("A[M*4/D K] V[K] B[F/D K] B2[N F/D] R[M N] C[M N]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2", s.Add("R"))).by("C", s.TwoShot{})},
	{"to all res gathered", of("A[M*4/D K] V[K] B[F/D K] B2[K F/D] R[M K] C[M K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Copy("R", "A"), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2", s.Add("R"))).by("C", s.PushTwoShot{})},
	{"fp8", of("A[M*4/D K] V[K] B[F/D K] B2[N F/D] C[M*4/D N]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2"))},
	{"norm behind", of("A[M*4/D K] B[F/D K] B2[K F/D] V[K] X[M*4/D K] C[M*4/D K]", s.Linear("H", "A", "B"), s.Linear("X", "H", "B2", s.Add("A")), s.Copy("C", "X", s.RMSNorm("V")))},
	{"norm behind undeclared", of("A[M*4/D K] B[F/D K] B2[K F/D] V[K] C[M*4/D K]", s.Linear("H", "A", "B"), s.Linear("X", "H", "B2", s.Add("A")), s.Copy("C", "X", s.RMSNorm("V")))},
	{"norm behind undeclared, wq", of("A[M*4/D K] B[F/D K] B2[K F/D] V[K] Wq[N/D K] C[M*4:D N/D]", s.Linear("H", "A", "B"), s.Linear("R", "H", "B2", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V")), s.Linear("C", "X", "Wq"))},
	{"fsdp mixed", of("A[M*4/D K] W0[F/D K] H[M*4/D F] V[F] B[N/D F] B2[K N/D] C[M*4/D K]",
		s.Linear("H", "A", "W0"), s.Copy("X", "H", s.RMSNorm("V")), s.Linear("Y", "X", "B"), s.Linear("C", "Y", "B2"))},
	{"fsdp all", of("A[M*4/D K] W0[F/D K] H[M*4/D F] B[N/D F] C[M*4/D N]",
		s.Linear("H", "A", "W0"), s.Linear("C", "H", "B"))},
	{"columns for all", of("A[M*4/D K] B[F/D K] C[M F]", s.Linear("C", "A", "B"))},
	{"backward", of("Dy[M*4/D N] W[N F/D] H[M F/D] Dw[N F/D] Dh[M F/D] W1[F/D K] Dx[M*4/D K]",
		s.Matmul("Dh", "Dy", "W"), s.Gradient("Dw", "Dy", "H"), s.Matmul("Dx", "Dh", "W1"))},
	{"wgrad", of("Dy[M*4/D N] H[M F/D] Dw[N F/D]", s.Gradient("Dw", "Dy", "H"))},
	{"exchange", of("A[M*4/D N] C[M N/D]", s.Copy("C", "A"))},
	{"exchange back", of("A[M N/D] C[M*4/D N]", s.Copy("C", "A"))},
	{"exchanged", of("A[M*4/D K] W[N K] C[M N/D]", s.Linear("Q", "A", "W"), s.Copy("C", "Q"))},
	{"gather bare", of("A[M*4/D N] C[M N]", s.Copy("C", "A"))},
	{"sum bare", of("A[D|D M N] C[M*4/D N]", s.Sum("C", "A"))},
	{"to all two", of("A[M*4/D K] V[K] B[F/D K] B2[N F/D] R[M*4/D N] B3[F/D N] B4[N F/D] C[M N]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("R", "H", "B2"), s.Linear("Y", "R", "B3"), s.Linear("C", "Y", "B4"))},
	{"to all", of("A[M*4/D K] V[K] B[F/D K] B2[N F/D] C[M N]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2"))},
}

func TestScratch(t *testing.T) {
	for _, x := range scratch {
		if _, err := lower.Lower("X", x.f.Schedule); err != nil {
			t.Logf("%s: refused: %v", x.name, err)
		}
		b := lowering(lower.Lower).become(t, x.f.Schedule, []int{1, 2, 3, 4, 8}, true)
		if b.wrong != "" && len(b.wrong) > 300 {
			b.wrong = b.wrong[:300]
		}
		t.Logf("%s: %+v", x.name, b)
	}
}

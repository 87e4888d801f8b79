package served

import (
	"strings"
	"fmt"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
)

var gatedX = []s.Op{s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G"))}

// unevenLayers are layers whose rows are in parts of different sizes: by counts as written, and in balanced parts.
var unevenLayers = map[string]form{
	"a norm and products": of("A[M/D~ K] V[K] B[F/D K] B2[N F/D] C[M/D~ N]", s.Copy("X", "A", s.RMSNorm("V")),
		s.Linear("H", "X", "B", s.SiLU()), s.Linear("C", "H", "B2")),
	"products and a residual": of("A[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K]", s.Linear("H", "A", "B", s.SiLU()),
		s.Linear("C", "H", "B2", s.Add("A"))),
	"a norm, a gate and a residual": of("A[M/D~ K] V[K] B[F/D K] U[F/D K] B2[K F/D] C[M/D~ K]",
		s.Copy("X", "A", s.RMSNorm("V")), gatedX[0], gatedX[1], s.Linear("C", "H", "B2", s.Add("A"))),
	"two layers": of("A[M/D~ K] B[F/D K] B2[K F/D] B3[F/D K] B4[K F/D] X[M/D~ K] C[M/D~ K]",
		s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Linear("H2", "X", "B3"), s.Linear("C", "H2", "B4")),
	"a sum that is gathered": of("A[M/D~ K] B[F/D K] B2[K F/D] X[M/D~ K] C[M K]", s.Linear("H", "A", "B"),
		s.Linear("X", "H", "B2"), s.Copy("C", "X")),
	"a block behind attention": of("O[M N/D] Wo[K N/D] A[M/D~ K] R[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Linear("H", "R", "B"), s.Linear("C", "H", "B2", s.Add("R"))),
	"a block of a norm behind attention": of(
		"O[M N/D] Wo[K N/D] A[M/D~ K] V[K] R[M/D~ K] B[F/D K] U[F/D K] B2[K F/D] C[M/D~ K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V")), gatedX[0], gatedX[1],
		s.Linear("C", "H", "B2", s.Add("R"))),
	"attention": of("A[M/D~ K] B[F/D K] B2[N F/D] C[M/D~ N]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "B2")),
	"queries, keys and values": of("A[M/D~ K] V[K] Wq[N/D K] Wk[P/D K] Wv[P/D K] Wo[K N/D] C[M/D~ K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Q", "X", "Wq"), s.Linear("Keys", "X", "Wk"),
		s.Linear("Values", "X", "Wv"), s.Call("O", "Attention", "mq,nk,nv->mq", "Q", "Keys", "Values"),
		s.Linear("C", "O", "Wo", s.Add("A"))),
	"a parallel block": of("A[M/D~ K] V[K] Wq[N/D K] Wo[K N/D] B[F/D K] B2[K F/D] C[M/D~ K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Q", "X", "Wq"), s.Linear("H", "X", "B", s.GELU()),
		s.Call("O", "Attention", "mq->mq", "Q"), s.Linear("T", "O", "Wo"),
		s.Linear("C", "H", "B2", s.Add("T"), s.Add("A"))),
	"a parallel block without attention": of("A[M/D~ K] V[K] Wq[N/D K] Wo[K N/D] B[F/D K] B2[K F/D] C[M/D~ K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Q", "X", "Wq"), s.Linear("H", "X", "B", s.GELU()),
		s.Linear("T", "Q", "Wo"), s.Linear("C", "H", "B2", s.Add("T"), s.Add("A"))),
	"a layer": of("A[M/D~ K] V[K] Wq[N/D K] Wo[K N/D] V2[K] R[M/D~ K] B[F/D K] U[F/D K] B2[K F/D] C[M/D~ K]",
		s.Copy("Y", "A", s.RMSNorm("V")), s.Linear("Q", "Y", "Wq"), s.Call("O", "Attention", "mn->mn", "Q"),
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V2")), gatedX[0], gatedX[1],
		s.Linear("C", "H", "B2", s.Add("R"))),
	"own rows' calls": dataParallel,
	"a call of own rows behind a sum": of("A[M K/D] B[K K/D] T[M/D~ N] X[M/D~ K] C[M/D~ K]",
		s.Linear("X", "A", "B"), s.CallRows("C", "Own", "mk,mn->mk", "X", "T")),
	"a call for summands": of("A[M K/D] B[N K/D] P[M/D~ N]", ownProduct),
	"a call for summands behind rows": of("A[M/D~ K] B[F/D K] B2[N F/D] C[M/D~ N]", s.Linear("H", "A", "B", s.SiLU()),
		s.CallPartial("C", "Down", "mf,nf->mn", "H", "B2")),
	"a gradient beside": of("A[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K] Dy[P N] X[P W] Dw[N W]",
		s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"), s.Gradient("Dw", "Dy", "X")),
	"cross attention": of("A[M/D~ K] Wq[N/D K] E[P/D K] Wk[N2/D K] Wo[K N/D] C[M/D~ K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))),
	"cross attention to uneven rows": of("A[P/D K] Wq[N/D K] E[M/D~ K] Wk[N2/D K] Wo[K N/D] C[P/D K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "pq,mk->pq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))),
	"two tensors of rows": of("A[M/D~ K] Wq[N/D K] E[M/D~ K] Wk[N2/D K] Wo[K N/D] C[M/D~ K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,mk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))),
	"a gradient of own rows": of("A[M/D~ N] B[M/D~ K] C[N K]", s.Gradient("C", "A", "B")),
	"a gradient of own rows, spread": of("A[M/D~ N] B[M/D~ K] C[N/D K]", s.Gradient("C", "A", "B")),
	"a gradient of rows that come": of("A[M/D~ N] B[M K/D] C[N K/D]", s.Gradient("C", "A", "B")),
	"a backward pass": of("Dy[M/D~ N] W[N F/D] H[M F/D] Dw[N F/D] Dh[M F/D] W1[F/D K] Dx[M/D~ K]",
		s.Matmul("Dh", "Dy", "W"), s.Gradient("Dw", "Dy", "H"), s.Matmul("Dx", "Dh", "W1")),
	"a call of own rows that nothing declares": of("A[M/D~ K] B[N/D K] C[M N/D]", s.CallRows("Q", "Own", "mk->mk", "A"),
		s.Linear("C", "Q", "B")),
	"a call of own rows, a product and a sum": of("A[M/D~ K] B[N/D K] B2[K N/D] C[M/D~ K] Q[M/D~ K]",
		s.CallRows("Q", "Own", "mk->mk", "A"),
		s.Linear("H", "Q", "B"), s.Linear("C", "H", "B2")),
	"a call of own rows, by a kernel": of("A[M/D~ K] O[M/D~ K] C[M K]", s.CallRows("O", "Own", "mk->mk", "A").By(s.Kernel{
		File: "own.cu", Name: "own", Blocks: "M"}), s.Copy("C", "O")),
	"a norm behind": of("A[M/D~ K] B[F/D K] B2[K F/D] V[K] X[M/D~ K] C[M/D~ K]", s.Linear("H", "A", "B"),
		s.Linear("X", "H", "B2", s.Add("A")), s.Copy("C", "X", s.RMSNorm("V"))),
	"a norm behind that goes on": of("A[M/D~ K] B[F/D K] B2[K F/D] V[K] Wq[N/D K] X[M/D~ K] C[M N/D]", s.Linear("H", "A", "B"),
		s.Linear("X", "H", "B2", s.Add("A")), s.Copy("Y", "X", s.RMSNorm("V")), s.Linear("C", "Y", "Wq")),
	"columns": of("A[M/D~ K] V[K] B[F/D K] C[M F/D]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("C", "X", "B")),
	"columns for all": of("A[M/D~ K] B[F/D K] C[M F]", s.Linear("C", "A", "B")),
	"weights that come": of("A[M/D~ K] B[F/D K] C[M/D~ F]", s.Linear("C", "A", "B")),
	"products that stay": of("A[M/D~ K] B[F K] C[M/D~ F]", s.Linear("C", "A", "B")),
	"a sum for all": of("A[M/D~ K] B[F/D K] B2[N F/D] C[M N]", s.Linear("H", "A", "B"), s.Linear("C", "H", "B2")),
	"an exchange": of("A[M/D~ N] C[M N/D]", s.Copy("C", "A")),
	"an exchange back": of("A[M N/D] C[M/D~ N]", s.Copy("C", "A")),
	"codes that come to a layer": of("A[M/D~ K] Q[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("H", "Q", "B", s.SiLU()), s.Linear("C", "H", "B2")).eight(true, "Q", "B"),
	"codes within": of("A[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K]", s.Linear("H", "A", "B", s.SiLU()), s.Linear("C", "H", "B2", s.Add("A"))).within("C", "A"),
	"all rows, for a call": of("A[M/D~ K] X[M K] O[M K]", s.Copy("X", "A"), s.Call("O", "Attention", "mk->mk", "X")),
	"padded, for a call": padded(of("A[M/D~P K] B[F/D K] B2[N F/D] C[M/D~P N]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "B2")), "A"),
	"padded, for a last call": padded(of("A[M/D~P K] B[F/D K] O[M F/D]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H")), "A"),
	"balanced rows of a memory": balanced(of("A[M/D K] Wq[N/D K] E[P/D K] Wk[N2/D K] Wo[K N/D] C[M/D K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))), "E"),
	"balanced rows of both": balanced(balanced(balanced(of("A[M/D K] Wq[N/D K] E[P/D K] Wk[N2/D K] Wo[K N/D] C[M/D K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))), "E"), "A"), "C"),
	"balanced and counted rows": balanced(of("A[M/D~ K] Wq[N/D K] E[P/D K] Wk[N2/D K] Wo[K N/D] C[M/D~ K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))), "E"),
	"balanced constants": balanced(balanced(of("A[13/D K] B[F/D K] B2[K F/D] C[13/D K]", s.Linear("H", "A", "B", s.SiLU()),
		s.Linear("C", "H", "B2", s.Add("A"))), "A"), "C"),
	"balanced constants, a norm": balanced(balanced(of("A[13/D K] V[K] B[F/D K] B2[K F/D] C[13/D K]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B", s.SiLU()),
		s.Linear("C", "H", "B2", s.Add("A"))), "A"), "C"),
	"a bound, for a call": of("A[M/D~P K] B[F/D K] B2[N F/D] C[M/D~P N]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "B2")),
	"a kernel of all rows": of("A[M/D~ K] B[F/D K] B2[N F/D] C[M/D~ N]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H").By(s.Kernel{File: "own.cu", Name: "own", Blocks: "M"}), s.Linear("C", "O", "B2")),
	"cross attention of two": of("A[M/D~ K] Wq[N/D K] E[P/D~ K] Wk[N2/D K] Wo[K N/D] C[M/D~ K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))),
	"slots in parts": of("A[M/D~ K] B[F/D K] B2[K F/D] B3[F/D K] B4[K F/D] X[M/D~ K] C[M/D~ K]",
		s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Linear("H2", "X", "B3"), s.Linear("C", "H2", "B4")).by("X", s.Slots{Parts: 2}),
	"eight-bit weights": of("A[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K]", s.Linear("H", "A", "B", s.SiLU()),
		s.Linear("C", "H", "B2")).eight(true, "B", "B2"),
	"constants": of("A[48/D~ K] B[F/D K] B2[K F/D] C[48/D~ K]", s.Linear("H", "A", "B", s.SiLU()),
		s.Linear("C", "H", "B2", s.Add("A"))),
	"a backward pass of others": of("A[M/D~ K] B[F/D K] H[M F/D] T[M N] Dw[N F/D]", s.Linear("H", "A", "B"), s.Gradient("Dw", "T", "H")),
	"an exchange within": of("A[D/D~ D M] C[D D/D~ M] E[D/D~ D M]", s.Copy("C", "A"), s.Copy("E", "C", s.GELU())).within("E", "A"),
	"gathered within": of("A[M/D~ K] B[N/D K] C[M N/D] All[M K]", s.Linear("C", "A", "B"), s.Copy("All", "A")).within("A", "All"),
	"rotary rows": of("A[M/D~ K] V[K] Wq[N/D K] T[M W] Wo[K N/D] C[M/D~ K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Q", "X", "Wq", s.Rotary("T")), s.Call("O", "Attention", "mq->mq", "Q"),
		s.Linear("C", "O", "Wo", s.Add("A"))),
	"numbers of rows": of("A[M/D~ K] S[M/D~] B[F/D K] B2[K F/D] C[M/D~ K]",
		s.Copy("X", "A", s.Func{Is: s.Times(s.X, s.Column("S"))}), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2")),
	"sums of codes": quantisedProduct("C[M/D~ N]"),
}

func TestUnevenScratch(t *testing.T) {
	for name, x := range unevenLayers {
		for _, f := range []form{x, x.inBalance()} {
			kind := "counted "
			if strings.Contains(fmt.Sprint(f.Schedule), "Balanced:true") || strings.Contains(fmt.Sprintf("%#v",f.Schedule), "Balanced:true") {
				kind = "balanced"
			}
			if _, err := lower.Lower("X", f.Schedule); err != nil {
				t.Logf("%s %-40s REFUSED: %v", kind, name, err)
				continue
			}
			b := lowering(lower.Lower).become(t, f.Schedule, []int{1, 2, 3, 4, 8}, true)
			if len(b.wrong) > 400 {
				b.wrong = b.wrong[:400]
			}
			t.Logf("%s %-40s proven %v explored %v %s", kind, name, b.proven, b.explored, b.wrong)
		}
	}
}


package served

import (
	"testing"

	s "ovgen/schedule"
)

// chains are operations in a row, declared by math and placements alone.
var chains = []declared{
	{"sequence-parallel block", "the projection behind attention and an MLP, two sums and a gather", of(
		"O[M K/D] Wo[N K/D] R[M/D N] W1[F/D N] W2[N F/D] C[M/D N]", s.Linear("X", "O", "Wo", s.Add("R")),
		s.Linear("H", "X", "W1", s.GELU()), s.Linear("C", "H", "W2", s.Add("X"))), served},
	{"tensor-parallel block", "the same of all rows on every rank, two all-reduces", of(
		"O[M K/D] Wo[N K/D] R[M N] W1[F/D N] W2[N F/D] C[M N]", s.Linear("X", "O", "Wo", s.Add("R")),
		s.Linear("H", "X", "W1", s.GELU()), s.Linear("C", "H", "W2", s.Add("X"))), served},
	{"at decoding", "the same by one kernel a sum", of(
		"O[M K/D] Wo[N K/D] R[M N] W1[F/D N] W2[N F/D] X[M N] C[M N]", s.Linear("X", "O", "Wo", s.Add("R")),
		s.Linear("H", "X", "W1", s.GELU()), s.Linear("C", "H", "W2", s.Add("X"))).
		by("X", s.Shot{}).by("C", s.Shot{Signals: s.MemOps}), served},
	{"a sum that the caller gets", "and the next layer's gather of it", of(
		"O[M K/D] Wo[N K/D] R[M/D N] X[M/D N] Wq[F/D N] Q[M:D F/D]", s.Linear("X", "O", "Wo", s.Add("R")),
		s.Linear("Q", "X", "Wq")), served},
	{"a block of Llama", "a residual, a norm, a gather, gate and up, and another sum", of(
		"O[M K/D] Wo[N K/D] R[M/D N] Norm[N] Wg[F/D N] Wu[F/D N] Wd[N F/D] X[M/D N] C[M/D N]",
		s.Linear("X", "O", "Wo", s.Add("R")), s.Copy("Y", "X", s.RMSNorm("Norm")), s.Linear("U", "Y", "Wu"),
		s.Linear("G", "Y", "Wg", s.SwiGLU("U")), s.Linear("C", "G", "Wd", s.Add("X"))), served},
	{"a block of Llama, at decoding", "all rows on every rank", of(
		"O[M K/D] Wo[N K/D] R[M N] Norm[N] Wg[F/D N] Wu[F/D N] Wd[N F/D] X[M N] C[M N]",
		s.Linear("X", "O", "Wo", s.Add("R")), s.Copy("Y", "X", s.RMSNorm("Norm")), s.Linear("U", "Y", "Wu"),
		s.Linear("G", "Y", "Wg", s.SwiGLU("U")), s.Linear("C", "G", "Wd", s.Add("X"))).
		by("X", s.Shot{}).by("C", s.Shot{}), served},
	{"the same by packets", "each sum adds what is added to it", of(
		"O[M K/D] Wo[N K/D] R[M N] Norm[N] Wg[F/D N] Wu[F/D N] Wd[N F/D] X[M N] C[M N]",
		s.Linear("X", "O", "Wo", s.Add("R")), s.Copy("Y", "X", s.RMSNorm("Norm")), s.Linear("U", "Y", "Wu"),
		s.Linear("G", "Y", "Wg", s.SwiGLU("U")), s.Linear("C", "G", "Wd", s.Add("X"))).
		by("X", s.PushShot{}).by("C", s.PushShot{Words: true}), served},
	{"a sum by packets that is gathered as it is", "the gather has its default way", of(
		"O[M K/D] Wo[N K/D] R[M/D N] X[M/D N] Wq[F/D N] Q[M:D F/D]", s.Linear("X", "O", "Wo", s.Add("R")),
		s.Linear("Q", "X", "Wq")).by("X", s.PushShot{}), served},
	{"a gather by packets of a sum", "the sum has its default way", of(
		"O[M K/D] Wo[N K/D] R[M/D N] X[M/D N] Wq[F/D N] Q[M:D F/D]", s.Linear("X", "O", "Wo", s.Add("R")),
		s.Linear("Q", "X", "Wq")).by("X", s.PushGather{}), served},
	{"one product, its residual and packets", "no chain", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"))).by("C", s.PushShot{}), served},
	{"the same with a bias", "each block has it all", of("A[M K/D] B[N K/D] Bias[N] C[M/D N]",
		s.Linear("C", "A", "B", s.Bias("Bias"))).by("C", s.PushShot{}), served},
	{"a norm of columns", "a rank has some of each row", of(
		"A[M K/D] Norm[K] B[N K/D] C[M/D N]", s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("C", "X", "B")),
		at("Ops[0].Then[0]", "each rank has a part of each row of X, and")},
	{"what is added lies elsewhere", "its rows are whole", of(
		"O[M K/D] Wo[N K/D] R[M N] W1[F/D N] W2[N F/D] C[M/D N]", s.Linear("X", "O", "Wo", s.Add("R")),
		s.Linear("H", "X", "W1", s.GELU()), s.Linear("C", "H", "W2", s.Add("X"))),
		at("Tensors[5]", "C is [DIDx(D), M/D, N], and the operations leave it otherwise")},
	{"a weight along the wrong axis", "what is summed over is whole", of(
		"A[M/D K] W1[F K] W2[N F/D] C[M/D N]", s.Linear("H", "A", "W1"), s.Linear("C", "H", "W2")),
		at("Tensors", "W2 is spread along what is summed over, and H is whole there")},
}

// TestChains holds each chain against its verdict. Those that are served can be replayed as graphs.
func TestChains(t *testing.T) {
	for i := range chains {
		d := &chains[i]
		r, err := d.holds(t)
		if err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
		if r != nil && !r.Replay() {
			t.Errorf("%s: %s", d.id, r)
		}
	}
}

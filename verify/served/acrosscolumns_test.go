package served

import (
	"testing"

	s "ovgen/schedule"
)

// columnsOverHosts are schedules whose columns travel between ranks of several hosts.
var columnsOverHosts = []declared{
	{"CH01", "columns alone", moved("A[M N/D] C[M N]").onHosts(), served},
	{"CH02", "logits", linear("A[M K] B[N/D K] C[M N]").onHosts(), served},
	{"CH03", "logits of rows that travel", linear("A[M/D K] B[N/D K] C[M N]").onHosts(), served},
	{"CH04", "two whole results of columns", linear("A[M K] B[N/D K] B2[N2/D K] C[M N] C2[M N2]").onHosts(), served},
	{"CH05", "logits behind a norm, with a bias", of("A[M/D K] Norm[K] B[N/D K] Bias[N/D] C[M N]",
		s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("C", "X", "B", s.Bias("Bias"))).onHosts(), served},
	{"CH06", "a norm of logits, as a copy", of("A[M K] B[N/D K] Norm[N] C[M N]", s.Linear("P", "A", "B"),
		s.Copy("C", "P", s.RMSNorm("Norm"))).onHosts(), served},
	{"CH07", "a gather along K, with a bias", linear("A[M K/D] B[N K] Bias[N] C[M N]").onHosts(), served},
	{"CH08", "a weight along K", linear("A[M K] B[N K/D] C[M N]").onHosts(), served},
	{"CH09", "a weight along K, and rows of each rank", linear("A[M/D K] B[N K/D] Bias[N] C[M/D N]").onHosts(), served},
	{"CH20", "sums to columns", linear("A[M K/D] B[N K/D] C[M N/D]").onHosts(), served},
	{"CH21", "sums to columns behind another product", of("A[M/D K] B[F/D K] B2[N F/D] C[M N/D]",
		s.Linear("H", "A", "B", s.GELU()), s.Linear("C", "H", "B2")).onHosts(), served},
	{"CH23", "codes along K", linear("A[M K/D] B[N K/D] C[M N/D]").eight(true, "A", "B").onHosts(), served},
	{"CH24", "two layers of weights along their outputs", of("A[M K] B[F/D K] B2[N/D F] H[M F] C[M N]",
		s.Linear("H", "A", "B", s.GELU()), s.Linear("C", "H", "B2")).onHosts(), served},
	{"CH25", "logits of two chains", of("A[M/D K] B[N/D K] C[M N] E[P/D F] B2[N2/D F] C2[P N2]",
		s.Linear("C", "A", "B"), s.Linear("C2", "E", "B2")).onHosts(), served},
	{"CH26", "sums to columns of two chains", of("A[M K/D] B[N K/D] C[M N/D] E[P F/D] B2[N2 F/D] C2[P N2/D]",
		s.Linear("C", "A", "B"), s.Linear("C2", "E", "B2")).onHosts(), served},
	{"CH27", "sums to columns, with a bias", linear("A[M K/D] B[N K/D] Bias[N/D] C[M N/D]").onHosts(), served},
	{"CH28", "sums to columns that all get again", of("A[M K/D] B[N K/D] H[M N/D] C[M N]", s.Linear("H", "A", "B"),
		s.Copy("C", "H")).onHosts(), served},
	{"CH30", "logits of a matmul", matmul("A[M K] B[K N/D] C[M N]").onHosts(), served},
	{"CH31", "logits of codes", linear("A[M/D K] B[N/D K] C[M N]").eight(true, "A", "B").onHosts(), served},
	{"CH33", "sums to columns in fp32", linear("A[M K/D] B[N K/D] C[M N/D]").in32("C").onHosts(), served},
	{"CH35", "logits behind an MLP", of("A[M/D K] B[F/D K] B2[K F/D] V[K] W[N/D K] X[M/D K] C[M N]",
		s.Linear("H", "A", "B", s.GELU()), s.Linear("X", "H", "B2", s.Add("A"), s.RMSNorm("V")),
		s.Linear("C", "X", "W")).onHosts(), served},
	{"CH40", "parts of columns", moved("A[M N/D] C[M N]").by("A", s.Rails{Parts: 2}).onHosts(),
		at("Moves[0].Way.Parts", "a step moves all of a rank's columns of A")},
	{"CH41", "parts of sums to columns", linear("A[M K/D] B[N K/D] C[M N/D]").by("C", s.Rails{Parts: 2}).onHosts(),
		at("Moves[0].Way.Parts", "a step moves all of a rank's columns of C")},
	{"CH42", "rows that go to columns", moved("A[M/D N] C[M N/D]").onHosts(),
		at("Mesh", "hosts exchange what goes to all ranks, and sums")},
}

// TestColumnsOverHosts holds each against its verdict.
func TestColumnsOverHosts(t *testing.T) {
	explored(t, "ColumnsOverHosts", columnsOverHosts)
}

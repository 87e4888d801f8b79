package served

import (
	"testing"

	s "ovgen/schedule"
)

// functions are functions where no product is ahead of them, and rows that are normed.
var functions = []declared{
	{"gelu by a kernel", "of rows that a sum has made, ahead of a gather", of(
		"A[M K/D] B[N K/D] W[F/D N] C[M:D F/D]", s.Linear("R", "A", "B"), s.Copy("X", "R", s.GELU()),
		s.Linear("C", "X", "W")), served},
	{"relu by a kernel", "of the caller's rows", of("A[M/D K] W[F/D K] C[M:D F/D]", s.Copy("X", "A", s.ReLU()),
		s.Linear("C", "X", "W")), served},
	{"a block of GPT, behind attention", "a norm about the mean of the sum, ahead of the gather", of(
		"O[M K/D] Wo[N K/D] R[M/D N] Weight[N] Offset[N] W1[F/D N] B1[F/D] W2[N F/D] B2[N] C[M/D N]",
		s.Linear("X", "O", "Wo", s.Add("R")), s.Copy("Y", "X", s.LayerNorm("Weight", "Offset")),
		s.Linear("H", "Y", "W1", s.Bias("B1"), s.GELU()), s.Linear("C", "H", "W2", s.Bias("B2"), s.Add("X"))), served},
	{"an epsilon", "of a model that has another than Llama 3's", of("A[M/D K] W[K] V[K] B[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.LayerNorm("W", "V").WithEpsilon(1e-6)), s.Linear("C", "X", "B")), served},
	{"an epsilon of gelu", "only norms add one", of("A[M/D K] B[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.GELU().WithEpsilon(1e-6)), s.Linear("C", "X", "B")),
		at("Ops[0].Then[0].Epsilon", "only norms add an epsilon, and gelu is none")},
	{"an epsilon below zero", "a root of it is none", of("A[M/D K] W[K] B[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.RMSNorm("W").WithEpsilon(-1e-6)), s.Linear("C", "X", "B")),
		at("Ops[0].Then[0].Epsilon", "no norm adds -1e-06 to the mean of squares")},
	{"a norm about the mean of columns", "a rank has some of each row", of("A[M K/D] W[K] V[K] B[N K/D] C[M/D N]",
		s.Copy("X", "A", s.LayerNorm("W", "V")), s.Linear("C", "X", "B")),
		at("Ops[0].Then[0]", "each rank has a part of each row of X, and")},
	{"a norm about the mean without an offset", "it has two operands", of("A[M/D K] W[K] B[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.LayerNorm("W", "")), s.Linear("C", "X", "B")),
		at("Ops[0].Then[0].Is.Of[1].Tensor", "an operand without a name")},
	{"rotary embedding", "of queries, behind their bias, and of keys, ahead of attention", rotary("M", "128"), served},
	{"rotary embedding of own rows", "by a copy of them", of("A[M/D K] T[M/D 64] W[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.Rotary("T")), s.Linear("C", "X", "W")), served},
	{"angles of other rows", "each row has its own", rotary("N", "128"),
		at("Tensors[6].Axes[0].Extent", `extent "N" where A has "M"`)},
	{"heads of two widths", "a launch says how wide they are", of(
		"A[M/D K] T[M 64] U[M 32] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M/D K]",
		append([]s.Op{s.Linear("Q", "A", "Wq", s.Rotary("T")), s.Linear("Key", "A", "Wk", s.Rotary("U"))},
			projected[2:]...)...), served},
	{"heads of an odd width", "no column has a partner", rotary("M", "127"),
		at("Ops[0].Then[1].Is.Of[0].Of[1].Tensor", "the width of a head is a number, even where pairs are turned")},
	{"heads of any width", "a launch says it", rotary("M", "W"), served},
	{"heads as wide as something else", "it has a name of its own", rotary("M", "F"),
		at("Ops[0].Then[1].Is.Of[0].Of[1].Tensor", `and T has "F" columns`)},
	{"a function of a result that the caller gets", "the product's is overwritten where it is", of(
		"A[M/D K] W[N/D K] C[M:D N/D]", s.Linear("C", "A", "W", s.SiLU())), served},
	{"a gate that the caller gets", "and what it is multiplied by", of(
		"A[M/D K] W[F/D K] V[F/D K] U[M:D F/D] C[M:D F/D]", s.Linear("U", "A", "V"),
		s.Linear("C", "A", "W", s.SwiGLU("U"))), served},
	{"heads that the caller gets", "turned in place", of("A[M/D K] T[M W] B[N/D K] C[M:D N/D]",
		s.Linear("C", "A", "B", s.Rotary("T"))), served},
	{"a rotary embedding of a sum", "of own rows, by those of the table", of(
		"A[M K/D] T[M/D 64] W[N K/D] V[N2/D N] C[M:D N2/D]",
		s.Linear("H", "A", "W", s.Rotary("T")), s.Linear("C", "H", "V")), served},
	{"a function behind a rotary embedding", "one kernel makes both", of("A[M/D K] T[M/D 64] W[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.Rotary("T"), s.SiLU()), s.Linear("C", "X", "W")), served},
	{"gelu once more", "of what it made", of("A[M/D K] W[F/D K] C[M:D F/D]",
		s.Copy("X", "A", s.GELU(), s.GELU()), s.Linear("C", "X", "W")), served},
}

// rotary is attention whose queries and keys are turned by a table.
func rotary(rows, width string) form {
	return of("A[M/D K] Wq[N/D K] Bq[N/D] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] T["+rows+" "+width+"] C[M/D K]",
		s.Linear("Q", "A", "Wq", s.Bias("Bq"), s.Rotary("T")), s.Linear("Key", "A", "Wk", s.Rotary("T")),
		s.Linear("V", "A", "Wv"), attention, s.Linear("C", "O", "Wo", s.Add("A")))
}

// TestFunctions holds each against its verdict.
func TestFunctions(t *testing.T) {
	for i := range functions {
		d := &functions[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
	}
}

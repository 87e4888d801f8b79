package served

import (
	"slices"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

// placedBehind are functions behind columns that are summed, sums of uneven parts, exchanges of three axes and batches
// that travel: several results are kept, in any type, within an operand or beside it, and operations go on from them.
var placedBehind = map[string]form{
	"columns that are summed, kept": of("A[M K/D] W[N K/D] H[M N/D] C[M N/D]",
		s.Linear("C", "A", "W", s.Scale(.5), s.GELU()).Keeping("H", 1)),
	"columns that are summed, in fp32": of("A[M K/D] W[N K/D] C[M N/D]",
		s.Linear("C", "A", "W", s.Scale(.5))).in32("C"),
	"columns that are summed, in eight bits": of("A[M K/D] W[N K/D] C[M N/D]",
		s.Linear("C", "A", "W", s.Scale(.5), s.Quantise())).inParts("C"),
	"columns that are summed, heads, and partial results": of("A[M K/D] W[N K/D] Q[64] H[M N/D] W2[P N/D] C[M/D P]",
		s.Linear("H", "A", "W", s.RMSNorm("Q").PerHead("64")), s.Linear("C", "H", "W2")),
	"columns that are summed, and sums of such columns": of("A[M K/D] W[F K/D] H[M F/D] W2[N F/D] C[M N/D]",
		s.Linear("H", "A", "W", s.GELU()), s.Linear("C", "H", "W2", s.Scale(2))),
	"columns that are summed, and an exchange for rows": of("A[M K/D] W[N K/D] H[M N/D] V[N] C[M/D N]",
		s.Linear("H", "A", "W", s.GELU()), s.Copy("C", "H", s.RMSNorm("V"))),
	"columns that are summed, a call, and partial results": of(
		"A[M K/D] W[N K/D] H[M N/D] O[M N/D] W2[P N/D] C[M/D P]", s.Linear("H", "A", "W", s.GELU()),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "W2")),
	"a product before columns that are summed": of("A[M/D K] W[F/D K] W2[N F/D] R[M N/D] C[M N/D]",
		s.Linear("H", "A", "W", s.GELU()), s.Linear("C", "H", "W2", s.Add("R"), s.Scale(.5))),
	"two products whose columns are summed at once": of("A[M K/D] W[N K/D] A2[M P/D] W2[N P/D] C[M N/D]",
		s.Linear("X", "A", "W"), s.Linear("C", "A2", "W2", s.Add("X"), s.Scale(2))),
	"columns that are summed, where a residual was": of("A[M K/D] W[N K/D] R[M N/D] C[M N/D]",
		s.Linear("C", "A", "W", s.Add("R"), s.Scale(2))).within("C", "R"),
	"columns that are summed, round a ring": of("A[M K/D] W[N K/D] H[M N/D] W2[P N/D] C[M/D P]",
		s.Linear("H", "A", "W", s.GELU()), s.Linear("C", "H", "W2")).by("H", s.RingSum{}),

	"a sum by counts, a residual and a norm": of("A[D/D M N] R[M/D~ N] H[M/D~ N] V[N] C[M/D~ N]",
		s.Sum("C", "A", s.Add("R"), s.RMSNorm("V")).Keeping("H", 1)),
	"a sum by counts, a norm and a gather": of("A[D/D M N] V[N] H[M/D~ N] C[M N]", s.Sum("H", "A", s.RMSNorm("V")),
		s.Copy("C", "H")),
	"a sum by counts, in fp32": of("A[D/D M N] V[N] C[M/D~ N]", s.Sum("C", "A", s.RMSNorm("V"))).in32("C"),
	"a product's sum by counts, kept": of("A[M K/D] B[N K/D] R[M/D~ N] H[M/D~ N] V[N] C[M/D~ N]",
		s.Linear("C", "A", "B", s.Add("R"), s.RMSNorm("V")).Keeping("H", 1)),
	"a balanced sum, kept": balanced(balanced(of("A[M K/D] B[N K/D] H[M/D N] V[N] C[M/D N]",
		s.Linear("C", "A", "B", s.RMSNorm("V")).Keeping("H", 0)), "C"), "H"),
	"a balanced sum, a norm and a gather": balanced(of("A[M K/D] B[N K/D] V[N] C[M/D N] E[M N]",
		s.Linear("C", "A", "B", s.RMSNorm("V")), s.Copy("E", "C")), "C"),
	"products of balanced rows, kept": balanced(of("A[M/D K] W[N K] H[M N] C[M N]",
		s.Linear("C", "A", "W", s.Scale(.5)).Keeping("H", 0)), "A"),
	"products of balanced rows, a norm and products": balanced(of("A[M/D K] W[N K] V[N] W2[P N] C[M P]",
		s.Linear("H", "A", "W", s.RMSNorm("V")), s.Linear("C", "H", "W2")), "A"),

	"an exchange of three axes, kept": of("A[D/D D M] H[D D/D M] C[D D/D M]",
		s.Copy("C", "A", s.Scale(.5), s.Softmax()).Keeping("H", 1)),
	"an exchange of three axes, in fp32": of("A[D/D D M] C[D D/D M]", s.Copy("C", "A", s.Softmax())).in32("C"),
	"an exchange of three axes, there and back": of("A[D/D D M] X[D D/D M] C[D/D D M]",
		s.Copy("H", "A", s.GELU()), s.Copy("X", "H", s.Scale(3)), s.Copy("C", "X", s.Softmax())),
	"functions before an exchange of three axes": of("A[D/D D M] C[D D/D M]", s.Copy("H", "A", s.Softmax()),
		s.Copy("C", "H")),
	"an exchange of three axes, of what an operand is made": of("A[D/D D M] R[D D/D M] H[D D/D M] C[D D/D M]",
		s.Copy("X", "R", s.GELU()), s.Copy("C", "A", s.Scale(.5), s.Add("X")).Keeping("H", 1)),
	"an exchange by counts, there and back": of("A[D/D~ D M] C[D D/D~ M] R[D/D~ D M] E[D/D~ D M]",
		s.Copy("C", "A", s.GELU()), s.Copy("E", "C", s.Scale(2), s.Add("R"))),
	"an exchange of three axes, with numbers of rows": of("A[D/D D M] S[D D/D] V[M] C[D D/D M]",
		s.Copy("C", "A", s.Func{Is: s.Times(s.X, s.Column("S"), s.Row("V"))})),
	"an exchange of three axes, where an operand was": of("A[D/D D M] R[D D/D M] C[D D/D M]",
		s.Copy("C", "A", s.Add("R"), s.Scale(2))).within("C", "R"),
	"an exchange of three axes, beside a product": of("A[D/D D M] E[D D/D M] X[P/D K] B[N/D K] C[P:D N/D]",
		s.Copy("E", "A", s.GELU()), s.Linear("C", "X", "B")),

	"batches that come, kept": of("A[4 M/D K] W[N K] R[4 M:D N] H[4 M:D N] E[4 M:D N] V[N] C[4 M:D N]",
		s.BatchedLinear("C", "A", "W", s.RMSNorm("V"), s.Add("R"), s.Scale(.5)).Keeping("H", 1),
		s.Copy("E", "H", s.GELU())),
	"batches that come, a residual of all rows": of("A[4 M/D K] W[N K] R[4 M N] S[4 M] C[4 M:D N]",
		s.BatchedLinear("C", "A", "W", s.Add("R"), s.Func{Is: s.Times(s.X, s.Column("S"))})),
	"batches that come, and a gate of another product": of("A[4 M/D K] W[N K] W2[N K] C[4 M:D N] E[4 M:D N]",
		s.BatchedLinear("C", "A", "W", s.Scale(.5)), s.BatchedLinear("E", "A", "W2", s.SwiGLU("C"))),
	"batches that are summed, a residual and a norm": of("A[4 M K/D] W[N K/D] R[4 M/D N] H[4 M/D N] V[N] C[4 M/D N]",
		s.BatchedLinear("C", "A", "W", s.Add("R"), s.RMSNorm("V")).Keeping("H", 1)),
	"batches that are summed, in fp32": of("A[4 M K/D] W[N K/D] S[4 M/D] C[4 M/D N]",
		s.BatchedLinear("C", "A", "W", s.Func{Is: s.Times(s.X, s.Column("S"))})).in32("C"),
	"batches of two products, a residual, a norm and a product": of(
		"A[4 M/D K] W[N/D K] V[K] W2[K N/D] H[4 M/D K] W3[F K] C[4 M/D F]", s.BatchedLinear("X", "A", "W", s.GELU()),
		s.BatchedLinear("H", "X", "W2", s.Add("A"), s.RMSNorm("V")), s.BatchedLinear("C", "H", "W3")),
}

// placedShown are run in packages of their names by TestAcceptedAreGreen.
var placedShown = map[string]form{
	"ColumnsSummedHeads": placedBehind["columns that are summed, heads, and partial results"],
	"CountedKept":        placedBehind["a sum by counts, a residual and a norm"],
	"ExchangedBack":      placedBehind["an exchange of three axes, there and back"],
	"BatchesKept":        placedBehind["batches of two products, a residual, a norm and a product"],
}

// TestPlaced: both checkers agree on each.
func TestPlaced(t *testing.T) {
	for name, f := range placedBehind {
		isCrossed(t, name, f.Schedule, 1, 2, 3, 4, 8)
	}
}

// TestPlacedInOrder: the last functions, made ahead of all else, are refused by both.
func TestPlacedInOrder(t *testing.T) {
	tried := 0
	for name, f := range placedBehind {
		if strings.HasPrefix(name, "functions before") {
			continue
		}
		x, err := lower.Lower("Early", f.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		i := len(x.Body) - 1
		for ; i > 0 && !applies(x.Body[i]); i-- {
		}
		if i == 0 {
			continue // they are made as it comes
		}
		tried++
		x.Body = append([]hostir.Node{x.Body[i]}, slices.Delete(slices.Clone(x.Body), i, i+1)...)
		if _, err := prove.Schedule(t.Context(), x, prove.Options{Ranks: []int{2}}); err == nil {
			t.Errorf("%s: proven", name)
		}
		if _, err := explore.Small(x, []int{2}, true); err == nil {
			t.Errorf("%s: explored without a mistake", name)
		}
	}
	if tried < 20 {
		t.Errorf("%d programs were tried of %d chains", tried, len(placedBehind))
	}
}

// notPlaced are refused, with the field and what to do.
var notPlaced = []declared{
	{"columns of a matmul", "they lie apart in the weight", of("A[M K/D] W[K/D N] H[M N/D] C[M N/D]",
		s.Matmul("C", "A", "W", s.Scale(.5)).Keeping("H", 0)), at("Tensors[2]", "H is [M, DIDx(D), N/D], and the "+
		"operations leave it otherwise: H = matmul(A, W) (place it [M, N])")},
	{"a norm of columns", "that are summed", of("A[M K/D] W[N K/D] V[N/D] H[M N/D] W2[P N/D] C[M/D P]",
		s.Linear("H", "A", "W", s.RMSNorm("V")), s.Linear("C", "H", "W2")), at("Ops[0].Then[0]",
		"each rank has a part of each row of H, and rmsnorm takes whole rows")},
	{"what comes, with four axes", "in a call", of("A[D/D D M N] C[D D/D M N] E[D D/D M N]", s.Copy("C", "A", s.GELU()),
		s.CallRows("E", "Own", "abmn->abmn", "C")), at("Ops[1].In[0]", "no pass calls for what operations make with "+
		"other axes than rows and columns, and C has 4 (end the schedule with C, and do Own behind its plan)")},
	{"what comes, with three axes", "and is gathered", of("A[D/D D M] C[D D/D M] E[D D M]", s.Copy("C", "A", s.GELU()),
		s.Copy("E", "C")), at("Tensors[2]", "no communication leads from C [D, DIDx(D), M] to E [D, D, M]")},
	{"an operand of other ranks' parts", "that functions make", of("A[D/D D M] R[D/D D M] C[D D/D M] H[D D/D M]",
		s.Copy("X", "R", s.GELU()), s.Copy("C", "A", s.Scale(.5), s.Add("X")).Keeping("H", 1)), at("Ops[0]",
		"X is [DIDx(D), D, M], and the operations leave it otherwise")},
	{"a table", "of batches that are summed", of("A[4 M K/D] W[N K/D] T[M/D W] C[4 M/D N]",
		s.BatchedLinear("C", "A", "W", s.Rotary("T"))), at("Ops[0].Then[0].Is.Of[0].Of[1].Tensor",
		"T has a row for each row of one batch, and those of C come in 4")},
	{"numbers of rows", "of batches that are summed", of("A[4 M K/D] W[N K/D] S[4 M] C[4 M/D N]",
		s.BatchedLinear("C", "A", "W", s.Func{Is: s.Times(s.X, s.Column("S"))})), at("Tensors[2]",
		"(place it [4, DIDx(D), M/D])")},
	{"a result", "where an operand is that travels", of("A[M/D N] C[M/D N] R[M N/D]",
		s.Copy("R", "A"), s.Copy("C", "R", s.Scale(2))).within("C", "A"), at("Tensors[1].Within",
		"by Pull ranks write where others still read")},
}

// TestNotPlaced holds each against its verdict.
func TestNotPlaced(t *testing.T) {
	for i := range notPlaced {
		if _, err := notPlaced[i].holds(t); err != nil {
			t.Errorf("%s: %v", notPlaced[i].id, err)
		}
	}
}

package served

import (
	"fmt"
	"strings"
	"testing"

	s "ovgen/schedule"
)

// mlpByCounts is two layers of rows by counts, of tensors further to these.
func mlpByCounts(tensors, result string, ops ...s.Op) form {
	return of("A[M/D~ K] B[F/D K] B2[K F/D] "+result+tensors, ops...)
}

var (
	once   = s.Pull{Once: true}
	twice  = []s.Op{s.Linear("H", "A", "B", s.SiLU()), s.Linear("C", "H", "B2")}
	counts = "a product has as many rows as New is told, and Bind says how many "
	// madeAtOnce is true of padded rows, too, whose number New knows.
	madeAtOnce = "it makes the rows of a linear one rank's after another's, and one product makes all counted rows"
)

// countedProducts are products of rows by counts, and of sums that leave for ranks by counts.
var countedProducts = []declared{
	{"CP01", "rows", linear("A[M/D~ K] B[N K] C[M N]"), served},
	{"CP02", "sums", linear("A[M K/D] B[N K/D] C[M/D~ N]"), served},
	{"CP03", "rows and sums", mlpByCounts("", "C[M/D~ K]", twice...), served},
	{"CP04", "codes of rows", of("A[M/D~ K] Q[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("H", "Q", "B", s.SiLU()), s.Linear("C", "H", "B2")).eight(true, "Q", "B"), served},
	{"CP05", "up to a bound", of("A[M/D~P K] Q[M/D~P K] B[N K] C[M N]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B"), served},
	{"CP06", "a norm, a gate and a residual", mlpByCounts(" Norm[K] G[F/D K]", "C[M/D~ K]",
		s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("Z", "X", "G"), s.Linear("H", "X", "B", s.SwiGLU("Z")),
		s.Linear("C", "H", "B2", s.Add("A"))), served},
	{"CP07", "sums of codes", quantisedProduct("C[M/D~ N]"), served},
	{"CP08", "one scale", linear("A[M/D~ K] B[N K] C[M N]").eight(false, "A", "B"), served},
	{"CP09", "columns", linear("A[M/D~ K] B[N/D K] C[M N/D]").by("A", once), served},
	{"CP10", "sums and a norm", of("A[M K/D] B[N K/D] R[M/D~ N] Norm[N] C[M/D~ N]", s.Linear("C", "A", "B", s.Add("R"),
		s.RMSNorm("Norm"))), served},
	{"CP11", "widened", of("A[M/D~ K] Q[M/D~ K] B[N K] C[M N]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("X", "Q", s.Dequantise("SQ")), s.Linear("C", "X", "B")).eight(true, "Q"), served},
	{"CP12", "a norm that nobody gets", of("A[M/D~ K] Norm[K] B[N K] C[M N]", s.Copy("X", "A", s.RMSNorm("Norm")),
		s.Linear("C", "X", "B")), served},
	{"CP13", "a sum that goes on", of("A[M K/D] B[K K/D] W[F/D K] W2[K F/D] X[M/D~ K] C[M/D~ K]",
		s.Linear("X", "A", "B"), s.Linear("H", "X", "W"), s.Linear("C", "H", "W2", s.Add("X"))), served},

	{"CP20", "all together, whatever Once says", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.Pull{}), served},
	{"CP20b", "in parts", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.Pull{Parts: 2}),
		at("Moves[0].Way.Parts", "all rows are multiplied at once")},
	{"CP21", "pushed", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.Push{}), served},
	{"CP22", "without a bound", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.Padded{}),
		at("Moves[0].Way", "only uneven parts whose most is known can be padded")},
	{"CP22b", "by NCCL", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.NCCL{}), at("Moves[0].Way",
		"no pass does the all-gather of counted rows of A by NCCL: it moves parts of one size")},
	{"CP22c", "by packets", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.PushGather{}), at("Moves[0].Way",
		"no pass does the all-gather of counted rows of A by PushGather: it moves parts of one size")},
	{"CP23", "sums by slots", linear("A[M K/D] B[N K/D] C[M/D~ N]").by("C", s.Slots{}), served},
	{"CP23c", "sums by staging", linear("A[M K/D] B[N K/D] C[M/D~ N]").by("C", s.Staged{}),
		at("Moves[0].Way", "no pass does the reduce-scatter of counted rows of C by Staged: "+madeAtOnce)},
	{"CP23b", "sums of padded rows by slots", padded(mlpByCounts("", "C[M/D~ K]", twice...).most(s.P), "A").
		by("C", s.Slots{}), served},
	{"CP24", "products that stay", linear("A[M/D~ K] B[N K] C[M/D~ N]"),
		at("Tensors[0]", counts+"a rank has of A (let all ranks have equal parts)")},
	{"CP25", "a weight that travels", linear("A[M/D~ K] B[N/D K] C[M/D~ N]"), at("Tensors[0]", counts)},
	{"CP26", "sums in equal parts", mlpByCounts("", "C[M/D K]", twice...),
		at("Tensors[3]", "the rows of A are by counts, and those of C are not (place it [DIDx(D, uneven), M/D, K])")},
	{"CP27", "sums for all", mlpByCounts("", "C[M K]", twice...), served},
	{"CP28", "rows in equal parts", of("A[M/D K] B[F/D K] B2[K F/D] C[M/D~ K]", twice...),
		at("Tensors[0].Axes[0].Outer[0]", "the rows of C need not be in equal parts, and those of A are")},
	{"CP29", "a sum that nobody gets", of("A[M K/D] B[K K/D] W[F/D K] W2[K F/D] C[M/D~ K]", s.Linear("X", "A", "B"),
		s.Linear("H", "X", "W"), s.Linear("C", "H", "W2")), served},
	{"CP30", "a call", of("A[M/D~ K] B[N/D K] O[M N/D] C[M/D~ K] B2[K N/D]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "B2")), served},
	{"CP30b", "what the hint says first", linear("A[M/D~ K] B[N/D K] C[M N/D]"), served},
	{"CP30c", "and then", of("O[M N/D] B[K N/D] A[M/D~ K] C[M/D~ K]", s.Linear("C", "O", "B", s.Add("A"))), served},
	{"CP31", "gathered for the caller first", of("A[M/D~ K] Q[M/D~ K] X[M K] B[N K] C[M N]",
		s.Copy("Q", "A", s.Quantise()), s.Copy("X", "Q", s.Dequantise("SQ")), s.Linear("C", "X", "B")).eight(true, "Q"),
		at("Tensors[2]", counts+"a rank has of X")},
	{"CP32", "a weight of eight bits", linear("A[M/D~ K] B[N K] C[M N]").eight(true, "B"),
		at("Tensors", "no kernel multiplies uneven rows by B of eight bits")},
	{"CP33", "a gradient", gradient("A[M/D~ N] B[M/D~ K] C[N K]"), at("Tensors[0]", "no pass makes a gradient")},
	{"CP34", "over hosts", linear("A[M/D~ K] B[N K] C[M N]").onHosts(), served},
}

// dataParallel is a layer whose attention each rank does for its own rows.
var dataParallel = of("A[M/D~ K] O[M/D~ K] Norm[K] B[F/D K] B2[K F/D] C[M/D~ K]",
	s.CallRows("O", "Attention", "mk->mk", "A"), s.Copy("X", "O", s.RMSNorm("Norm")), s.Linear("H", "X", "B", s.SiLU()),
	s.Linear("C", "H", "B2", s.Add("O")))

// countedCalls are calls of a rank's own rows where Bind is told how many these are.
var countedCalls = []declared{
	{"CC01", "a layer", dataParallel, served},
	{"CC02", "with padding", padded(dataParallel.most(s.P), "X"), served},
	{"CC03", "the call's rows are multiplied", of("A[M/D~ K] Q[M/D~ K] B[N/D K] C[M N/D]", s.CallRows("Q", "Own",
		"mk->mk", "A"), s.Linear("C", "Q", "B")), served},
	{"CC04", "behind a norm", of("A[M/D~ K] Norm[K] O[M/D~ K] C[M K]", s.Copy("X", "A", s.RMSNorm("Norm")),
		s.CallRows("O", "Own", "mk->mk", "X"), s.Copy("C", "O")), served},
	{"CC05", "behind a sum", of("A[M K/D] B[K K/D] T[M/D~ N] X[M/D~ K] C[M/D~ K]", s.Linear("X", "A", "B"),
		s.CallRows("C", "Own", "mk,mn->mk", "X", "T")), served},
	{"CC06", "all ranks' keys", of("Q[M/D~ K] Key[M/D~ N] O[M/D~ K]", s.Copy("Keys", "Key"),
		s.CallRows("O", "Attention", "mq,nk->mq", "Q", "Keys")), served},
	{"CC07", "rows of the second operand", of("T[P K] A[M/D~ P] O[M/D~ K] C[M K]", s.CallRows("O", "Look", "pk,mp->mk",
		"T", "A"), s.Copy("C", "O")), served},
	{"CC08", "as its placement says", of("A[M/D~ K] O[M/D~ K] C[M K]", s.Call("O", "Own", "mk->mk", "A"),
		s.Copy("C", "O")), served},
	{"CC09", "two calls", of("A[M/D~ K] O[M/D~ K] Q[M/D~ K] C[M K]", s.CallRows("O", "Own", "mk->mk", "A"),
		s.CallRows("Q", "Two", "mk,mk->mk", "O", "A"), s.Copy("C", "Q")), served},
	{"CC10", "eight bits", of("A[M/D~ K] Q[M/D~ K] B[N/D K] C[M N/D]", s.CallRows("Q", "Own", "mk->mk", "A"),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B"), served},

	{"CC20", "all rows", of("A[M/D~ K] B[N/D K] O[M N/D] C[M/D~ K] B2[K N/D]", s.Linear("H", "A", "B"),
		s.Call("O", "All", "mn->mn", "H"), s.Linear("C", "O", "B2")), served},
	{"CC21", "a product of the caller's own", of("A[M K/D] B[N K/D] P[M/D~ N]", ownProduct), served},
	{"CC22", "a kernel", of("A[M/D~ K] O[M/D~ K] C[M K]", s.CallRows("O", "Own", "mk->mk", "A").By(s.Kernel{
		File: "own.cu", Name: "own", Blocks: "M"}), s.Copy("C", "O")), at("Ops[0].Kernel", "a kernel takes the "+
		"numbers that New is told, and the ranks have different numbers of rows of O (leave it out, and set a "+
		"function)")},
	{"CC23", "a result that is not declared", of("A[M/D~ K] B[N/D K] C[M N/D]", s.CallRows("Q", "Own", "mk->mk", "A"),
		s.Linear("C", "Q", "B")), at("Ops[0].Out", "nothing says how many rows a rank has of Q, which Own makes "+
		"(declare it with its placement)")},
	{"CC24", "beside rows in equal parts", of("A[M/D~ K] T[M/D N] O[M/D~ K] C[M K]", s.CallRows("O", "Own",
		"mk,mn->mk", "A", "T"), s.Copy("C", "O")), at("Tensors[1].Axes[0].Outer[0]",
		"the rows of O need not be in equal parts, and those of T are (place both alike)")},
}

// TestCountedCalls holds each against its verdict, and the explorer agrees on those that are served.
func TestCountedCalls(t *testing.T) { explored(t, "CountedCalls", countedCalls) }

// padded are products of rows with padding, by which New need not know how many all ranks have.
func padded(x form, names ...string) form {
	for _, name := range names {
		x = x.by(name, s.Padded{})
	}
	return x
}

// paddedProducts are products of padded rows, and of sums that leave for such rows.
var paddedProducts = []declared{
	{"PP01", "rows", padded(linear("A[M/D~P K] B[N K] C[M N]"), "A"), served},
	{"PP02", "columns", padded(linear("A[M/D~P K] B[N/D K] C[M N/D]"), "A"), served},
	{"PP03", "rows and sums", padded(mlpByCounts("", "C[M/D~P K]", twice...).most(s.P), "A"), served},
	{"PP04", "a norm, a gate and a residual", padded(mlpByCounts(" Norm[K] G[F/D K]", "C[M/D~P K]",
		s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("Z", "X", "G"), s.Linear("H", "X", "B", s.SwiGLU("Z")),
		s.Linear("C", "H", "B2", s.Add("A"))).most(s.P), "X"), served},
	{"PP05", "codes of rows", padded(of("A[M/D~P K] Q[M/D~P K] B[N K] C[M N]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B"), "Q"), served},
	{"PP06", "codes of rows, and sums", padded(of("A[M/D~P K] Q[M/D~P K] B[F/D K] B2[K F/D] C[M/D~P K]",
		s.Copy("Q", "A", s.Quantise()), s.Linear("H", "Q", "B", s.SiLU()), s.Linear("C", "H", "B2")).
		eight(true, "Q", "B"), "Q"), served},
	{"PP07", "sums of codes", padded(of("A[M/D~P K] B[F/D K] E[K F/D] Q[D/D M K] C[M/D~P K]", s.Linear("H", "A", "B"),
		s.LinearPartial("P", "H", "E"), s.Copy("Q", "P", s.Quantise()), s.Sum("C", "Q")).eight(true, "Q"),
		"A"), served},
	{"PP08", "one scale", padded(linear("A[M/D~P K] B[N K] C[M N]").eight(false, "A", "B"), "A"), served},
	{"PP09", "a bias and a function", padded(of("A[M/D~P K] B[N K] V[N] C[M N]", s.Linear("C", "A", "B", s.Bias("V"),
		s.SiLU())), "A"), served},
	{"PP10", "a function of the result", padded(of("A[M/D~P K] B[N K] V[N] C[M N]", s.Linear("C", "A", "B",
		s.RMSNorm("V"))), "A"), served},
	{"PP11", "two results", padded(of("A[M/D~P K] B[N K] B2[F K] C[M N] C2[M F]", s.Linear("C", "A", "B"),
		s.Linear("C2", "A", "B2")), "A"), served},
	{"PP12", "widened", padded(of("A[M/D~P K] Q[M/D~P K] B[N K] C[M N]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("X", "Q", s.Dequantise("SQ")), s.Linear("C", "X", "B")).eight(true, "Q"), "X"), served},
	{"PP13", "by kernels", linear("A[M/D~P K] B[N K] C[M N]").by("A", s.Padded{By: s.KernelCopies}), served},
	{"PP14", "up to a number", padded(linear("A[M/D~4 K] B[N K] C[M N]"), "A"), served},
	{"PP15", "a layer behind another", padded(of(
		"A[M/D~P K] B[F/D K] B2[K F/D] X[M/D~P K] W[F/D K] W2[K F/D] C[M/D~P K]",
		s.Linear("H", "A", "B"), s.Linear("X", "H", "B2", s.Add("A")), s.Linear("G", "X", "W"),
		s.Linear("C", "G", "W2", s.Add("X"))), "A", "X"), served},

	{"PP20", "one of two gathers", padded(of("A[M/D~P K] B[F/D K] B2[K F/D] X[M/D~P K] W[F/D K] W2[K F/D] C[M/D~P K]",
		s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Linear("G", "X", "W"), s.Linear("C", "G", "W2")), "A"),
		at("Moves[0].Way", "products take all rows of X, without padding (use schedule.Pull, or pad the rows of "+
			"all products)")},
	{"PP21", "a sum of all rows first", padded(of("A[M K/D] B[K K/D] W[F/D K] W2[K F/D] X[M/D~P K] C[M/D~P K]",
		s.Linear("X", "A", "B"), s.Linear("H", "X", "W"), s.Linear("C", "H", "W2")), "X"),
		at("Moves[0].Way", "products take all rows of A, without padding (use schedule.Pull")},
	{"PP22", "rows between products for the caller", padded(of("A[M/D~P K] B[F/D K] H[M F/D] B2[K F/D] C[M/D~P K]",
		s.Linear("H", "A", "B"), s.Linear("C", "H", "B2")), "A"), at("Tensors[2]",
		"products take padded rows, and the caller gets H without padding (leave it undeclared)")},
}

// TestPadded holds each against its verdict, and the explorer agrees on those that are served.
func TestPadded(t *testing.T) { explored(t, "Padded", paddedProducts) }

// TestCounted holds each against its verdict, and the explorer agrees on those that are served.
func TestCounted(t *testing.T) { explored(t, "Counted", countedProducts) }

// TestCountedEight: what becomes of rows by counts is the same in eight bits, given or quantised, as in 16 by each way.
func TestCountedEight(t *testing.T) {
	for _, rows := range []string{"M/D~", "M/D~P"} {
		copied, multiplied := moved("A["+rows+" N] C[M N]"), linear("A["+rows+" K] B[N K] C[M N]")
		made := of("A["+rows+" K] Q["+rows+" K] B[N K] C[M N]", s.Copy("Q", "A", s.Quantise()), s.Linear("C", "Q", "B"))
		for _, way := range []s.Way{s.Pull{}, s.Push{}, s.PushGather{}, s.NCCL{}, s.GatherShot{}} {
			for _, c := range []struct{ of, in form }{{copied.by("A", way), copied.eight(true, "A", "C").by("A", way)},
				{multiplied.by("A", way), multiplied.eight(true, "A", "B").by("A", way)},
				{multiplied.by("A", way), made.eight(true, "Q", "B").by("Q", way)}} {
				_, wide := (&declared{form: c.of}).become(t)
				_, eight := (&declared{form: c.in}).become(t)
				said := func(err error) string { return strings.ReplaceAll(fmt.Sprint(err), " of Q ", " of A ") }
				if said(wide) != said(eight) {
					t.Errorf("%s by %s: 16 bits: %v; eight: %v", rows, s.WayName(way), wide, eight)
				}
			}
		}
	}
	if _, err := (&declared{form: moved("A[M/D~ N] C[M N]").eight(true, "A", "C").onHosts()}).become(t); err != nil {
		t.Errorf("over hosts: %v", err)
	}
}

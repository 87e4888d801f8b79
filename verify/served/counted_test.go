package served

import (
	"testing"

	s "ovgen/schedule"
)

// mlpByCounts is two layers of rows by counts, of tensors further to these.
func mlpByCounts(tensors, result string, ops ...s.Op) form {
	return of("A[M/D~ K] B[F/D K] B2[K F/D] "+result+tensors, ops...)
}

var (
	once    = s.Pull{Once: true}
	twice   = []s.Op{s.Linear("H", "A", "B", s.SiLU()), s.Linear("C", "H", "B2")}
	counts  = "a product has as many rows as New is told, and Bind says how many "
	noCalls = "no pass calls beside rows that need not be in equal parts, such as those of A "
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

	{"CP20", "a piece after another", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.Pull{}),
		at("Moves[0].Way", counts+"each rank has of A (use schedule.Pull{Once: true})")},
	{"CP21", "pushed", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.Push{}), at("Moves[0].Way", counts)},
	{"CP22", "padded", linear("A[M/D~P K] B[N K] C[M N]").by("A", s.Padded{}), at("Moves[0].Way",
		counts+"each rank has of A (use schedule.Pull{Once: true})")},
	{"CP22b", "by NCCL", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.NCCL{}), at("Moves[0].Way",
		counts+"each rank has of A (use schedule.Pull{Once: true})")},
	{"CP22c", "by packets", linear("A[M/D~ K] B[N K] C[M N]").by("A", s.PushGather{}), at("Moves[0].Way",
		counts+"each rank has of A (use schedule.Pull{Once: true})")},
	{"CP23", "sums by slots", linear("A[M K/D] B[N K/D] C[M/D~ N]").by("C", s.Slots{}),
		at("Moves[0].Way", "no pass does the reduce-scatter of counted rows of C by Slots")},
	{"CP24", "products that stay", linear("A[M/D~ K] B[N K] C[M/D~ N]"),
		at("Tensors[0]", counts+"a rank has of A (let all ranks have equal parts)")},
	{"CP25", "a weight that travels", linear("A[M/D~ K] B[N/D K] C[M/D~ N]"), at("Tensors[0]", counts)},
	{"CP26", "sums in equal parts", mlpByCounts("", "C[M/D K]", twice...),
		at("Tensors[3]", "the rows of A are by counts, and those of C are not (place it [DIDx(D, uneven), M/D, K])")},
	{"CP27", "sums for all", mlpByCounts("", "C[M K]", twice...), at("Tensors[3]", "the rows of A are by counts")},
	{"CP28", "rows in equal parts", of("A[M/D K] B[F/D K] B2[K F/D] C[M/D~ K]", twice...),
		at("Tensors[3]", "the rows of C are by counts, and those of A are not")},
	{"CP29", "a sum that nobody gets", of("A[M K/D] B[K K/D] W[F/D K] W2[K F/D] C[M/D~ K]", s.Linear("X", "A", "B"),
		s.Linear("H", "X", "W"), s.Linear("C", "H", "W2")), at("Tensors[4]",
		"those of X are not (place all tensors of rows alike, and declare them)")},
	{"CP30", "a call", of("A[M/D~ K] B[N/D K] O[M N/D] C[M/D~ K] B2[K N/D]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "B2")), at("Ops[1]", noCalls+"(make O by a schedule "+
		"of its own, with H as an operand, and declare it as an operand here)")},
	{"CP30b", "what the hint says first", linear("A[M/D~ K] B[N/D K] C[M N/D]"), served},
	{"CP30c", "and then", of("O[M N/D] B[K N/D] A[M/D~ K] C[M/D~ K]", s.Linear("C", "O", "B", s.Add("A"))), served},
	{"CP30d", "a call of own rows", of("A[M/D~ K] Q[M/D~ K] B[N/D K] C[M N/D]", s.CallRows("Q", "Own", "mk->mk", "A"),
		s.Linear("C", "Q", "B")), at("Ops[0]", noCalls+"(make Q by a schedule of its own, and declare it "+
		"as an operand here)")},
	{"CP31", "gathered for the caller first", of("A[M/D~ K] Q[M/D~ K] X[M K] B[N K] C[M N]",
		s.Copy("Q", "A", s.Quantise()), s.Copy("X", "Q", s.Dequantise("SQ")), s.Linear("C", "X", "B")).eight(true, "Q"),
		at("Tensors[2]", counts+"a rank has of X")},
	{"CP32", "a weight of eight bits", linear("A[M/D~ K] B[N K] C[M N]").eight(true, "B"),
		at("Tensors", "no kernel multiplies uneven rows by B of eight bits")},
	{"CP33", "a gradient", gradient("A[M/D~ N] B[M/D~ K] C[N K]"), at("Tensors[0]", "no pass makes a gradient")},
	{"CP34", "over hosts", linear("A[M/D~ K] B[N K] C[M N]").onHosts(), at("Mesh", "balanced rows of A over hosts")},
}

// TestCounted holds each against its verdict, and the explorer agrees on those that are served.
func TestCounted(t *testing.T) { explored(t, "Counted", countedProducts) }

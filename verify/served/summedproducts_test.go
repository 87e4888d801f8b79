package served

import (
	"testing"

	s "ovgen/schedule"
)

// quantisedProduct is a product whose partial results are quantised before they travel.
func quantisedProduct(tensors string, sum ...s.Func) form {
	return of("A[M K/D] B[N K/D] Q[D/D M N] "+tensors, s.LinearPartial("P", "A", "B"), s.Copy("Q", "P", s.Quantise()),
		s.Sum("C", "Q", sum...)).eight(true, "Q")
}

// quantisedMLP is two products with a gate, of which the second one's partial results are quantised.
func quantisedMLP(tensors string) form {
	return of("A[M/D K] B[F/D K] B2[F/D K] E[K F/D] Q[D/D M K] "+tensors, s.Linear("G", "A", "B"),
		s.Linear("H", "A", "B2", s.SwiGLU("G")), s.LinearPartial("P", "H", "E"), s.Copy("Q", "P", s.Quantise()),
		s.Sum("C", "Q")).eight(true, "Q")
}

// withBias is a product of summands to which a row is added.
var withBias = func() s.Op {
	o := s.LinearPartial("P", "A", "B")
	o.Then = []s.Func{s.Bias("Bias")}
	return o
}()

var summedProducts = []declared{
	{"SP01", "rows by slots", quantisedProduct("C[M/D N]"), served},
	{"SP02", "by kernels", quantisedProduct("C[M/D N]").by("C", s.Slots{By: s.Kernels}), served},
	{"SP03", "by one kernel a step", quantisedProduct("C[M/D N]").by("C", s.Slots{By: s.OneKernel}), served},
	{"SP04", "in one shot", quantisedProduct("C[M/D N]").by("C", s.Shot{}), served},
	{"SP05", "for all ranks in one shot", quantisedProduct("C[M N]").by("C", s.Shot{}), served},
	{"SP06", "in two", quantisedProduct("C[M N]"), served},
	{"SP07", "for all ranks by slots", quantisedProduct("C[M N]").by("C", s.Slots{}), served},
	{"SP08", "in parts", quantisedProduct("C[M N]").by("C", s.Slots{Parts: 4}), served},
	{"SP09", "streams in turn", quantisedProduct("C[M/D N]").by("C", s.Slots{Streams: 2}), served},
	{"SP10", "streams of one priority", quantisedProduct("C[M/D N]").by("C", s.Slots{Equal: true}), served},
	{"SP11", "with a bias, a residual and a norm", quantisedProduct("C[M/D N] Bias[N] R[M/D N] Norm[N]",
		s.Bias("Bias"), s.Add("R"), s.RMSNorm("Norm")), served},
	{"SP12", "operands of eight bits", quantisedProduct("C[M/D N]").eight(true, "A", "B"), served},
	{"SP13", "a weight of eight bits", quantisedProduct("C[M/D N]").eight(true, "B"), served},
	{"SP14", "in fp32", quantisedProduct("C[M/D N]").in32("C"), served},
	{"SP15", "an MLP", quantisedMLP("C[M/D K]"), served},
	{"SP16", "an MLP, in one shot", quantisedMLP("C[M/D K]").by("C", s.Shot{}), served},
	{"SP17", "an MLP of all rows", quantisedMLP("C[M K]"), served},
	{"SP18", "sums that a product gathers", of("A[M K/D] B[N K/D] Q[D/D M N] W[F N] C[M F]",
		s.LinearPartial("P", "A", "B"), s.Copy("Q", "P", s.Quantise()), s.Sum("H", "Q"), s.Linear("C", "H", "W")).
		eight(true, "Q"), served},
	{"SP19", "sums that are quantised for all ranks", of("A[M K/D] B[N K/D] Q[D/D M N] R[M/D N] C[M N]",
		s.LinearPartial("P", "A", "B"), s.Copy("Q", "P", s.Quantise()), s.Sum("H", "Q"), s.Copy("R", "H", s.Quantise()),
		s.Copy("C", "R", s.Dequantise("SR"))).eight(true, "Q", "R"), served},
	{"SP20", "by blocks", of("A[M K/D] B[N K/D] Q[D/D M N] C[M/D N]", s.LinearPartial("P", "A", "B"),
		s.Copy("Q", "P", s.Quantise()), s.Sum("C", "Q")).coded(s.E4M3, s.FP32, 32, "Q"), served},

	{"SP30", "by packets", quantisedProduct("C[M/D N]").by("C", s.PushShot{}),
		at("Moves[0].Way", "no kernel of PushShot reads the scales of Q (leave it out, or use schedule.Slots, "+
			"schedule.Shot)")},
	{"SP31", "by NCCL", quantisedProduct("C[M/D N]").by("C", s.NCCL{}),
		at("Moves[0].Way", "no kernel of NCCL reads the scales of Q")},
	{"SP32", "by tiles", quantisedProduct("C[M/D N]").by("C", s.Tiles{}),
		at("Moves[0].Way", "no kernel of Tiles reads the scales of Q")},
	{"SP33", "into slots", quantisedProduct("C[M/D N]").by("C", s.Stores{}),
		at("Moves[0].Way", "no kernel of Stores reads the scales of Q")},
	{"SP34", "over hosts", quantisedProduct("C[M/D N]").onHosts(),
		at("Mesh", "no pass makes functions of summands, Q, over hosts")},
	{"SP35", "to columns", quantisedProduct("C[M N/D]"), at("Tensors[3]", "no communication leads from Q")},
	{"SP37", "to balanced rows", quantisedProduct("C[M N]").changed("C", func(t *s.Tensor) {
		t.Axes[0].Outer = []s.Split{s.Balanced(s.D)}
	}), served},
	{"SP38", "to batches", quantisedProduct("C[M*4/D N]"), at("Tensors[3]", "C is [4, DIDx(D), M/(4*D), N]")},
	{"SP40", "of 16 bits", of("A[M K/D] B[N K/D] C[M/D N]", s.LinearPartial("P", "A", "B"), s.Sum("C", "P")),
		at("Ops[1]", "each rank has a summand of its own in P (make codes of P by one schedule.Copy with "+
			"schedule.Quantise(), or make the sum by schedule.Linear)")},
	{"SP41", "of whole operands", quantisedProduct("C[M/D N]").
		changed("A", func(t *s.Tensor) { t.Axes[1].Outer = nil }).
		changed("B", func(t *s.Tensor) { t.Axes[1].Outer = nil }), at("Ops[0].Index", "P is the ranks' summands, "+
		"and what they sum over is not spread over the ranks (spread it over the ranks in A")},
	{"SP42", "with a bias", quantisedProduct("C[M/D N] Bias[N]").op(0, withBias),
		at("Ops[0].Then", "P is the ranks' summands, which have no functions (apply it to the sum)")},
	{"SP43", "for the caller", quantisedProduct("P[D/D M N] C[M/D N]"),
		at("Tensors[3]", "the ranks' summands, P, are memory of the plan (leave it out)")},
	{"SP44", "read twice", of("A[M K/D] B[N K/D] Q[D/D M N] Q2[D/D M N] C[M/D N]", s.LinearPartial("P", "A", "B"),
		s.Copy("Q", "P", s.Quantise()), s.Copy("Q2", "P", s.Quantise()), s.Sum("C", "Q")).eight(true, "Q", "Q2"),
		at("Ops[1]", "each rank has a summand of its own in P")},
	{"SP45", "another product between", of("A[M K/D] B[N K/D] B2[F K/D] Q[D/D M N] C[M/D N] E[M/D F]",
		s.LinearPartial("P", "A", "B"), s.Linear("E", "A", "B2"), s.Copy("Q", "P", s.Quantise()), s.Sum("C", "Q")).
		eight(true, "Q"), at("Ops[2]", "no pass makes other operations between P and its sum (write the product, this "+
		"and their schedule.Sum one behind another)")},
	{"SP46", "a weight [K, N]", quantisedProduct("C[M/D N]").op(0, s.Op{Out: "P", In: []string{"A", "B"},
		Index: "mk,kn->dmn"}).changed("B", func(t *s.Tensor) { t.Axes[0], t.Axes[1] = t.Axes[1], t.Axes[0] }),
		at("Ops[0].Index", `no pass lowers the contraction "mk,kn->dmn"`)},
}

// TestSummedProducts holds each against its verdict, and the explorer agrees on those that are served.
func TestSummedProducts(t *testing.T) { explored(t, "SummedProducts", summedProducts) }

package served

import (
	"testing"

	s "ovgen/schedule"
)

// summed is a sum of each rank's summand that is quantised before it travels, and coded gives its rows scales.
func summed(tensors string, sum ...s.Func) form {
	return of("A[D/D M N] Q[D/D M N] "+tensors, s.Copy("Q", "A", s.Quantise()), s.Sum("C", "Q", sum...))
}

func coded(tensors string, sum ...s.Func) form { return summed(tensors, sum...).eight(true, "Q") }

// onHosts is the form with ranks of several hosts.
func (f form) onHosts() form {
	f.Mesh = s.Hosts()
	return f
}

// op is the form with another operation of a number.
func (f form) op(i int, o s.Op) form {
	f.Ops = append([]s.Op{}, f.Ops...)
	f.Ops[i] = o
	return f
}

// summands are sums of what was quantised before it travelled.
var summands = []declared{
	{"S01", "rows by slots", coded("C[M/D N]"), served},
	{"S02", "by kernels", coded("C[M/D N]").by("C", s.Slots{By: s.Kernels}), served},
	{"S03", "by one kernel a step", coded("C[M/D N]").by("C", s.Slots{By: s.OneKernel}), served},
	{"S04", "in one shot", coded("C[M/D N]").by("C", s.Shot{}), served},
	{"S05", "for all ranks in one shot", coded("C[M N]").by("C", s.Shot{}), served},
	{"S06", "in two", coded("C[M N]"), served},
	{"S07", "by slots in parts", coded("C[M N]").by("C", s.Slots{Parts: 4}), served},
	{"S08", "by counts", coded("C[M/D~ N]"), served},
	{"S09", "e5m2", coded("C[M/D N]").changed("Q", func(t *s.Tensor) { t.Type = s.E5M2 }).
		op(0, s.Copy("Q", "A", s.QuantiseE5M2())), served},
	{"S10", "by blocks, with a bias", summed("C[M/D N] Bias[N]", s.Bias("Bias")).
		coded(s.E4M3, s.FP32, 32, "Q"), served},
	{"S11", "a residual and a norm", coded("C[M/D N] R[M/D N] Norm[N]", s.Add("R"), s.RMSNorm("Norm")), served},
	{"S12", "a norm behind blocks", summed("C[M/D N] Norm[N]", s.RMSNorm("Norm")).
		coded(s.E4M3, s.FP32, 32, "Q"), served},
	{"S13", "in fp32", coded("C[M/D N]").in32("C"), served},
	{"S14", "behind a factor", coded("C[M/D N]").op(0, s.Copy("Q", "A", s.Scale(2), s.Quantise())), served},
	{"S15", "given", of("Q[D/D M N] C[M/D N]", s.Sum("C", "Q")).eight(true, "Q"), served},
	{"S16", "functions of 16 bits, by packets", of("A[D/D M N] Q[D/D M N] C[M/D N]", s.Copy("Q", "A", s.Scale(2)),
		s.Sum("C", "Q")).by("C", s.PushShot{}), served},

	{"S20", "by packets", coded("C[M/D N]").by("C", s.PushShot{}),
		at("Moves[0].Way", "no kernel of PushShot reads the scales of Q (leave it out, or use schedule.Slots, "+
			"schedule.Shot)")},
	{"S21", "by NCCL", coded("C[M/D N]").by("C", s.NCCL{}),
		at("Moves[0].Way", "no kernel of NCCL reads the scales of Q")},
	{"S22", "by packets in two shots", coded("C[M N]").by("C", s.PushTwoShot{}),
		at("Moves[0].Way", "no kernel of PushTwoShot reads the scales of Q")},
	{"S23", "over hosts", coded("C[M/D N]").onHosts(),
		at("Mesh", "no pass makes functions of summands, Q, over hosts")},
	{"S23b", "given, over hosts", of("Q[D/D M N] C[M/D N]", s.Sum("C", "Q")).eight(true, "Q").onHosts(),
		at("Moves", "no kernel of Rails reads the scales of Q")},
	{"S24", "one scale", summed("C[M/D N]").eight(false, "Q"), at("Ops[1].In[0]", "SQ is [1], and sums read scales "+
		"that lie as rows do (give each row of Q a scale, or each block of its columns)")},
	{"S25", "four bits", summed("C[M/D N]").fp4("Q").op(0, s.Copy("Q", "A", s.QuantiseFP4())),
		at("Ops[1].In[0]", "sums widen codes of eight bits")},
	{"S25b", "by powers", summed("C[M/D N]").mx(s.E4M3, "Q"), at("Ops[1].In[0]",
		"sums read scales of fp32, and SQ are ue8m0 (give Q scales of fp32)")},
	{"S26", "a tensor beside the summands", of("A[D/D M N] R[D/D M N] Q[D/D M N] C[M/D N]",
		s.Copy("Q", "A", s.Add("R"), s.Quantise()), s.Sum("C", "Q")).eight(true, "Q"),
		at("Ops[0].Then[0].Is.Of[1].Tensor", "no pass reads a tensor beside the summands of A (apply it to the sum)")},
	{"S27", "two sums of one", of("A[D/D M N] Q[D/D M N] C[M/D N] E[M N]", s.Copy("Q", "A", s.Quantise()),
		s.Sum("C", "Q"), s.Sum("E", "Q")).eight(true, "Q"),
		at("Ops[0]", "no pass makes functions of summands, Q, for 2 others (add them up by one schedule.Sum)")},
	{"S28", "summands within the codes", coded("C[M/D N]").within("A", "Q"),
		at("Tensors[0].Within", "Q has eight bits, and nothing else lies in its memory (leave it out)")},
	{"S29", "within the codes", coded("C[M/D N]").within("C", "Q"), at("Tensors[2].Within", "C and Q are neither")},
}

// TestSummands holds each against its verdict, and the explorer agrees on those that are served.
func TestSummands(t *testing.T) { explored(t, "Summands", summands) }

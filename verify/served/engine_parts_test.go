package served

import s "ovgen/schedule"

// Two partial sums that are one: C = A1 B1 + A2 B2.
var P01SumOfTwoRS = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), hd("A2", M, F), row("B2", N, F), sp("C", M, N)),
	Ops:     opsOf(s.Linear("Part", "A", "B"), s.Linear("C", "A2", "B2", s.Add("Part"))),
}
var P02SumOfTwoAR = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), hd("A2", M, F), row("B2", N, F), mat("C", M, N)),
	Ops:     opsOf(s.Linear("Part", "A", "B"), s.Linear("C", "A2", "B2", s.Add("Part"))),
}

// Mixture: shared expert, and routed output as a residual beside the residual.
var P03SharedExpert = s.Schedule{
	Tensors: tt(io(true), sp("Routed", M, K), vec(K, "Norm"), gated()),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("U", "X", "Up"), s.Linear("G", "X", "Gate", s.SwiGLU("U")),
		s.Linear("C", "G", "Down", s.Add("Routed"), s.Add("A"))),
}

// Dense fallback of a mixture of two experts: gates scale the hidden rows (a call), partial sums add up.
var P04MixtralDense = s.Schedule{
	Tensors: tt(io(false), vec(K, "Norm"), mat("Router", "8", K), col("G0",
		F, K), col("U0", F, K), row("Dn0", K, F), col("G1", F, K), col("U1", F, K), row("Dn1", K, F)),
	Ops: opsOf(s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("Scores", "X", "Router"),
		s.Linear("Ua", "X", "U0"), s.Linear("Ga", "X", "G0", s.SwiGLU("Ua")), s.Call("Ha", "Scale0", "mf,me->mf",
			"Ga", "Scores"),
		s.Linear("Ub", "X", "U1"), s.Linear("Gb", "X", "G1", s.SwiGLU("Ub")), s.Call("Hb", "Scale1", "mf,me->mf",
			"Gb", "Scores"),
		s.Linear("R", "Ha", "Dn0", s.Add("A")), s.Linear("C", "Hb", "Dn1", s.Add("R"))),
	Moves: shots("R", "C"),
}

// Experts as an axis: grouped products.
var P05GroupedGEMM = s.Schedule{
	Tensors: tt(t("A", s.Dim("8", X), s.Dim(M), s.Dim(K)), t("B", s.Dim("8", X), s.Dim(N), s.Dim(K)), t("C",
		s.Dim("8", X), s.Dim(M), s.Dim(N))),
	Ops: opsOf(s.Op{Out: "C", In: []string{"A", "B"}, Index: "emk,enk->emn"}),
}

// Experts by a call: dispatch is an all-to-all, then experts, then back.
var P06MoEAllToAll = s.Schedule{
	Tensors: tt(t("A", s.Dim(D, X), s.Dim(D), s.Dim(M), s.Dim(N)), t("Got", s.Dim(D), s.Dim(D, X), s.Dim(M),
		s.Dim(N)), t("C", s.Dim(D, X), s.Dim(D), s.Dim(M), s.Dim(N))),
	Ops: opsOf(s.Copy("Got", "A"), s.Call("Y", "Experts", "abmn->abmn", "Got"), s.Copy("C", "Y")),
}
var P07MoERouter = s.Schedule{
	Tensors: tt(sp("A", M, K), vec(K, "Norm"), mat("Router", "64", K), st("Scores", M, "64")),
	Ops:     opsOf(s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("Scores", "X", "Router")),
}

// LoRA beside a column-parallel weight: the down product is whole, the up one is spread like the weight.
var P08LoRAColumn = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", N, K), mat("La", "16", K), col("Lb", N, "16"), hd("C", M, N)),
	Ops:     opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("C", "A", "B", s.Add("T"))),
}
var P09LoRAColumnWhole = s.Schedule{
	Tensors: tt(mat("A", M, K), col("B", N, K), mat("La", "16", K), col("Lb", N, "16"), hd("C", M, N)),
	Ops:     opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("C", "A", "B", s.Add("T"))),
}

// LoRA beside a row-parallel weight: partial low-rank sums meet first.
var P10LoRARow = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), row("La", "16", K), mat("Lb", N, "16"), mat("R", M, N), mat("C",
		M, N)),
	Ops:   opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb", s.Add("R")), s.Linear("C", "A", "B", s.Add("T"))),
	Moves: shots("L", "C"),
}
var P11LoRARowDefault = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), row("La", "16", K), mat("Lb", N, "16"), mat("C", M, N)),
	Ops:     opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("C", "A", "B", s.Add("T"))),
}
var P12LoRARowScatter = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), row("La", "16", K), mat("Lb", N, "16"), sp("C", M, N)),
	Ops:     opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("C", "A", "B", s.Add("T"))),
}

// Several adapters, one chosen for each row by a call (punica).
var P13MultiLoRA = s.Schedule{
	Tensors: tt(mat("A", M, K), col("B", N, K), t("La", s.Dim("4"), s.Dim("16"), s.Dim(K)), t("Lb", s.Dim("4"),
		s.Dim("16"), s.Dim(N, X)), typed(t("Which",
		s.Dim(M)), s.I32), hd("T", M, N), mat("L", M, "16"), hd("C", M, N)),
	Ops: opsOf(s.Call("L", "Shrink", "mk,ark,m->mr", "A", "La", "Which"),
		s.Call("T", "Expand", "mr,arn,m->mn", "L", "Lb", "Which"),
		s.Linear("C", "A", "B", s.Add("T"))),
}

// Two adapters always on.
var P14TwoLoRA = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", N, K), mat("La", "8", K), col("Lb", N, "8"), mat("Ma", "8", K), col("Mb",
		N, "8"), hd("C", M, N)),
	Ops: opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("L2", "A", "Ma"),
		s.Linear("T2", "L2", "Mb", s.Add("T")),
		s.Linear("C", "A", "B", s.Add("T2"))),
}

// Embedding split over the vocabulary: a call looks up what this rank has, and the ranks' results are summed.
var P15VocabEmbedding = s.Schedule{
	Tensors: tt(typed(t("Tokens", s.Dim(M)), s.I32), t("Table", s.Dim(N, X), s.Dim(K)), t("E", s.Dim(D, X),
		s.Dim(M), s.Dim(K)), mat("C", M, K)),
	Ops:   opsOf(s.Call("E", "Lookup", "vk,m->dmk", "Table", "Tokens"), s.Sum("C", "E")),
	Moves: shots("C"),
}
var P16VocabEmbeddingScatter = s.Schedule{
	Tensors: tt(t("E", s.Dim(D, X), s.Dim(M), s.Dim(K)), sp("C", M, K), vec(K, "Norm"), sp("Y", M, K)),
	Ops:     opsOf(s.Sum("C", "E"), s.Copy("Y", "C", rms("Norm"))),
}

// One-hot rows times the table.
var P17OneHotEmbedding = s.Schedule{
	Tensors: tt(hd("A", M, K), t("B", s.Dim(K, X), s.Dim(N)), mat("C", M, N)),
	Ops:     opsOf(s.Matmul("C", "A", "B")),
	Moves:   []s.Move{mv("C", s.PushShot{})},
}

// Tied embedding: one table looks tokens up (one-hot) and makes logits.
var P18Tied = s.Schedule{
	Tensors: tt(hd("OneHot", M, N), t("E", s.Dim(N, X), s.Dim(K)), vec(K, "Norm"), hd("C", M, N), mat("H", M, K)),
	Ops:     opsOf(s.Matmul("H", "OneHot", "E"), s.Copy("Y", "H", rms("Norm")), s.Linear("C", "Y", "E")),
}

// LM heads.
var P19HeadParallel = s.Schedule{
	Tensors: tt(mat("A", M, K), vec(K, "Norm"), col("B", N, K), hd("C", M, N)),
	Ops:     opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("C", "X", "B")),
}
var P20HeadGathered = s.Schedule{
	Tensors: tt(mat("A", M, K), vec(K, "Norm"), col("B", N, K), mat("C", M, N)),
	Ops:     opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("C", "X", "B")),
}
var P21HeadFromSequence = s.Schedule{
	Tensors: tt(sp("A", M, K), vec(K, "Norm"), col("B", N, K), mat("C", M, N)),
	Ops:     opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("C", "X", "B")),
}

// Greedy head: each rank's best of each row by a call, [M, 2] a rank, gathered.
var P22HeadArgmax = s.Schedule{
	Tensors: tt(mat("A", M, K), vec(K, "Norm"), col("B", N, K), hd("Best", M, N2), mat("C", M, N2)),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("L", "X", "B"), s.Call("Best", "Argmax", "mn->mb", "L"),
		s.Copy("C", "Best")),
}

// Logits with a soft cap by a call, Gemma 2.
var P23HeadSoftCap = s.Schedule{
	Tensors: tt(mat("A", M, K), vec(K, "Norm"), col("B", N, K), hd("C", M, N)),
	Ops:     opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("L", "X", "B"), s.Call("C", "Cap", "mn->mn", "L")),
}
var P24HeadFP32 = s.Schedule{
	Tensors: tt(mat("A", M, K), col("B", N, K), typed(hd("C", M, N), s.FP32)),
	Ops:     opsOf(s.Linear("C", "A", "B")),
}
var P25TanhCap = s.Schedule{
	Tensors: tt(mat("A", M, K), col("B", N, K), hd("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.Func{Word: "tanh", Is: s.Tanh(s.X)})),
}

// Speculative decoding: a constant few rows.
var P26Spec4 = s.Schedule{
	Tensors: tt(mat("A", "4", K), mat("C", "4", K), vec(K, "Norm"), gated()),
	Ops: opsOf(s.Copy("Y", "A", rms("Norm")), s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate",
		s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
	Moves: shots("C"),
}
var P27OneRow = s.Schedule{
	Tensors: tt(mat("A", "1", K), mat("C", "1", K), gated()),
	Ops: opsOf(s.Linear("U", "A", "Up"), s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down",
		s.Add("A"))),
	Moves: []s.Move{mv("C", s.PushShot{})},
}

// Chunked prefill beside decode: two tensors of rows through one weight in one plan.
var P28PrefillBesideDecode = s.Schedule{
	Tensors: tt(sp("A", M, K), sp("A2", P, K), col("B", N, K), hd("C", M, N), hd("C2", P, N)),
	Ops:     opsOf(s.Linear("C", "A", "B"), s.Linear("C2", "A2", "B")),
}
var P29PrefillBesideDecodeRow = s.Schedule{
	Tensors: tt(hd("A", M, K), hd("A2", P, K), row("B", N, K), mat("C", M, N), mat("C2", P, N)),
	Ops:     opsOf(s.Linear("C", "A", "B"), s.Linear("C2", "A2", "B")),
	Moves:   []s.Move{mv("C", s.TwoShot{}), mv("C2", s.Shot{})},
}

// All-gather of two tensors at once.
var P30TwoGathers = s.Schedule{
	Tensors: tt(sp("A", M, K), sp("A2", M, F), col("B", N, K), col("B2", N, F), hd("C", M, N), hd("C2", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B"), s.Linear("C2", "A2", "B2")),
}

// Ring attention by an all-gather of keys and values; queries stay.
var P31ContextParallel = s.Schedule{
	Tensors: tt(sp("Query", M, N), sp("Key", M, N2), sp("Value", M, N2),
		sp("O", M, N), mat("AllK", M, N2), mat("AllV", M, N2)),
	Ops: opsOf(s.Copy("AllK", "Key"), s.Copy("AllV", "Value"), s.Call("O", "Attention", "mq,nk,nk->mq",
		"Query", "AllK", "AllV")),
}
var P32GatherKV = s.Schedule{
	Tensors: tt(sp("Key", M, N2), sp("Value", M, N2), mat("AllK", M, N2), mat("AllV", M, N2)),
	Ops:     opsOf(s.Copy("AllK", "Key"), s.Copy("AllV", "Value")),
}

// Ring attention's step: both go to the next rank.
var P33RingKV = s.Schedule{
	Tensors: tt(sp("Key", M, N), sp("Value", M, N), t("NextK", s.Dim(M,
		s.Split{Kind: s.DeviceX, Count: D, Shift: 1}), s.Dim(N)), t("NextV", s.Dim(M, s.Split{Kind: s.DeviceX,
		Count: D, Shift: 1}), s.Dim(N))),
	Ops: opsOf(s.Copy("NextK", "Key"), s.Copy("NextV", "Value")),
}

// DeepSpeed-Ulysses: rows to heads before attention, and back.
var P34Ulysses = s.Schedule{
	Tensors: tt(sp("A", M, K), mat("Wq", N, K), mat("Wk", N, K), mat("Wv", N, K), mat("Wo", K, N), sp("Q",
		M, N), sp("Kr", M, N), sp("V", M, N), hd("Query", M, N), hd("Key", M, N), hd("Value", M, N), hd("O", M,
		N), sp("Or", M, N), sp("C", M, K)),
	Ops: opsOf(s.Linear("Q", "A", "Wq"), s.Linear("Kr", "A", "Wk"), s.Linear("V", "A", "Wv"),
		s.Copy("Query", "Q"), s.Copy("Key", "Kr"), s.Copy("Value", "V"), attn(),
		s.Copy("Or", "O"), s.Linear("C", "Or", "Wo")),
}
var P35UlyssesBack = s.Schedule{
	Tensors: tt(hd("O", M, N), mat("Wo", K, N), sp("C", M, K)),
	Ops:     opsOf(s.Copy("Or", "O"), s.Linear("C", "Or", "Wo")),
}

// FSDP: three weights gathered for one input, and an MLP.
var P36FSDPQKV = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", N, K), col("B2", N2, K), col("B3", N2, K), sp("C", M, N), sp("C2",
		M, N2), sp("C3", M, N2)),
	Ops: opsOf(s.Linear("C", "A", "B"), s.Linear("C2", "A", "B2"), s.Linear("C3", "A", "B3")),
}
var P37FSDPMLP = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", F, K), col("B2", N, F), sp("C", M, N), sp("H", M, F)),
	Ops:     opsOf(s.Linear("H", "A", "B", s.GELU()), s.Linear("C", "H", "B2")),
}
var P38FSDPBias = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", N, K), vec(N, "Bias"), sp("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.Bias("Bias"), s.GELU())),
}

// FSDP's weight gathered with bare bytes ahead of a product of a layer later.
var P39FSDPPrefetch = s.Schedule{
	Tensors: tt(sp("A", M, K), mat("B", N, K), sp("C", M, N), col("Next", F, N), mat("Whole", F, N)),
	Ops:     opsOf(s.Linear("C", "A", "B"), s.Copy("Whole", "Next")),
}

// ZeRO 2: the weight's gradient to its owner; and beside it the input's gradient.
var P40ZeRO = s.Schedule{
	Tensors: tt(sp("A", M, N), sp("B", M, K), col("C", N, K)),
	Ops:     opsOf(s.Gradient("C", "A", "B")),
}
var P41ZeROOverlap = s.Schedule{
	Tensors: tt(sp("A", M, N), sp("B", M, K), col("C", N, K), mat("Wt", N, K), sp("Dx", M, K)),
	Ops:     opsOf(s.Matmul("Dx", "A", "Wt"), s.Gradient("C", "A", "B")),
}
var P42ZeROFP32 = s.Schedule{
	Tensors: tt(sp("A", M, N), sp("B", M, K), typed(col("C", N, K), s.FP32)),
	Ops:     opsOf(s.Op{Out: "C", In: []string{"A", "B"}, Index: "mn,mk->nk"}),
}
var P43GradientAccumulate = s.Schedule{
	Tensors: tt(mat("A", M, N), sp("B", M, K), mat("C", N, K), within(mat("C0", N, K), "C")),
	Ops:     opsOf(s.Op{Out: "C", In: []string{"A", "B"}, Index: "mn,mk->nk", Then: []s.Func{s.Add("C0")}}),
}

// Backward of a column-parallel layer: dX = dY W to its owner, dW = dYᵀ X with X gathered again.
var P44ColumnBackward = s.Schedule{
	Tensors: tt(hd("Dy", M, N), t("B", s.Dim(N, X), s.Dim(K)), sp("Xs", M, K), sp("Dx", M, K), t("Dw",
		s.Dim(N, X), s.Dim(K))),
	Ops: opsOf(s.Matmul("Dx", "Dy", "B"), s.Gradient("Dw", "Dy", "Xs")),
}

// Backward of a row-parallel layer: dY is gathered once, for dX = dY W and dW = dYᵀ X.
var P45RowBackward = s.Schedule{
	Tensors: tt(sp("Dy", M, N), t("B", s.Dim(N), s.Dim(K, X)), hd("Xs", M, K), hd("Dx", M, K), t("Dw", s.Dim(N),
		s.Dim(K, X))),
	Ops: opsOf(s.Matmul("Dx", "Dy", "B"), s.Gradient("Dw", "Dy", "Xs")),
}
var P46RowBackwardSP = s.Schedule{
	Tensors: tt(sp("Dy", M, N), mat("B", N, K), mat("Xs", M, K), st("Dx", M, K), mat("Dw", N, K)),
	Ops:     opsOf(s.Matmul("Dx", "Dy", "B"), s.Gradient("Dw", "Dy", "Xs")),
}

// Data-parallel gradients, all-reduced in one shot.
var P47DataParallel = s.Schedule{
	Tensors: tt(sp("A", M, N), sp("B", M, K), mat("C", N, K)),
	Ops:     opsOf(s.Gradient("C", "A", "B")), Moves: shots("C"),
}

// 2-D: SUMMA.
var P48SUMMA = s.Schedule{
	Mesh: []s.MeshAxis{{Name: s.DeviceX, Link: s.NVLink}, {Name: s.DeviceY, Link: s.NVLink}},
	Tensors: tt(t("A", s.Dim(M, s.DIDx("2")), s.Dim(K, s.Split{Kind: s.DeviceY, Count: "2"})), t("B", s.Dim(N,
		s.Split{Kind: s.DeviceY,
			Count: "2"}), s.Dim(K, s.DIDx("2"))), t("C", s.Dim(M, s.DIDx("2")), s.Dim(N, s.Split{Kind: s.DeviceY,
		Count: "2"}))),
	Ops: opsOf(s.Linear("C", "A", "B")),
}
var P49TwoAxes = s.Schedule{
	Tensors: tt(t("A", s.Dim(M, X), s.Dim(K, X)), mat("B", N, K), st("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B")),
}
var P50HostsLayer = s.Schedule{
	Mesh:    s.Hosts(),
	Tensors: tt(io(true), vec(K, "Norm", "Norm2"), qkvo(), gated()),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"),
		s.Linear("Value", "X", "Wv"), attn(),
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("Y", "R", rms("Norm2")), s.Linear("U",
			"Y", "Up"), s.Linear("G", "Y", "Gate", s.GeGLU("U")), s.Linear("C", "G", "Down", s.Add("R"))),
}

// Small vectors: norm statistics.
var P51Statistics = s.Schedule{
	Tensors: tt(t("A", s.Dim(D, X), s.Dim(M), s.Dim("1")), mat("C", M, "1")),
	Ops:     opsOf(s.Sum("C", "A")), Moves: []s.Move{mv("C", s.PushShot{})},
}
var P52StatisticsVector = s.Schedule{
	Tensors: tt(t("A", s.Dim(D, X), s.Dim(M)), t("C", s.Dim(M))),
	Ops:     opsOf(s.Sum("C", "A")), Moves: shots("C"),
}
var P53StatisticsFP32 = s.Schedule{
	Tensors: tt(t("A", s.Dim(D, X), s.Dim("2"), s.Dim(M)), mat("C", "2", M)),
	Ops:     opsOf(s.Sum("C", "A")), Moves: shots("C"), Types: []s.Type{s.FP32},
}

// Convolution as a product of patches: 3x3 of K channels, batches as an axis.
var P54Conv = s.Schedule{
	Tensors: tt(t("A", s.Dim("4"), s.Dim(M, X), s.Dim(K)), mat("B", N, K), vec(N, "Bias"), t("C", s.Dim("4"),
		s.Dim(M, s.Stream(D)), s.Dim(N))),
	Ops: opsOf(s.BatchedLinear("C", "A", "B", s.Bias("Bias"), s.ReLU())),
}
var P55ConvScatter = s.Schedule{
	Tensors: tt(t("A", s.Dim("4"), s.Dim(M), s.Dim(K, X)), row("B", N, K), vec(N, "Bias"), t("Res", s.Dim("4"),
		s.Dim(M, X), s.Dim(N)), t("C", s.Dim("4"), s.Dim(M, X), s.Dim(N))),
	Ops: opsOf(s.BatchedLinear("C", "A", "B", s.Bias("Bias"), s.Add("Res"))),
}
var P56BatchSymbol = s.Schedule{
	Tensors: tt(t("A", s.Dim(P), s.Dim(M, X), s.Dim(K)), mat("B", N, K), t("C", s.Dim(P), s.Dim(M, s.Stream(D)),
		s.Dim(N))),
	Ops: opsOf(s.BatchedLinear("C", "A", "B")),
}
var P57BatchedMLP = s.Schedule{
	Tensors: tt(t("A", s.Dim("2"), s.Dim(M, X), s.Dim(K)), col("B", F, K), row("B2", N, F), t("C", s.Dim("2"),
		s.Dim(M, X), s.Dim(N))),
	Ops: opsOf(s.BatchedLinear("H", "A", "B", s.GELU()), s.BatchedLinear("C", "H", "B2")),
}
var P58BatchSpread = s.Schedule{ // data parallel over the batch
	Tensors: tt(t("A", s.Dim("8", X), s.Dim(M), s.Dim(K)), mat("B", N, K), t("C", s.Dim("8"), s.Dim(M), s.Dim(N))),
	Ops:     opsOf(s.BatchedLinear("C", "A", "B")),
}

package served

import s "ovgen/schedule"

// ---- what a user writes next, following the hints of round 1

// Gemma 2: the norm alone, then the residual by a copy.
func gemma2b(seq bool, how int, moves ...s.Move) s.Schedule {
	add := func(out, a, b string) s.Op {
		if how == 0 {
			return s.Copy(out, a, s.Add(b))
		}
		return s.Call(out, "Add"+out, "mk,mk->mk", a, b)
	}
	x := s.Schedule{
		Tensors: tt(io(seq), vec(K, "Norm", "Post", "Norm2", "Post2"), qkvo(), gated()),
		Ops: opsOf(
			s.Copy("X", "A", rms("Norm")),
			s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
			s.Linear("H", "O", "Wo"), s.Copy("Hn", "H", rms("Post")), add("R", "Hn", "A"),
			s.Copy("Y", "R", rms("Norm2")),
			s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.GeGLU("U")),
			s.Linear("Z", "G", "Down"), s.Copy("Zn", "Z", rms("Post2")), add("C", "Zn", "R")),
		Moves: moves,
	}
	if !seq {
		x.Tensors = tt(x.Tensors, mat("H", M, K), mat("Z", M, K))
	}
	return x
}

var A01Gemma2Copy = gemma2b(true, 0)
var A02Gemma2DecodeCopy = gemma2b(false, 0, shots("H", "Z")...)
var A03Gemma2DecodeCall = gemma2b(false, 1, shots("H", "Z")...)
var A04Gemma2Call = gemma2b(true, 1)

// Gemma 2 in two plans: each half ends with a norm; the residual is the caller's own kernel.
var A05Gemma2Half = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm", "Post"), gated()),
	Ops: opsOf(s.Copy("Y", "A", rms("Norm")), s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.GeGLU("U")),
		s.Linear("Z", "G", "Down"), s.Copy("C", "Z", rms("Post"))),
}

// LoRA beside a weight, added by a call.
var A06LoRACall = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", N, K), mat("La", "16", K), col("Lb", N, "16"), hd("C", M, N)),
	Ops: opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("Y", "A", "B"),
		s.Call("C", "AddUp", "mn,mn->mn", "Y", "T")),
}
var A07LoRACallWhole = s.Schedule{
	Tensors: tt(mat("A", M, K), col("B", N, K), mat("La", "16", K), col("Lb", N, "16"), hd("C", M, N)),
	Ops: opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("Y", "A", "B"),
		s.Call("C", "AddUp", "mn,mn->mn", "Y", "T")),
}
var A08LoRARow = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), row("La", "16", K),
		mat("Lb", N, "16"), mat("L", M, "16"), mat("C", M, N)),
	Ops:   opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("C", "A", "B", s.Add("T"))),
	Moves: shots("L", "C"),
}

// A Llama decode layer with LoRA on query and value, as punica has it.
var A09LlamaLoRA = s.Schedule{
	Tensors: tt(io(false), vec(K, "Norm"), qkvo(), mat("Qa", "16", K),
		col("Qb", N, "16"), mat("Va", "16", K), col("Vb", N2, "16")),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.Linear("Ql", "X", "Qa"), s.Linear("Vl", "X", "Va"), s.Linear("Qd", "Ql", "Qb"), s.Linear("Vd", "Vl", "Vb"),
		s.Call("O", "Attention", "mq,mk,mk,mq,mk->mq", "Query", "Key", "Value", "Qd", "Vd"),
		s.Linear("C", "O", "Wo", s.Add("A"))),
	Moves: shots("C"),
}

// NeoX: the second norm after the first half.
var A10NeoX = s.Schedule{
	Tensors: tt(io(false), vec(K, "L1", "L1b", "L2", "L2b"), qkvo(), col("W1", F, K), xvec(F, "B1"), row("W2", K, F)),
	Ops: opsOf(s.Copy("X", "A", ln("L1", "L1b")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
		s.Linear("Pa", "O", "Wo", s.Add("A")), s.Copy("Y", "A", ln("L2", "L2b")),
		s.Linear("H", "Y", "W1", s.Bias("B1"), s.GELU()),
		s.Linear("C", "H", "W2", s.Add("Pa"))),
}
var A11NeoXShot = s.Schedule{Tensors: A10NeoX.Tensors, Ops: A10NeoX.Ops, Moves: shots("Pa", "C")}
var A12GPTJ = s.Schedule{
	Tensors: tt(io(true), vec(K, "L1", "L1b"), qkvo(), col("W1", F, K), xvec(F, "B1"), row("W2", K, F)),
	Ops: opsOf(s.Copy("X", "A", ln("L1", "L1b")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
		s.Linear("Pa", "O", "Wo", s.Add("A")), s.Copy("Y", "A", ln("L1", "L1b")),
		s.Linear("H", "Y", "W1", s.Bias("B1"), s.GELU()),
		s.Linear("C", "H", "W2", s.Add("Pa"))),
}

// Command-R, the MLP's products before the attention's sum: first everything of X, then both sums.
var A13CommandR = s.Schedule{
	Tensors: tt(io(true), vec(K, "L1", "Zero"), qkvo(), gated()),
	Ops: opsOf(s.Copy("X", "A", ln("L1", "Zero")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.Linear("U", "X", "Up"), s.Linear("G", "X", "Gate", s.SwiGLU("U")), attn(),
		s.Linear("Pa", "O", "Wo", s.Add("A")),
		s.Linear("C", "G", "Down", s.Add("Pa"))),
}
var A14CommandRDecode = s.Schedule{
	Tensors: tt(io(false), vec(K, "L1", "Zero"), qkvo(), gated()), Ops: A13CommandR.Ops, Moves: shots("Pa", "C"),
}

// MLA in sequence parallel, with the low-rank rows declared.
var A15MLAKV = s.Schedule{
	Tensors: tt(sp("A", M, K), mat("Dkv", N3, K), vec(N3, "KVN"), col("Uk", N, N3), t("Key", s.Dim(M,
		s.Stream(D)), s.Dim(N, X))),
	Ops: opsOf(s.Linear("KVl", "A", "Dkv"), s.Copy("KVn", "KVl", rms("KVN")), s.Linear("Key", "KVn", "Uk")),
}
var A16MLADecodeWhole = s.Schedule{ // whole layer of DeepSeek-V2-lite without experts
	Tensors: tt(io(false), vec(K, "Norm", "Norm2"), col("Wq", N, K), mat("Dkv", N3, K), vec(N3, "KVN"), col("Uk",
		N, N3), col("Uv", W, N3), hd("O", M, W), row("Wo", K, W), gated()),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("Query", "X", "Wq"),
		s.Linear("KVl", "X", "Dkv"), s.Copy("KVn", "KVl", rms("KVN")), s.Linear("Key",
			"KVn", "Uk"), s.Linear("Value", "KVn", "Uv"),
		s.Call("O", "Attention", "mq,mq,mv->mv", "Query", "Key", "Value"), s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("Y", "R", rms("Norm2")), s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate",
			s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R"))),
	Moves: []s.Move{mv("R", s.PushShot{}), mv("C", s.PushShot{})},
}
var A17T5Rel = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm"), qkvo(), t("Rel", s.Dim("32"), s.Dim(N3, X))),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.Call("O", "Attention", "mq,mk,mk,bh->mq", "Query", "Key", "Value", "Rel"), s.Linear("C", "O", "Wo",
			s.Add("A"))),
}
var A18T5Decoder = s.Schedule{
	Tensors: tt(io(false), mat("R", M, K), mat("R2", M, K), vec(K, "Norm",
		"NormX", "Norm2"), qkvo(), mat("Enc", P, K), col("Xq", N, K), col("Xk", N2, K), col("Xv", N2, K),
		row("Xo", K, N), gated()),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
		s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("XX", "R", rms("NormX")), s.Linear("Qx", "XX", "Xq"),
		s.Linear("Kx", "Enc", "Xk"), s.Linear("Vx", "Enc", "Xv"),
		s.Call("Ox", "CrossAttention", "mq,pk,pk->mq", "Qx", "Kx", "Vx"),
		s.Linear("R2", "Ox", "Xo", s.Add("R")),
		s.Copy("Y", "R2", rms("Norm2")), s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate",
			s.GeGLU("U")), s.Linear("C", "G", "Down", s.Add("R2"))),
	Moves: shots("R", "R2", "C"),
}
var A19T5DecoderCachedCross = s.Schedule{
	Tensors: tt(io(false), vec(K, "Norm", "NormX", "Norm2"), qkvo(), hd("CK", P, N2), hd("CV", P, N2), col("Xq",
		N, K), row("Xo", K, N), gated()),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
		s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("XX", "R", rms("NormX")), s.Linear("Qx", "XX", "Xq"),
		s.Call("Ox", "CrossAttention", "mq,pk,pk->mq", "Qx", "CK", "CV"),
		s.Linear("R2", "Ox", "Xo", s.Add("R")),
		s.Copy("Y", "R2", rms("Norm2")), s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate",
			s.GeGLU("U")), s.Linear("C", "G", "Down", s.Add("R2"))),
	Moves: shots("R", "R2", "C"),
}
var A20Mamba = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm"), col("In", N, K), t("Conv", s.Dim("4"),
		s.Dim(N2, X)), hd("Y", M, F), row("Out", K, F)),
	Ops: opsOf(s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("Z", "X", "In"),
		s.Call("Y", "Scan", "mz,wc->mf", "Z", "Conv"),
		s.Linear("C", "Y", "Out", s.Add("A"))),
}
var A21RWKV = s.Schedule{
	Tensors: tt(mat("A", M, K), mat("Wr", K, K), col("Wk", F, K), row("Wv", K, F), mat("V", M, K), mat("C", M, K)),
	Ops: opsOf(s.Linear("R", "A", "Wr"), s.Linear("H", "A", "Wk", s.ReLU()), s.Call("H2", "Square", "mf->mf", "H"),
		s.Linear("V", "H2", "Wv"),
		s.Call("C", "GateBy", "mk,mk->mk", "R", "V")),
	Moves: shots("V"),
}
var A22Deep = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", F, K), row("B2", N, F), col("B3", N2, N), row("B4", N3, N2), sp("C", M, N3)),
	Ops: opsOf(s.Linear("H", "A", "B", s.ReLU()), s.Linear("I", "H", "B2"), s.Copy("Ir", "I", s.ReLU()),
		s.Linear("J", "Ir", "B3", s.ReLU()), s.Linear("C", "J", "B4")),
}

func stream2(n string, c s.Extent) s.Tensor { return t(n, s.Dim(M, s.Stream(D)), s.Dim(c, X)) }

var A23RingBothQKV = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", N, K), col("B2", N2, K), col("B3", N2, K), xvec(N, "Bq"), xvec(N2,
		"Bk", "Bv"), stream2("C", N), stream2("C2", N2), stream2("C3", N2)),
	Ops: opsOf(s.Linear("C", "A", "B", s.Bias("Bq")), s.Linear("C2", "A", "B2", s.Bias("Bk")),
		s.Linear("C3", "A", "B3", s.Bias("Bv"))),
	Moves: []s.Move{mv("A", s.Ring{Direction: s.Both, Streams: 2, By: s.KernelSignals})},
}
var A24NCCLParts = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", N, K), col("B2", N2, K), stream2("C", N), stream2("C2", N2)),
	Ops:     opsOf(s.Linear("C", "A", "B"), s.Linear("C2", "A", "B2")),
	Moves:   []s.Move{mv("A", s.NCCL{Parts: 3})},
}
var A25PushRing = s.Schedule{
	Tensors: tt(sp("A", M, K), mat("B", K, N), st("C", M, N)),
	Ops:     opsOf(s.Matmul("C", "A", "B")),
	Moves:   []s.Move{mv("A", s.PushRing{Direction: s.Backward, Streams: 3, By: s.Kernels})},
}
var A26GramTwo = s.Schedule{
	Tensors: tt(sp("A", M, K), sp("A2", M, K), t("C", s.Dim(M, s.Stream(D)), s.Dim(M, X))),
	Ops:     opsOf(s.Linear("C", "A", "A2")),
}
var A27CovarianceTwo = s.Schedule{
	Tensors: tt(sp("A", M, K), sp("A2", M, K), mat("C", K, K)),
	Ops:     opsOf(s.Gradient("C", "A", "A2")), Moves: shots("C"),
}
var A28SP4Heads = s.Schedule{ // SiLU of a column-parallel product of gathered rows, fp32 only
	Tensors: tt(sp("A", M, K), col("B", N, K), stream2("C", N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.SiLU())), Types: []s.Type{s.FP32},
}
var A29Conv = s.Schedule{
	Tensors: tt(t("A", s.Dim("4"), s.Dim(M, X), s.Dim(K)), mat("B", N, K), vec(N, "Bias"), t("C", s.Dim("4"),
		s.Dim(M, s.Stream(D)), s.Dim(N))),
	Ops: opsOf(s.BatchedLinear("C", "A", "B", s.Bias("Bias"))),
}
var A30ConvScatter = s.Schedule{
	Tensors: tt(t("A", s.Dim("4"), s.Dim(M), s.Dim(K, X)), row("B", N, K), vec(N, "Bias"), t("C", s.Dim("4"),
		s.Dim(M, X), s.Dim(N))),
	Ops: opsOf(s.BatchedLinear("C", "A", "B", s.Bias("Bias"))),
}
var A31FSDPBias = s.Schedule{
	Tensors: tt(sp("A", M, K), col("B", N, K), vec(N, "Bias"), sp("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.Bias("Bias"))),
}
var A32GatherAlongSum = s.Schedule{
	Tensors: tt(hd("A", M, K), mat("B", N, K), vec(N, "Bias"), mat("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.Bias("Bias"))),
}
var A33UlyssesKV = s.Schedule{
	Tensors: tt(sp("A", M, N), hd("C", M, N)), Ops: opsOf(s.Copy("C", "A")),
	Moves: []s.Move{mv("A", s.Pull{By: s.KernelSignals})},
}
var A34RingSum = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), vec(N, "Bias"), sp("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.Bias("Bias"))),
	Moves:   []s.Move{mv("C", s.RingSum{Streams: 2, Signals: s.Kernels})},
}
var A35TilesBias = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), vec(N, "Bias"), sp("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.Bias("Bias"))),
	Moves:   []s.Move{mv("C", s.Tiles{Columns: 192})}, Types: []s.Type{s.BF16},
}
var A36Qwen3KernelNorm = s.Schedule{ // a kernel of the user's for the norm of heads
	Tensors: tt(io(false), vec(K, "Norm"), vec(W, "QNorm", "KNorm"), qkvo()),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Q0", "X", "Wq"), s.Linear("K0", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.CallKernel("Query", "NormQ", "mq,w->mq", s.Kernel{File: "own.cu", Name: "headnorm",
			Blocks: "M*(N/D/W)", Threads: 128, Args: []string{"N/D", "W"}}, "Q0", "QNorm"),
		s.CallKernel("Key", "NormK", "mk,w->mk", s.Kernel{File: "own.cu", Name: "headnorm",
			Blocks: "M*(N2/D/W)", Threads: 128, Args: []string{"N2/D", "W"}}, "K0", "KNorm"),
		attn(), s.Linear("C", "O", "Wo", s.Add("A"))),
	Moves: shots("C"),
}
var A37LoRAKernel = s.Schedule{ // add by a kernel
	Tensors: tt(mat("A", M, K), col("B", F, K), mat("La", "16", K),
		col("Lb", F, "16"), row("Down", N, F), mat("C", M, N)),
	Ops: opsOf(s.Linear("L", "A", "La"), s.Linear("T", "L", "Lb"), s.Linear("Y", "A", "B"),
		s.CallKernel("H", "AddUp", "mf,mf->mf",
			s.Kernel{File: "own.cu", Name: "plus", Blocks: "(M*F/D+255)/256"}, "Y", "T"),
		s.Linear("C", "H", "Down")),
	Moves: shots("C"),
}
var A38ReLU2Kernel = s.Schedule{ // Nemotron, SP
	Tensors: tt(io(true), col("B", F, K), row("B2", K, F)),
	Ops: opsOf(s.Linear("H", "A", "B"),
		s.CallKernel("H2", "Square", "mf->mf",
			s.Kernel{File: "own.cu", Name: "relu2", Blocks: "(M*F/D+255)/256"}, "H"),
		s.Linear("C", "H2", "B2", s.Add("A"))),
}
var A39MixtralTwo = s.Schedule{ // experts one behind the other, with the norm again
	Tensors: tt(io(false), mat("R", M, K), vec(K, "Norm"), mat("Router",
		"8", K), col("G0", F, K), col("U0", F, K), row("Dn0", K, F), col("G1", F, K), col("U1", F, K), row("Dn1",
		K, F)),
	Ops: opsOf(s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("Scores", "X", "Router"),
		s.Linear("Ua", "X", "U0"), s.Linear("Ga", "X", "G0",
			s.SwiGLU("Ua")), s.Linear("Ub", "X", "U1"), s.Linear("Gb", "X", "G1", s.SwiGLU("Ub")),
		s.Call("Ha", "Scale0", "mf,me->mf", "Ga", "Scores"), s.Call("Hb", "Scale1", "mf,me->mf", "Gb", "Scores"),
		s.Linear("R", "Ha", "Dn0", s.Add("A")), s.Linear("C", "Hb", "Dn1", s.Add("R"))),
	Moves: shots("R", "C"),
}
var A40SharedExpertCall = s.Schedule{ // routed experts by a call that makes a whole partial result
	Tensors: tt(io(false), vec(K, "Norm"), gated(), col("Ga", F, K), hd("E", M, F), row("Dn", K, F), mat("R", M, K)),
	Ops: opsOf(s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("U", "X", "Up"), s.Linear("G", "X", "Gate", s.SwiGLU("U")),
		s.Linear("R", "G", "Down", s.Add("A")), s.Call("E", "Experts", "mk,fk->mf",
			"R", "Ga"), s.Linear("C", "E", "Dn", s.Add("R"))),
	Moves: shots("R", "C"),
}
var A41HeadGatheredCap = s.Schedule{ // logits gathered, then capped by a call on all ranks
	Tensors: tt(mat("A", M, K), vec(K, "Norm"), col("B", N, K), mat("L", M, N), mat("C", M, N)),
	Ops:     opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("L", "X", "B"), s.Call("C", "Cap", "mn->mn", "L")),
}
var A42HeadCapGathered = s.Schedule{ // capped first
	Tensors: tt(mat("A", M, K), vec(K, "Norm"), col("B", N, K), mat("C", M, N)),
	Ops:     opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("L", "X", "B"), s.Call("C", "Cap", "mn->mn", "L")),
}

// The last half layer, the norm and the head in one plan.
var A43LayerAndHead = s.Schedule{
	Tensors: tt(mat("A", M, K), vec(K, "Norm2", "Norm3"), gated(), col("Head", N, K), mat("C", M, N)),
	Ops: opsOf(s.Copy("Y", "A", rms("Norm2")), s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.SwiGLU("U")),
		s.Linear("R", "G", "Down", s.Add("A")),
		s.Copy("Z", "R", rms("Norm3")), s.Linear("C", "Z", "Head")),
}
var A44LayerAndHeadShot = s.Schedule{Tensors: A43LayerAndHead.Tensors, Ops: A43LayerAndHead.Ops, Moves: shots("R")}
var A45LayerAndHeadSpread = s.Schedule{ // the head's columns stay where they are
	Tensors: tt(mat("A", M, K), vec(K, "Norm2", "Norm3"), gated(), col("Head", N, K), hd("C", M, N)),
	Ops:     A43LayerAndHead.Ops, Moves: shots("R"),
}

// ---- what must not be accepted as it stands

var W01NormOfPart = s.Schedule{
	Tensors: tt(io(true), vec(N, "QNorm"), qkvo()),
	Ops: opsOf(s.Linear("Q0", "A", "Wq"), s.Copy("Query", "Q0", rms("QNorm")), s.Linear("Key", "A", "Wk"),
		s.Linear("Value", "A", "Wv"), attn(), s.Linear("C", "O", "Wo")),
}
var W02NormOfPartSpread = s.Schedule{
	Tensors: tt(io(true), xvec(N, "QNorm"), qkvo()), Ops: W01NormOfPart.Ops,
}
var W03BiasSpreadOnSum = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), xvec(N, "Bias"), mat("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.Bias("Bias"))),
}
var W04OldResidual = s.Schedule{ // R replaces A, and A is read again
	Tensors: tt(mat("A", M, K), within(mat("R", M, K), "A"), mat("C",
		M, K), vec(K, "Norm"), hd("O", M, N), row("Wo", K, N), gated()),
	Ops: opsOf(s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("Y", "R", rms("Norm")), s.Linear("U", "Y", "Up"),
		s.Linear("G", "Y", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
	Moves: shots("R", "C"),
}
var W05OldKeys = s.Schedule{ // the cache after the append is read under its old name
	Tensors: tt(mat("A", M, K), mat("C", M, K), qkvo(), hd("Keys", N3, N2), within(hd("Keys2", N3, N2), "Keys")),
	Ops: opsOf(s.Linear("Query", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("Value", "A", "Wv"),
		s.Call("Keys2", "Append", "pk,mk->pk", "Keys", "Key"),
		s.Call("O", "Attention", "mq,pk,mk->mq", "Query", "Keys", "Value"), s.Linear("C", "O", "Wo", s.Add("A"))),
	Moves: shots("C"),
}
var W06OddHeads = s.Schedule{
	Tensors: tt(io(true), mat("Angles", M, "7"), qkvo()),
	Ops: opsOf(s.Linear("Query", "A", "Wq", s.Rotary("Angles")), s.Linear("Key", "A", "Wk"),
		s.Linear("Value", "A", "Wv"), attn(), s.Linear("C", "O", "Wo")),
}
var W07Epsilon = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm"), col("B", F, K), row("B2", K, F)),
	Ops: opsOf(s.Copy("X", "A", s.RMSNorm("Norm").WithEpsilon(-1e-6)), s.Linear("H", "X", "B",
		s.GELU().WithEpsilon(1e-6)), s.Linear("C", "H", "B2")),
}
var W08TinyEpsilon = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm"), col("B", F, K), row("B2", K, F)),
	Ops: opsOf(s.Copy("X", "A", s.RMSNorm("Norm").WithEpsilon(1e-60)), s.Linear("H", "X", "B"),
		s.Linear("C", "H", "B2")),
}
var W09CallNames = s.Schedule{
	Tensors: tt(mat("A", M, K), mat("C", M, K), qkvo()),
	Ops: opsOf(s.Linear("Query", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("Value", "A", "Wv"),
		s.Call("O", "Close", "mq,mk,mk->mq", "Query", "Key", "Value"), s.Linear("C", "O", "Wo")),
	Moves: shots("C"),
}
var W10CallLikeTensor = s.Schedule{
	Tensors: tt(mat("A", M, K), mat("C", M, K), qkvo()),
	Ops: opsOf(s.Linear("Query", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("Value", "A", "Wv"),
		s.Call("O", "Wo", "mq,mk,mk->mq", "Query", "Key", "Value"), s.Linear("C", "O", "Wo")),
	Moves: shots("C"),
}
var W11CallTwice = s.Schedule{
	Tensors: tt(mat("A", M, K), mat("C", M, K), qkvo()),
	Ops: opsOf(s.Linear("Q0", "A", "Wq"), s.Linear("K0", "A", "Wk"), s.Linear("Value", "A", "Wv"),
		s.Call("Query", "Turn", "mq->mq", "Q0"), s.Call("Key", "Turn", "mq->mq", "K0"),
		attn(), s.Linear("C", "O", "Wo")),
	Moves: shots("C"),
}
var W12TensorNames = s.Schedule{
	Tensors: tt(sp("Shape", M, K), col("Buffers", F, K), row("Plan", K, F), sp("Bind", M, K)),
	Ops:     opsOf(s.Linear("Type", "Shape", "Buffers", s.GELU()), s.Linear("Bind", "Type", "Plan")),
}
var W13MovesTwice = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), mat("C", M, N)), Ops: opsOf(s.Linear("C", "A", "B")),
	Moves: []s.Move{mv("C", s.Shot{}), mv("C", s.TwoShot{})},
}
var W14M7 = s.Schedule{
	Tensors: tt(hd("A", "7", K), row("B", N, K), mat("C", "7", N)), Ops: opsOf(s.Linear("C",
		"A", "B")), Moves: []s.Move{mv("C", s.TwoShot{})},
}
var W15Huge = s.Schedule{
	Tensors: tt(hd("A", M, "1000000000000"), row("B", N, "1000000000000"),
		mat("C", M, N)), Ops: opsOf(s.Linear("C", "A", "B")),
}
var w17SwiGLUOfItself = s.Schedule{
	Tensors: tt(io(true), col("B", F, K), row("B2", K, F)),
	Ops:     opsOf(s.Linear("H", "A", "B", s.SwiGLU("H")), s.Linear("C", "H", "B2")),
}
var W18AddLater = s.Schedule{
	Tensors: tt(io(true), col("B", F, K), row("B2", K, F), row("B3", K, F), sp("C2", M, K)),
	Ops:     opsOf(s.Linear("H", "A", "B"), s.Linear("C", "H", "B2", s.Add("C2")), s.Linear("C2", "H", "B3")),
}
var W19ABC = s.Schedule{Tensors: tt(hd("A", M, K), row("B", N, K), mat("C", M, N)), Ops: opsOf(s.Linear("C", "A", "B"))}
var W19Abc = s.Schedule{Tensors: tt(hd("A", M, K), row("B", N, K), mat("C", M, N)), Ops: opsOf(s.Linear("C", "A", "B"))}
var W20ActBeforeBias = s.Schedule{
	Tensors: tt(io(true), col("B", F, K), xvec(F, "Bias"), row("B2", K, F)),
	Ops:     opsOf(s.Linear("H", "A", "B", s.GELU(), s.Bias("Bias")), s.Linear("C", "H", "B2")),
}
var W21SwiGLUOtherRows = s.Schedule{ // up comes from another input of as many rows
	Tensors: tt(io(true), sp("A2", M, K), gated()),
	Ops:     opsOf(s.Linear("U", "A2", "Up"), s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down")),
}
var W22ResidualWrongPlace = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), mat("R", M, N), sp("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.Add("R"))),
}
var W23BiasTwice = s.Schedule{
	Tensors: tt(hd("A", M, K), row("B", N, K), vec(N, "B1", "B2"), sp("C", M, N)),
	Ops:     opsOf(s.Linear("C", "A", "B", s.Bias("B1"), s.Bias("B2"))),
}
var W24KVCacheConst = s.Schedule{ // head width as a constant of a call's kernel that does not divide
	Tensors: tt(io(false), qkvo()),
	Ops: opsOf(s.Linear("Q0", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("Value", "A", "Wv"),
		s.CallKernel("Query", "NormQ", "mq->mq", s.Kernel{File: "own.cu", Name: "copyhead",
			Blocks: "M*(N/D/128)", Threads: 128, Args: []string{"N/D"}}, "Q0"),
		attn(), s.Linear("C", "O", "Wo")),
	Moves: shots("C"),
}

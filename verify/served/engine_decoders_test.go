package served

import s "ovgen/schedule"

func qwen2(seq bool, moves ...s.Move) s.Schedule {
	return s.Schedule{
		Tensors: tt(io(seq), vec(K, "Norm", "Norm2"), qkvo(), xvec(N, "Bq"), xvec(N2, "Bk", "Bv"), gated()),
		Ops: opsOf(
			s.Copy("X", "A", rms("Norm")),
			s.Linear("Query", "X", "Wq", s.Bias("Bq")), s.Linear("Key", "X", "Wk",
				s.Bias("Bk")), s.Linear("Value", "X", "Wv", s.Bias("Bv")),
			attn(), s.Linear("R", "O", "Wo", s.Add("A")),
			s.Copy("Y", "R", rms("Norm2")),
			s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down",
				s.Add("R"))),
		Moves: moves,
	}
}

var D01Qwen2 = qwen2(true)
var D02Qwen2Decode = qwen2(false, shots("R", "C")...)
var D03Qwen2DecodePackets = qwen2(false, mv("R", s.PushShot{}), mv("C", s.PushShot{}))
var D04Qwen2DecodeDefault = qwen2(false)

// Rotary in the projection's epilogue behind a bias, as Qwen2 has it.
var D05Qwen2Rotary = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm"), mat("Angles", M, W), qkvo(), xvec(N, "Bq"), xvec(N2, "Bk", "Bv")),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Query", "X", "Wq", s.Bias("Bq"), s.Rotary("Angles")), s.Linear("Key", "X", "Wk", s.Bias("Bk"),
			s.Rotary("Angles")), s.Linear("Value", "X", "Wv", s.Bias("Bv")),
		attn(), s.Linear("C", "O", "Wo", s.Add("A"))),
}

// Qwen3: RMSNorm per head of queries and keys, weight [W], as an epilogue.
var D06Qwen3HeadNorm = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm"), vec(W, "QNorm", "KNorm"), mat("Angles", M, W), qkvo()),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Query", "X", "Wq", rms("QNorm"), s.Rotary("Angles")), s.Linear("Key", "X", "Wk", rms("KNorm"),
			s.Rotary("Angles")), s.Linear("Value", "X", "Wv"),
		attn(), s.Linear("C", "O", "Wo", s.Add("A"))),
}

// The same with heads as an axis: [M, heads, W].
var D07Qwen3HeadAxis = s.Schedule{
	Tensors: tt(sp("A", M, K), vec(K, "Norm"), vec(W, "QNorm"), t("Wq", s.Dim(N, X), s.Dim(W),
		s.Dim(K)), t("Query", s.Dim(M), s.Dim(N, X), s.Dim(W))),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Op{Out: "Query", In: []string{"X", "Wq"}, Index: "mk,nwk->mnw", Then: []s.Func{rms("QNorm")}}),
}

// The same with the norm of heads as the attention call's affair.
var D08Qwen3Call = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm", "Norm2"), vec(W, "QNorm", "KNorm"), qkvo(), gated()),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.Call("O", "Attention", "mq,mk,mk,w,w->mq", "Query", "Key", "Value", "QNorm", "KNorm"),
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("Y", "R", rms("Norm2")),
		s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R"))),
}

// OLMo2's norm of queries is over the whole width, of which a rank has a part: a norm of the part is wrong.
var D09OLMo2QNorm = s.Schedule{
	Tensors: tt(sp("A", M, K), xvec(N, "QNorm"), col("Wq", N, K), hd("Query", M, N)),
	Ops:     opsOf(s.Linear("Query", "A", "Wq", rms("QNorm"))),
}
var D10OLMo2QNormWhole = s.Schedule{
	Tensors: tt(sp("A", M, K), vec(N, "QNorm"), col("Wq", N, K), hd("Query", M, N)),
	Ops:     opsOf(s.Linear("Query", "A", "Wq", rms("QNorm"))),
}

// Gemma 2 and 3: a norm behind each half, before the residual.
func gemma2(seq bool, moves ...s.Move) s.Schedule {
	return s.Schedule{
		Tensors: tt(io(seq), vec(K, "Norm", "Post", "Norm2", "Post2"), qkvo(), gated()),
		Ops: opsOf(
			s.Copy("X", "A", rms("Norm")),
			s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
			s.Linear("H", "O", "Wo"), s.Copy("R", "H", rms("Post"), s.Add("A")),
			s.Copy("Y", "R", rms("Norm2")),
			s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.GeGLU("U")),
			s.Linear("Z", "G", "Down"), s.Copy("C", "Z", rms("Post2"), s.Add("R"))),
		Moves: moves,
	}
}

var D11Gemma2 = gemma2(true)
var D12Gemma2Decode = gemma2(false, shots("H", "Z")...)

// The norm behind the product's sum in one operation.
var D13Gemma2Short = s.Schedule{
	Tensors: tt(hd("O", M, N), row("Wo", K, N), vec(K, "Post"), sp("A", M, K), sp("C", M, K)),
	Ops:     opsOf(s.Linear("C", "O", "Wo", rms("Post"), s.Add("A"))),
}

// Gemma 1: GeGLU, 1e-6, 256-wide heads.
var D14Gemma = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm", "Norm2"), mat("Angles", M, "256"), qkvo(), gated()),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Query", "X", "Wq", s.Rotary("Angles")), s.Linear("Key", "X", "Wk",
			s.Rotary("Angles")), s.Linear("Value", "X", "Wv"),
		attn(), s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("Y", "R", rms("Norm2")),
		s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.GeGLU("U")), s.Linear("C", "G", "Down", s.Add("R"))),
}

// Mistral 7B with its sizes as constants: 1..8 ranks do not all divide them.
var D15MistralConstants = s.Schedule{
	Tensors: tt(sp("A", M, "4096"), sp("C", M, "4096"), vec("4096",
		"Norm2"), col("Gate", "14336", "4096"), col("Up", "14336", "4096"), row("Down", "4096", "14336")),
	Ops: opsOf(s.Copy("Y", "A", s.RMSNorm("Norm2")), s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate",
		s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
}

// Phi-3: query, key and value are one weight, gate and up too. SwiGLU of the two halves of a row.
var D16Phi3 = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm", "Norm2"), col("Wqkv", N2, K), row("Wo", K, N), col("GateUp", N3, K),
		row("Down", K, F), hd("O", M, N), hd("G", M, F)),
	Ops: opsOf(s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("QKV", "X", "Wqkv"),
		s.Call("O", "Attention", "mz->mq", "QKV"), s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("Y", "R", s.RMSNorm("Norm2")), s.Linear("GU", "Y", "GateUp"),
		s.Call("G", "SwiGLUHalves", "mz->mq", "GU"), s.Linear("C", "G", "Down", s.Add("R"))),
}

// The same fused weight with a SwiGLU of its own halves.
var D17Phi3Halves = s.Schedule{
	Tensors: tt(sp("A", M, K), col("GateUp", N, K), hd("G", M, F)),
	Ops:     opsOf(s.Linear("G", "A", "GateUp", s.SwiGLU(""))),
}

func gpt2(seq bool, act s.Func, moves ...s.Move) s.Schedule {
	return s.Schedule{
		Tensors: tt(io(seq), vec(K, "L1", "L1b", "L2", "L2b", "Bo", "B2"),
			qkvo(), xvec(N, "Bq"), xvec(N2, "Bk", "Bv"), col("W1", F, K), xvec(F, "B1"), row("W2", K, F)),
		Ops: opsOf(s.Copy("X", "A", ln("L1", "L1b")),
			s.Linear("Query", "X", "Wq", s.Bias("Bq")), s.Linear("Key", "X", "Wk",
				s.Bias("Bk")), s.Linear("Value", "X", "Wv", s.Bias("Bv")),
			attn(), s.Linear("R", "O", "Wo", s.Bias("Bo"), s.Add("A")),
			s.Copy("Y", "R", ln("L2", "L2b")), s.Linear("H", "Y", "W1", s.Bias("B1"), act),
			s.Linear("C", "H", "W2", s.Bias("B2"), s.Add("R"))),
		Moves: moves,
	}
}

var D18GPT2 = gpt2(true, s.GELU())
var D19GPT2Decode = gpt2(false, s.GELU(), shots("R", "C")...)
var D20OPT = gpt2(true, s.ReLU())
var D21OPTDecodePackets = gpt2(false, s.ReLU(), mv("R", s.PushShot{}), mv("C", s.PushShot{Words: true}))

// Conv1D weights of GPT-2 lie as [in, out]: Matmul, not Linear.
var D22GPT2Conv1D = s.Schedule{
	Tensors: tt(io(true), t("W1", s.Dim(K), s.Dim(F, X)), xvec(F, "B1"), t("W2", s.Dim(F, X),
		s.Dim(K)), vec(K, "B2")),
	Ops: opsOf(s.Matmul("H", "A", "W1", s.Bias("B1"), s.GELU()), s.Matmul("C", "H", "W2", s.Bias("B2"),
		s.Add("A"))),
}

// GPT-NeoX: attention and MLP read norms of one input, and their partial sums are one all-reduce.
var D23NeoXParallel = s.Schedule{
	Tensors: tt(io(false), vec(K, "L1", "L1b", "L2", "L2b"), qkvo(), col("W1", F, K), xvec(F, "B1"), row("W2", K, F)),
	Ops: opsOf(s.Copy("X", "A", ln("L1", "L1b")), s.Copy("Y", "A", ln("L2", "L2b")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
		s.Linear("H", "Y", "W1", s.Bias("B1"), s.GELU()),
		s.Linear("Pa", "O", "Wo"), s.Linear("C", "H", "W2", s.Add("Pa"), s.Add("A"))),
}

// The same with the residual in the first and the first in the second: two all-reduces.
var D24FalconParallelTwoSums = s.Schedule{
	Tensors: tt(io(false), vec(K, "L1", "L1b"), qkvo(), col("W1", F, K), row("W2", K, F)),
	Ops: opsOf(s.Copy("X", "A", ln("L1", "L1b")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
		s.Linear("Pa", "O", "Wo", s.Add("A")),
		s.Linear("H", "X", "W1", s.GELU()), s.Linear("C", "H", "W2", s.Add("Pa"))),
}

// The same in sequence parallel, with reduce-scatters (GPT-J).
var D25GPTJParallelSP = s.Schedule{
	Tensors: tt(io(true), vec(K, "L1", "L1b", "B2"), qkvo(), col("W1", F, K), xvec(F, "B1"), row("W2", K, F)),
	Ops: opsOf(s.Copy("X", "A", ln("L1", "L1b")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
		s.Linear("Pa", "O", "Wo", s.Add("A")),
		s.Linear("H", "X", "W1", s.Bias("B1"), s.GELU()), s.Linear("C", "H", "W2", s.Bias("B2"), s.Add("Pa"))),
}

// One sum by concatenation: a call lays attention's and the MLP's results side by side.
var D26FalconConcat = s.Schedule{
	Tensors: tt(io(false), vec(K, "L1", "L1b"), col("Wq", N, K), col("Wk",
		N2, K), col("Wv", N2, K), col("W1", F, K), hd("Both", M, N3), row("WoW2", K, N3)),
	Ops: opsOf(s.Copy("X", "A", ln("L1", "L1b")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.Linear("H", "X", "W1", s.GELU()),
		s.Call("Both", "AttentionBeside", "mq,mk,mk,mf->mz", "Query", "Key", "Value", "H"),
		s.Linear("C", "Both", "WoW2", s.Add("A"))),
	Moves: shots("C"),
}

// Command-R: parallel, LayerNorm without a bias.
var D27CommandR = s.Schedule{
	Tensors: tt(io(true), vec(K, "L1"), qkvo(), gated()),
	Ops: opsOf(s.Copy("X", "A", s.Func{Word: "layernorm", Is: s.LayerNorm("L1", "").Is.Of[0]}),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"), attn(),
		s.Linear("Pa", "O", "Wo", s.Add("A")),
		s.Linear("U", "X", "Up"), s.Linear("G", "X", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("Pa"))),
}

// OLMo2: norms behind, none before.
var D28OLMo2 = s.Schedule{
	Tensors: tt(io(true), vec(K, "Post", "Post2"), qkvo(), gated()),
	Ops: opsOf(
		s.Linear("Query", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("Value", "A", "Wv"), attn(),
		s.Linear("H", "O", "Wo"), s.Copy("R", "H", rms("Post"), s.Add("A")),
		s.Linear("U", "R", "Up"), s.Linear("G", "R", "Gate", s.SwiGLU("U")),
		s.Linear("Z", "G", "Down"), s.Copy("C", "Z", rms("Post2"), s.Add("R"))),
}

// BERT: the norm is behind the residual.
var D29BERT = s.Schedule{
	Tensors: tt(io(true), vec(K, "L1", "L1b", "L2", "L2b", "Bo", "B2"),
		qkvo(), xvec(N, "Bq"), xvec(N2, "Bk", "Bv"), col("W1", F, K), xvec(F, "B1"), row("W2", K, F)),
	Ops: opsOf(
		s.Linear("Query", "A", "Wq", s.Bias("Bq")), s.Linear("Key", "A", "Wk",
			s.Bias("Bk")), s.Linear("Value", "A", "Wv", s.Bias("Bv")), attn(),
		s.Linear("R", "O", "Wo", s.Bias("Bo"), s.Add("A")), s.Copy("Y", "R", ln("L1", "L1b").WithEpsilon(1e-12)),
		s.Linear("H", "Y", "W1", s.Bias("B1"), s.GELU()),
		s.Linear("Z", "H", "W2", s.Bias("B2"), s.Add("Y")), s.Copy("C", "Z", ln("L2", "L2b").WithEpsilon(1e-12))),
}

// Norm in the same operation, behind bias and residual.
var D30BERTShort = s.Schedule{
	Tensors: tt(hd("O", M, N), row("Wo", K, N), vec(K, "Bo", "L1", "L1b"), sp("A", M, K), sp("C", M, K)),
	Ops:     opsOf(s.Linear("C", "O", "Wo", s.Bias("Bo"), s.Add("A"), ln("L1", "L1b").WithEpsilon(1e-12))),
}

// T5 encoder: relative position bias is an operand of attention, spread by heads.
var D31T5Encoder = s.Schedule{
	Tensors: tt(io(true), vec(K, "Norm", "Norm2"), qkvo(), t("Rel", s.Dim(N3, X),
		s.Dim("32")), col("Wi", F, K), row("Wf", K, F)),
	Ops: opsOf(s.Copy("X", "A", rms("Norm")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.Call("O", "Attention", "mq,mk,mk,hb->mq", "Query", "Key", "Value", "Rel"),
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("Y", "R", rms("Norm2")),
		s.Linear("H", "Y", "Wi", s.ReLU()), s.Linear("C", "H", "Wf", s.Add("R"))),
}

// T5 v1.1's decoder: self attention, cross attention over an encoder's rows of another number, GeGLU.
var D32T5Decoder = s.Schedule{
	Tensors: tt(io(false), vec(K, "Norm", "NormX", "Norm2"), qkvo(), mat("Enc", P, K), col("Xq", N, K), col("Xk",
		N2, K), col("Xv", N2, K), row("Xo", K, N), gated()),
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

// Whisper's decoder with cached cross keys: they are operands, spread by heads.
var D33WhisperCross = s.Schedule{
	Tensors: tt(io(false), vec(K, "L1", "L1b", "Bo"), col("Wq", N, K), xvec(N, "Bq"), t("CK", s.Dim("1500"),
		s.Dim(N, X)), t("CV", s.Dim("1500"), s.Dim(N, X)), row("Wo", K, N)),
	Ops: opsOf(s.Copy("X", "A", ln("L1", "L1b")), s.Linear("Query", "X", "Wq", s.Bias("Bq")),
		s.Call("O", "CrossAttention", "mq,pq,pq->mq", "Query", "CK", "CV"),
		s.Linear("C", "O", "Wo", s.Bias("Bo"), s.Add("A"))),
	Moves: shots("C"),
}

// MLA: low-rank projections are whole on each rank, the second of each is spread by heads.
func mla(seq bool, moves ...s.Move) s.Schedule {
	return s.Schedule{
		Tensors: tt(io(seq), vec(K, "Norm"), mat("Dq", N2, K), vec(N2,
			"QN"), col("Uq", N, N2), mat("Dkv", N3, K), vec(N3, "KVN"), col("Uk", N, N3), col("Uv", F, N3),
			row("Wo", K, F), hd("O", M, F)),
		Ops: opsOf(s.Copy("X", "A", rms("Norm")),
			s.Linear("Ql", "X", "Dq"), s.Copy("Qn", "Ql", rms("QN")), s.Linear("Query", "Qn", "Uq"),
			s.Linear("KVl", "X", "Dkv"), s.Copy("KVn", "KVl", rms("KVN")), s.Linear("Key",
				"KVn", "Uk"), s.Linear("Value", "KVn", "Uv"),
			s.Call("O", "Attention", "mq,mq,mv->mv", "Query", "Key", "Value"), s.Linear("C", "O", "Wo", s.Add("A"))),
		Moves: moves,
	}
}

var D34MLA = mla(true)
var D35MLADecode = mla(false, shots("C")...)

// MLA with the norm as the product's function.
var D36MLAShort = s.Schedule{
	Tensors: tt(mat("A", M, K), mat("Dq", N2, K), vec(N2, "QN"), col("Uq", N, N2), hd("Query", M, N)),
	Ops:     opsOf(s.Linear("Ql", "A", "Dq", rms("QN")), s.Linear("Query", "Ql", "Uq")),
}

// MLA whose low-rank products are spread too, and gathered by columns between.
var D37MLAGathered = s.Schedule{
	Tensors: tt(mat("A", M, K), col("Dq", N2, K), mat("Ql", M, N2), vec(N2, "QN"), col("Uq", N, N2), hd("Query",
		M, N)),
	Ops: opsOf(s.Linear("Ql", "A", "Dq"), s.Copy("Qn", "Ql", rms("QN")), s.Linear("Query", "Qn", "Uq")),
}

// MLA's compressed cache and the rotated key beside it: one product, split by a call.
var D38MLASequenceShard = s.Schedule{
	Tensors: tt(sp("A", M, K), mat("Dq", N2, K), vec(N2, "QN"), col("Uq", N, N2), hd("Query", M, N)),
	Ops:     opsOf(s.Linear("Ql", "A", "Dq"), s.Copy("Qn", "Ql", rms("QN")), s.Linear("Query", "Qn", "Uq")),
}

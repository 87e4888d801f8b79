package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
)

// Schedules of which the review tells without their text.
var (
	B04Slopes = attending(t("Slopes", s.Dim(N3, X)), "h")
	B06Sinks  = attending(t("Sinks", s.Dim(N3, X)), "h")
	M31Conv   = attending(t("Conv", s.Dim(N3, X), s.Dim("4")), "hc")

	B10OwnProduct = s.Schedule{
		Tensors: tt(hd("A", M, K), row("B", N, K), t("P", s.Dim(D, X), s.Dim(M), s.Dim(N)), mat("C", M, N)),
		Ops:     opsOf(s.Call("P", "MyGEMM", "mk,nk->dmn", "A", "B"), s.Sum("C", "P")),
	}
	B23OtherRows = s.Schedule{
		Tensors: tt(io(false), mat("Enc", N3, K), col("Xk", N, K), col("Wq", N, K), row("Wo", K, N)),
		Ops: opsOf(s.Linear("Query", "A", "Wq"), s.Linear("Key", "Enc", "Xk"),
			s.Call("O", "Attention", "mq,nq->mq", "Query", "Key"), s.Linear("C", "O", "Wo")),
	}
	B25Table = s.Schedule{
		Tensors: tt(io(false), t("Table", s.Dim(N3), s.Dim(F)), mat("E", N3, K), col("Xk", N, K), col("Wq", N, K),
			row("Wo", K, N)),
		Ops: opsOf(s.Linear("Query", "A", "Wq"), s.Call("E", "Positions", "nf->nk", "Table"), s.Linear("Key", "E",
			"Xk"),
			s.Call("O", "Attention", "mq,nq->mq", "Query", "Key"), s.Linear("C", "O", "Wo")),
	}
	M01Columns = s.Schedule{
		Tensors: tt(sp("A", M, K), col("B", N, K), hd("C", M, N)), Ops: opsOf(s.Linear("C", "A", "B")),
	}
	M07Columns = s.Schedule{
		Tensors: tt(sp("A", M, K), hd("B", K, N), hd("C", M, N)), Ops: opsOf(s.Matmul("C", "A", "B")),
	}
	M22LocalAdd = s.Schedule{
		Tensors: tt(mat("A", M, K), col("B", N, K), hd("T", M, N), hd("C", M, N)),
		Ops:     opsOf(s.Linear("C", "A", "B", s.Add("T"))),
	}
	M26GatheredAdd = s.Schedule{
		Tensors: tt(sp("A", M, K), mat("B", N, K), st("T", M, N), st("C", M, N)),
		Ops:     opsOf(s.Linear("C", "A", "B", s.Add("T"))),
	}
	LMHeadNorm = s.Schedule{
		Tensors: tt(mat("A", M, K), vec(K, "Norm"), col("B", N, K), t("C", s.Dim(M, s.Stream(D)), s.Dim(N, X))),
		Ops:     opsOf(s.Copy("X", "A", rms("Norm")), s.Linear("C", "X", "B")),
	}
	GatheredTwice = s.Schedule{
		Tensors: tt(sp("A", M, K), col("B", F, K), row("B2", K, F), col("B3", F, K), row("B4", K, F), sp("C", M, K)),
		Ops: opsOf(s.Linear("H", "A", "B", s.GELU()), s.Linear("R", "H", "B2"), s.Linear("H2", "A", "B3", s.GELU()),
			s.Linear("C", "H2", "B4", s.Add("R"))),
	}
	FunctionOfItself = w17SwiGLUOfItself

	// A sum that is gathered as it is travels twice, by a way each.
	SumGathered  = summedAndGathered(mv("I", s.PushShot{}), mv("I", s.PushGather{}))
	GatheredSum  = summedAndGathered(mv("I", s.PushGather{}), mv("I", s.PushShot{}))
	SummedTwice  = summedAndGathered(mv("I", s.PushShot{}), mv("I", s.Shot{}))
	MovedThrice  = summedAndGathered(mv("I", s.PushShot{}), mv("I", s.PushGather{}), mv("I", s.Pull{}))
	MovedByNoWay = summedAndGathered(mv("I", s.Padded{}))
)

// summedAndGathered are two layers, of which the second reads the sum that ends the first.
func summedAndGathered(moves ...s.Move) s.Schedule {
	return s.Schedule{
		Tensors: tt(sp("A", M, K), col("B", F, K), row("B2", N, F), col("B3", N2, N), row("B4", N3, N2),
			sp("C", M, N3)),
		Ops: opsOf(s.Linear("H", "A", "B", s.ReLU()), s.Linear("I", "H", "B2"),
			s.Linear("J", "I", "B3", s.ReLU()), s.Linear("C", "J", "B4")),
		Moves: append([]s.Move{mv("A", s.PushGather{}), mv("C", s.PushShot{})}, moves...),
	}
}

// attending is a layer whose attention takes a further tensor.
func attending(more s.Tensor, letters string) s.Schedule {
	return s.Schedule{
		Tensors: tt(io(false), qkvo(), more),
		Ops: opsOf(s.Linear("Query", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("Value", "A", "Wv"),
			s.Call("O", "Attention", "mq,mk,mk,"+letters+"->mq", "Query", "Key", "Value", more.Name),
			s.Linear("C", "O", "Wo", s.Add("A"))),
	}
}

// TestCallsAreExplored: calls take keys of P rows, for which the explorer has a number, and a rank's part of a tensor
// that is spread by heads along its first axis.
func TestCallsAreExplored(t *testing.T) {
	for name, x := range map[string]s.Schedule{"A19": A19T5DecoderCachedCross, "D32": D32T5Decoder,
		"D31": D31T5Encoder, "B04": B04Slopes, "B06": B06Sinks, "M31": M31Conv, "A40": A40SharedExpertCall} {
		p, err := lower.Lower("X", x)
		if err != nil {
			t.Fatal(err)
		}
		if explored, err := explore.Small(p, []int{1, 2}, false); err != nil || len(explored) == 0 {
			t.Errorf("%s: explored for %v ranks: %v", name, explored, err)
		}
	}
}

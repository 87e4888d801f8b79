package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/sampling"
)

// plus adds a tensor behind a sum, by a kernel of its own.
func plus(added string) s.Func { return s.Func{Word: "plus", Is: s.Plus(s.Of(added), s.X)} }

// Products of stages, some with functions behind them, and of a layer whose sums have none.
var (
	layersOfTiles = of("A[M/D K] B[F/D K] Bias[F/D] B2[N F/D] C[M/D N]",
		s.Linear("H0", "A", "B", s.Bias("Bias")), s.Copy("H", "H0", s.GELU()), s.Linear("C", "H", "B2"))
	gatedByTiles = of("A[M/D K] G[F/D K] U[F/D K] W[N F/D] Bias[N] R[M/D N] C[M/D N]", s.Linear("Up", "A", "U"),
		s.Linear("Gate", "A", "G", s.SwiGLU("Up")), s.Linear("C", "Gate", "W", s.Bias("Bias"), plus("R")))
	headsOfTiles = of("A[M/D K] Wq[N/D K] Wk[N2/D K] T[M W] Q[M:D N/D] Key[M:D N2/D]",
		s.Linear("Q", "A", "Wq", s.Rotary("T")), s.Linear("Key", "A", "Wk", s.Rotary("T")))
	blockOfTiles = of("O[M K/D] Wo[N K/D] R[M/D N] Norm[N] Wg[F/D N] Wu[F/D N] Wd[N F/D] C[M/D N]",
		s.Linear("X", "O", "Wo", plus("R")), s.Copy("Y", "X", s.RMSNorm("Norm")), s.Linear("U", "Y", "Wu"),
		s.Linear("G", "Y", "Wg", s.SwiGLU("U")), s.Linear("C", "G", "Wd", plus("X")))
)

// layerOfTiles is a layer, with a call before a sum.
var layerOfTiles = of("A[M/D K] Norm[K] Norm2[K] T[M W] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] Wg[F/D K] Wu[F/D K] "+
	"Wd[K F/D] C[M/D K]",
	s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("Q", "X", "Wq", s.Rotary("T")),
	s.Linear("Key", "X", "Wk", s.Rotary("T")), s.Linear("V", "X", "Wv"),
	s.Call("O", "Attention", "mq,mk,mk->mq", "Q", "Key", "V"), s.Linear("R", "O", "Wo", plus("A")),
	s.Copy("Y", "R", s.RMSNorm("Norm2")), s.Linear("U", "Y", "Wu"), s.Linear("G", "Y", "Wg", s.SwiGLU("U")),
	s.Linear("C", "G", "Wd", plus("R")))

// tiledForAll is a product with what its sums for all ranks take beside.
var tiledForAll = of("A[M K/D] B[N K/D] Bias[N] R[M N] Norm[N] C[M N]", s.Linear("C", "A", "B", s.Bias("Bias"),
	s.Add("R"), s.RMSNorm("Norm"))).byTiles("C")

// byTiles is the form with tiles for some tensors, of types that tiles are of.
func (f form) byTiles(of ...string) form {
	for _, name := range of {
		f = f.by(name, s.Tiles{})
	}
	return f.types(s.BF16, s.FP16)
}

// TestTilesOfStages: one kernel brings the rows of a stage and makes its first product, or makes its last and adds up,
// beside whatever else the stage does, and whichever ways the other tensors travel by.
func TestTilesOfStages(t *testing.T) {
	sampling.Test(t, 2, 3)
	for _, x := range []struct {
		name string
		form
	}{
		{"alone, into the caller's memory", form{catalog.AllGatherLinear}.copied()},
		{"three products of the rows", form{catalog.AllGatherQKV}.byTiles("A")},
		{"columns", linear("A[M/D K] B[N/D K] Bias[N/D] C[M:D N/D]").byTiles("A")},
		{"columns of the caller's, all of them", linear("A[M/D K] B[N/D K] C[M N]").byTiles("A")},
		{"heads that are turned behind", headsOfTiles.byTiles("A")},
		{"rows that another stage takes too", of("A[M/D K] B[N/D K] B2[K N/D] B3[N2/D K] C[M/D K] C3[M:D N2/D]",
			s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"), s.Linear("C3", "A", "B3")).byTiles("A")},
		{"two layers", layersOfTiles.byTiles("A", "C")},
		{"two layers, and slots", layersOfTiles.byTiles("A")},
		{"two layers, the second by tiles", layersOfTiles.byTiles("C")},
		{"rows that are pushed", layersOfTiles.by("A", s.Push{}).byTiles("C")},
		{"rows that go round", layersOfTiles.by("A", s.Ring{Direction: s.Backward}).byTiles("C")},
		{"rows that are there at once", layersOfTiles.by("A", s.Pull{Once: true}).byTiles("C")},
		{"packets before", layersOfTiles.by("A", s.PushGather{}).byTiles("C")},
		{"packets behind", layersOfTiles.by("C", s.PushShot{}).byTiles("A")},
		{"stores behind", layersOfTiles.by("C", s.Stores{Signals: s.MemOps}).byTiles("A")},
		{"NCCL behind", layersOfTiles.by("C", s.NCCL{}).byTiles("A")},
		{"all rows behind", of("A[M/D K] B[F/D K] B2[N F/D] C[M N]", s.Linear("H", "A", "B"),
			s.Linear("C", "H", "B2")).byTiles("A")},
		{"sums for all", linear("A[M K/D] B[N K/D] C[M N]").byTiles("C")},
		{"sums for all behind rows, and on", of("A[M/D K] B[F/D K] B2[N F/D] Norm[N] Y[M N] B3[P/D N] C[M P/D]",
			s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Copy("Y", "X", s.RMSNorm("Norm")),
			s.Linear("C", "Y", "B3")).byTiles("A", "X")},
		{"sums for all, with a bias, a residual and a norm", tiledForAll},
		{"gate and up", gatedByTiles.byTiles("A", "C")},
		{"a sum alone, and a function behind it", of("A[M K/D] B[N K/D] Bias[N] C[M/D N]",
			s.Linear("C", "A", "B", s.Bias("Bias"), s.SquaredReLU())).byTiles("C")},
		{"a residual", of("A[M/D K] B[F/D K] B2[N F/D] R[M/D N] C[M/D N]", s.Linear("H", "A", "B"),
			s.Linear("C", "H", "B2", s.Add("R"))).byTiles("C")},
		{"a residual and a bias", of("A[M K/D] B[N K/D] Bias[N] R[M/D N] C[M/D N]",
			s.Linear("C", "A", "B", s.Add("R"), s.Bias("Bias"))).byTiles("C")},
		{"a bias and a residual", form{catalog.RowParallelLinear}.byTiles("C")},
		{"a bias, a gate and two residuals", of("A[M K/D] B[N K/D] Bias[N] G[M/D N] R[M/D N] R2[M/D N] C[M/D N]",
			s.Linear("C", "A", "B", s.Bias("Bias"), s.SwiGLU("G"), s.Add("R"), s.Add("R2"))).byTiles("C")},
		{"a block", blockOfTiles.byTiles("X", "Y", "C")},
		{"a block, its gather", blockOfTiles.byTiles("Y")},
		{"a block, its sums", blockOfTiles.byTiles("X", "C")},
		{"a layer", layerOfTiles.byTiles("X", "R", "Y", "C")},
		{"a layer and the rows that it gathers", of("A[M/D K] B[F/D K] B2[N F/D] C[M/D N] Rows[M:D K]",
			s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"), s.Copy("Rows", "A")).byTiles("A", "C")},
		{"a gradient of the rows", of("A[M/D K] B[N/D K] C[M:D N/D] Dy[M N2] Dw[N2 K]", s.Linear("C", "A", "B"),
			s.Gradient("Dw", "Dy", "A")).byTiles("A")},
		{"a layer, its sums", layerOfTiles.byTiles("R", "C")},
		{"a weight that is fetched", of("A[M/D K] B[F/D K] H[M/D F] B2[N F] B3[N2/D N] C[M:D N2/D]",
			s.Linear("H", "A", "B"), s.Linear("T", "H", "B2"), s.Linear("C", "T", "B3")).byTiles("T")},
	} {
		isCrossed(t, x.name, x.Schedule, 1, 2, 3, 4, 5, 6, 7, 8)
	}
}

// copied is the form with tiles, whose gathered rows the caller gets.
func (f form) copied() form {
	f.Schedule = scheduletest.Clone(f.Schedule)
	f.Tensors = append(f.Tensors, scheduletest.Tensors("Gathered[M:D K]")...)
	f.Ops = append(f.Ops, s.Copy("Gathered", "A"))
	return f.byTiles("A")
}

// noTiles are stages that no kernel of tiles makes.
var noTiles = []declared{
	{"fp32", "the tensor cores take 16 bits", layersOfTiles.byTiles("A").types(s.BF16, s.FP32),
		at("Moves[0].Way", "tiles are made of bf16 and fp16 (set Types to those, or use schedule.Pull)")},
	{"a matmul", "its weight lies as [K, N]", of("A[M/D K] B[K F/D] B2[N F/D] C[M/D N]", s.Matmul("H", "A", "B"),
		s.Linear("C", "H", "B2")).byTiles("A"), at("Moves[0].Way", "and H is a matmul (use schedule.Pull)")},
	{"a matmul's sum", "likewise", of("A[M/D K] B[F/D K] B2[F/D N] C[M/D N]", s.Linear("H", "A", "B"),
		s.Matmul("C", "H", "B2")).byTiles("C"), at("Moves[0].Way", "and C is a matmul (use schedule.Slots)")},
	{"an activation", "the kernel adds a bias alone", mlp("A[M/D K] B[F/D K] B2[N F/D] C[M/D N]").byTiles("A"),
		at("Moves[0].Way",
			`applies no gelu (use schedule.Pull, or give it an operation of its own: schedule.Copy("H", "H0"`)},
	{"a sum in fp32", "the kernel rounds it", form{catalog.MixedMLP}.byTiles("C"),
		at("Moves[0].Way", "the kernel that makes tiles of C rounds them (use schedule.Slots)")},
	{"clusters", "blocks that wait must all run", layersOfTiles.by("C", s.Tiles{Cluster: 2}).types(s.BF16),
		at("Moves[0].Way.Cluster", "sums wait for all blocks of the peers")},
	{"odd columns", "of a tile", layersOfTiles.by("C", s.Tiles{Columns: 72}).types(s.BF16),
		at("Moves[0].Way.Columns", "a tile has a multiple of 16 columns")},
	{"a gradient", "its operand's columns are its rows", gradient("A[M/D N] B[M/D K] C[N K]").byTiles("C"),
		at("Moves[0].Way", "it makes tiles of linears")},
	{"batches", "one launch takes all rows", form{catalog.TensorParallelMLPBatches}.byTiles("C"),
		at("Moves[0].Way", "its kernel takes each rank's rows in one piece, and those of batches lie apart")},
	{"uneven rows", "maps are of shards of one size", form{catalog.AllGatherLinearBalanced}.byTiles("A"),
		at("Moves[0].Way", "no pass does the all-gather of balanced rows of A by Tiles")},
	{"hosts", "kernels reach one host's memory", form{catalog.AllGatherLinearHosts}.byTiles("A"),
		at("Moves[0].Way", "no pass does the all-gather over hosts of A by Tiles")},
	{"rows that nothing multiplies", "a kernel of tiles makes a product", form{P32GatherKV}.byTiles("Key"),
		at("Moves[0].Way", "no product is made of Key as its rows come (use schedule.Pull)")},
	{"odd constants", "rows of units of 16 bytes", linear("A[M/D 100] B[N 100] C[M:D N]").byTiles("A"),
		at("Tensors[0].Axes[1].Extent", "100 is no multiple of 8")},
}

// TestNoTiles: what a kernel of tiles can't do is refused with the fact, at its way.
func TestNoTiles(t *testing.T) {
	for i := range noTiles {
		if _, err := noTiles[i].holds(t); err != nil {
			t.Errorf("%s, %s: %v", noTiles[i].id, noTiles[i].what, err)
		}
	}
}

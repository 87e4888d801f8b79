package served

import (
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/verify/sampling"
)

// squared is the form with rows of eight bits whose scales lie block by block, and weights with one for each square.
func (f form) squared(rows, weight string) form {
	f = f.eight(true, rows, weight)
	for i, t := range f.Tensors {
		of, scales := f.ScaledBy(t.Name)
		if !scales {
			continue
		}
		last := of.Axes[1]
		block, first := s.Axis{Extent: s.Blocks(last.Extent, 128), Outer: last.Outer}, of.Axes[0]
		if f.Tensors[i].Axes = []s.Axis{block, first}; of.Name == weight {
			f.Tensors[i].Axes = []s.Axis{{Extent: s.Blocks(first.Extent, 128), Outer: first.Outer}, block}
		}
	}
	return f
}

// inSquares is the layer that most of these change.
func inSquares() form { return linear("A[M/D K] B[N/D K] C[M:D N/D]").squared("A", "B") }

// squareSums are sums for each rank's rows.
func squareSums() form { return linear("A[M K/D] B[N K/D] C[M/D N]").squared("A", "B") }

// quantisedInSquares makes eight bits of 16 for it.
func quantisedInSquares(functions ...s.Func) form {
	return of("A[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]", s.Copy("Q", "A", functions...),
		s.Linear("C", "Q", "B")).squared("Q", "B")
}

// apart: what takes a part of the rows finds their scales apart.
func apart(rows string) verdict {
	return at("Tensors", "the scales of "+rows+" lie block by block, and those of a part of its rows do not lie "+
		"together")
}

// otherwise: the scales of A and B are not those of blocks and of squares.
var otherwise = at("Ops[0]", "scales of blocks are [K/128, M] for rows and [N/128, K/128] for their weight, and "+
	"those of A and B are otherwise (give all operands scales of rows, or place these so)")

// squares are schedules of products with scales of blocks.
var squares = []declared{
	{"S01", "own rows", linear("A[M/D K] B[N K] C[M/D N]").squared("A", "B"), served},
	{"S02", "rows that travel", inSquares(), served},
	{"S03", "in parts", inSquares().by("A", s.Pull{Parts: 2}), apart("A")},
	{"S04", "all rows at once", inSquares().by("A", s.Pull{Once: true}), apart("A")},
	{"S05", "on a ring", inSquares().by("A", s.Ring{}), served},
	{"S06", "on a ring, put", inSquares().by("A", s.PushRing{}), served},
	{"S07", "pushed", inSquares().by("A", s.Push{}), served},
	{"S07b", "balanced rows", balanced(linear("A[M/D K] B[N K] C[M N]"), "A").squared("A", "B"),
		at("Tensors[3].Axes[1].Outer[0].Balanced", "only rows are in balanced parts, and SA has such parts of another "+
			"axis (leave it and Uneven out)")},
	{"S08", "by NCCL", inSquares().by("A", s.NCCL{}), apart("A")},
	{"S09", "by one kernel", inSquares().by("A", s.GatherShot{}), apart("A")},
	{"S09b", "by kernels", inSquares().by("A", s.Pull{By: s.KernelCopies}), served},
	{"S10", "quantised", quantisedInSquares(s.Quantise().PerHead("128")), served},
	{"S11", "behind a function", quantisedInSquares(s.SiLU(), s.Quantise().PerHead("128")), served},
	{"S12", "behind a norm", of("A[M/D K] Norm[K] Q[M/D K] B[N/D K] C[M:D N/D]", s.Copy("Q", "A", s.RMSNorm("Norm"),
		s.Quantise().PerHead("128")), s.Linear("C", "Q", "B")).squared("Q", "B"), at("Ops[0].Then[1]",
		"no kernel makes rmsnorm and then quantise per head")},
	{"S12b", "behind a norm of its own", of("A[M/D K] Norm[K] X[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.RMSNorm("Norm")), s.Copy("Q", "X", s.Quantise().PerHead("128")),
		s.Linear("C", "Q", "B")).squared("Q", "B"), served},
	{"S13", "sums for all ranks", linear("A[M K/D] B[N K/D] C[M N]").squared("A", "B"), served},
	{"S13b", "sums for all ranks in two shots", linear("A[M K/D] B[N K/D] C[M N]").squared("A", "B").by("C",
		s.TwoShot{}), served},
	{"S13c", "sums for all ranks in two shots of packets", linear("A[M K/D] B[N K/D] C[M N]").squared("A", "B").by("C",
		s.PushTwoShot{}), served},
	{"S13d", "sums of codes for all ranks", of("A[M K/D] B[N K/D] Q[D/D M N] C[M N]", s.LinearPartial("P", "A", "B"),
		s.Copy("Q", "P", s.Quantise()), s.Sum("C", "Q")).squared("A", "B").eight(true, "Q"), served},
	{"S14", "sums for their ranks", squareSums(), served},
	{"S14b", "sums for their ranks by slots", squareSums().by("C", s.Slots{}),
		at("Moves[0].Way", "Slots takes a part of the rows that are summed to C, and their scales lie block by block "+
			"(give each row a scale, or use schedule.Shot, schedule.PushShot, schedule.NCCL)")},
	{"S14c", "sums for their ranks as packets", squareSums().by("C", s.PushShot{}), served},
	{"S14d", "sums for their ranks by NCCL", squareSums().by("C", s.NCCL{}), served},
	{"S14e", "sums of codes for their ranks", of("A[M K/D] B[N K/D] Q[D/D M N] C[M/D N]",
		s.LinearPartial("P", "A", "B"), s.Copy("Q", "P", s.Quantise()), s.Sum("C", "Q")).squared("A", "B").
		eight(true, "Q"), served},
	{"S14f", "sums for their ranks of what is quantised", of("A[M K/D] Q[M K/D] B[N K/D] C[M/D N]",
		s.Copy("Q", "A", s.Quantise().PerHead("128")), s.Linear("C", "Q", "B")).squared("Q", "B"), served},
	{"S14g", "sums for their ranks of what is gated", of("X[M K/D] Y[M K/D] Q[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Copy("Q", "X", s.SwiGLU("Y"), s.Quantise().PerHead("128")), s.Linear("C", "Q", "B", s.Add("R"))).
		squared("Q", "B"), served},
	{"S15", "uneven rows", linear("A[M/D~P K] B[N K] C[M N]").squared("A", "B"), at("Tensors",
		"the scales of A lie block by block, and those of a part of its rows do not lie together")},
	{"S16", "balanced rows", linear("A[M/D^ K] B[N K] C[M N]").squared("A", "B"), at("Tensors[2]",
		"C is [M, N], and the operations leave it otherwise")},
	{"S17", "packets", linear("A[M K/D] B[N K/D] C[M N]").squared("A", "B").by("C", s.PushShot{}), served},

	{"S30", "quantised by rows", quantisedInSquares(s.Quantise()), at("Tensors[1].Type",
		"SQ is [K/128, DIDx(D), M/D], and the last function divides otherwise (end its functions with "+
			"schedule.Quantise().PerHead(\"128\"))")},
	{"S31", "a weight alone", linear("A[M/D K] B[N/D K] C[M:D N/D]").squared("", "B"), served},
	{"S31b", "a weight alone, and sums", linear("A[M K/D] B[N K/D] C[M N]").squared("", "B"), served},
	{"S31c", "a weight alone, by tiles", linear("A[M/D K] B[N/D K] C[M:D N/D]").squared("", "B").by("A", s.Tiles{}),
		at("Moves[0].Way", "no kernel of its way takes the scales of B along")},
	{"S32", "rows beside squares", inSquares().changed("SA", func(t *s.Tensor) { t.Axes = t.Axes[1:] }), otherwise},
	{"S33", "blocks beside rows", inSquares().changed("SB", func(t *s.Tensor) {
		t.Axes = []s.Axis{s.Dim(s.N, s.DIDx(s.D))}
	}), otherwise},
	{"S34", "blocks on both sides", inSquares().changed("SB", func(t *s.Tensor) {
		t.Axes = []s.Axis{t.Axes[1], s.Dim(s.N, s.DIDx(s.D))}
	}), otherwise},
	{"S35", "squares on both sides", inSquares().changed("SA", func(t *s.Tensor) {
		t.Axes = []s.Axis{s.Dim(s.Blocks(s.M, 128), s.DIDx(s.D)), t.Axes[0]}
	}), otherwise},
	{"S36", "blocks of 64", inSquares().changed("SA", func(t *s.Tensor) {
		t.Axes[0].Extent = s.Blocks(s.K, 64)
	}), at("Tensors[3]", "SA is [K/64, DIDx(D), M/D], and scales of A are one, or lie as its rows do")},
	{"S37", "read by a function", of("Q[M/D N] C[M:D N]", s.Copy("C", "Q", s.Dequantise("SQ"))).squared("Q", ""),
		at("Ops[0]", "SQ is [N/128, DIDx(D), M/D], and functions read scales that lie as rows do "+
			"(let scales of blocks lie side by side, or multiply Q)")},
	{"S38", "copied", moved("A[M/D N] C[M N]").squared("A", "").eight(true, "C"), at("Tensors[1].Scale",
		"a copy changes no bit (give both scales of the same blocks, which lie side by side)")},
}

// TestSquares holds each against its verdict. The explorer takes seconds, and agrees on some.
func TestSquares(t *testing.T) {
	sampling.Test(t, 2, 3)
	for i := range squares {
		d := &squares[i]
		if slices.Contains([]string{"S01", "S02", "S13b", "S13c", "S13d", "S14", "S14e", "S14f"}, d.id) {
			explored(t, "Squares", squares[i:i+1])
			continue
		}
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s %s: %v", d.id, d.what, err)
		}
	}
}

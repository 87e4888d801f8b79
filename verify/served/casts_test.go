package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/verify/sampling"
)

// in32 is the form with tensors of fp32.
func (f form) in32(names ...string) form {
	for _, name := range names {
		f = f.changed(name, func(t *s.Tensor) { t.Type = s.FP32 })
	}
	return f
}

// casts are chains with tensors of fp32 in plans of other types.
var casts = []declared{
	{"a cast before a gather", "half of the bytes travel", of("A[M/D K] B[N K] C[M:D N]",
		s.Copy("X", "A", s.Rounded()), s.Linear("C", "X", "B")).in32("A"), served},
	{"a cast, a norm and a gather", "the norm is of rounded rows", of("A[M/D K] Norm[K] B[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.Rounded()), s.Copy("Y", "X", s.RMSNorm("Norm")), s.Linear("C", "Y", "B")).in32("A"),
		served},
	{"a cast and an activation", "two kernels", of("A[M/D K] B[N K] C[M:D N]",
		s.Copy("X", "A", s.Rounded(), s.SiLU()), s.Linear("C", "X", "B")).in32("A"), served},
	{"a reduce-scatter in fp32", "partial results are rounded, and their sum is not", of("A[M K/D] B[N K/D] C[M/D N]",
		s.Linear("C", "A", "B")).in32("C"), served},
	{"a reduce-scatter in fp32 with a residual and a bias", "added before the cast", of(
		"A[M K/D] B[N K/D] R[M/D N] Bias[N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"), s.Bias("Bias"))).in32("C"), served},
	{"an all-reduce in fp32", "sums are copied as they are", of("A[M K/D] B[N K/D] C[M N]",
		s.Linear("C", "A", "B")).in32("C"), served},
	{"an MLP between tensors of fp32", "that of the catalog, of all rows", of("A[M K] B[F/D K] B2[N F/D] C[M N]",
		s.Copy("X", "A", s.Rounded()), s.Linear("H", "X", "B", s.SiLU()), s.Linear("C", "H", "B2")).
		in32("A", "C"), served},
	{"by one shot", "a kernel of its own between signals", of("A[M K/D] B[N K/D] C[M/D N]",
		s.Linear("C", "A", "B")).in32("C").by("C", s.Shot{}), served},
	{"by one shot for all", "likewise", of("A[M K/D] B[N K/D] R[M N] C[M N]", s.Linear("C", "A", "B", s.Add("R"))).
		in32("C").by("C", s.Shot{Signals: s.MemOps}), served},
	{"by two shots", "parts of rows", of("A[M K/D] B[N K/D] C[M N]", s.Linear("C", "A", "B")).
		in32("C").by("C", s.TwoShot{}), served},
	{"by one kernel", "it rounds", of("A[M K/D] B[N K/D] C[M/D N]", s.Linear("C", "A", "B")).
		in32("C").by("C", s.Shot{Signals: s.OneKernel}), at("Moves[0].Way.Signals",
		"no kernel of a whole shot keeps the sums of C in fp32")},
	{"by packets", "a kernel of its own adds up what lands", of("A[M K/D] B[N K/D] C[M/D N]",
		s.Linear("C", "A", "B")).in32("C").by("C", s.PushShot{}), served},
	{"by packets for all, with a gate and a residual", "likewise", of("A[M K/D] B[N K/D] U[M N] R[M N] C[M N]",
		s.Linear("C", "A", "B", s.SwiGLU("U"), s.Add("R"))).in32("R", "C").by("C", s.PushShot{}), served},
	{"by plain data", "the kernel adds up what lands, and rounds", of("A[M K/D] B[N K/D] C[M N]",
		s.Linear("C", "A", "B")).in32("C").by("C", s.PushShot{Words: true}),
		at("Moves[0].Way.Words", "no kernel of plain data keeps the sums of C in fp32 (leave it out")},
	{"by packets there and back", "what comes back is of fp32", of("A[M K/D] B[N K/D] C[M N]",
		s.Linear("C", "A", "B")).in32("C").by("C", s.PushTwoShot{}), served},
	{"by packets there and back, with a gate and a row", "beside each rank's part", of(
		"A[D/D M N] U[M N] V[N] C[M N]", s.Sum("C", "A", s.SwiGLU("U"), s.Bias("V"))).
		in32("C").by("C", s.PushTwoShot{}), served},
	{"a gradient in fp32 by packets", "of all rows", gradient("A[M/D N] B[M/D K] C[N K]").in32("C").
		by("C", s.PushTwoShot{}), served},
	{"by stores, with a residual", "signals by a kernel of their own", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"))).in32("C").by("C", s.Stores{}), served},
	{"a gradient in fp32", "by one shot, and by two", gradient("A[M/D N] B[M/D K] C[N/D K]").in32("C"), served},
	{"a gradient in fp32 for all", "likewise", gradient("A[M/D N] B[M/D K] C[N K]").in32("C"), served},
	{"by NCCL", "it rounds", of("A[M K/D] B[N K/D] C[M/D N]", s.Linear("C", "A", "B")).
		in32("C").by("C", s.NCCL{}), at("Moves[0].Way", "NCCL rounds the sums of C to the type of the plan")},
	{"by NCCL, with a residual", "it rounds, and what follows does not", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"))).in32("C").by("C", s.NCCL{}), served},
	{"by NCCL for all, with a gate and a residual", "likewise", of("A[M K/D] B[N K/D] U[M N] R[M N] C[M N]",
		s.Linear("C", "A", "B", s.SwiGLU("U"), s.Add("R"))).in32("C").by("C", s.NCCL{}), served},
	{"in parts by NCCL, with a residual in fp32", "likewise", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"))).in32("C", "R").by("C", s.NCCL{Parts: 3}), served},
	{"summed by NCCL, with a row", "likewise", of("A[D/D M N] V[N] C[M N]", s.Sum("C", "A", s.Bias("V"))).
		in32("C").by("C", s.NCCL{}), served},
	{"round a ring, with a residual", "likewise", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"))).in32("C").by("C", s.RingSum{}), served},
	{"in products round a ring, with a gate", "likewise", of("A[M K/D] B[N K/D] U[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.SwiGLU("U"))).in32("C", "U").by("C", s.RingAccumulate{}), served},
	{"a function of fp32", "its kernel takes either type", of("A[M/D K] B[N K] C[M:D N]", s.Copy("X", "A", s.SiLU()),
		s.Linear("C", "X", "B")).in32("A"), served},
	{"a norm of fp32", "likewise", of("A[M/D K] Norm[K] B[N K] C[M:D N]", s.Copy("X", "A", s.RMSNorm("Norm")),
		s.Linear("C", "X", "B")).in32("A"), served},
	{"a residual stream in fp32", "read and made by kernels of their own", of(
		"A[M/D K] Norm[K] B[F/D K] B2[K F/D] C[M/D K]", s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("H", "X", "B"),
		s.Linear("Y", "H", "B2"), s.Copy("C", "Y", s.Add("A"))).in32("A", "C"), served},
	{"a norm behind a sum, in fp32", "the sum is rounded, and the norm is not", of("A[M K/D] B[N K/D] Norm[N] C[M/D N]",
		s.Linear("C", "A", "B", s.RMSNorm("Norm"))).in32("C"), served},
	{"a product of fp32", "the library takes one type", of("A[M/D K] B[N K] C[M:D N]", s.Linear("C", "A", "B")).
		in32("A"), at("Tensors[0].Type", "only functions that a kernel of its own makes take a tensor of fp32")},
	{"a bare sum in fp32", "the kernel that adds up keeps it", sum("A[D/D M N] C[M/D N]").in32("C"), served},
	{"a residual of fp32", "beside partial results of 16 bits", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"))).in32("R", "C"), served},
	{"fp32 that is gathered as well", "a cast and a product read it", of("A[M/D K] B[N K] C[M:D N] C2[M:D N]",
		s.Copy("X", "A", s.Rounded()), s.Linear("C", "X", "B"), s.Linear("C2", "A", "B")).in32("A"),
		at("Tensors[0].Type", "only functions that a kernel of its own makes take a tensor of fp32")},
	{"fp32 in place of another tensor", "its elements have other places", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"))).in32("C").within("C", "R"),
		at("Tensors[3].Type", "no tensor of fp32 lies in the place of another one")},
	{"another type of its own", "bf16", of("A[M K/D] B[N K/D] C[M/D N]", s.Linear("C", "A", "B")).
		changed("C", func(t *s.Tensor) { t.Type = s.BF16 }),
		at("Tensors[2].Type", "no pass lowers a tensor with an element type of its own")},
	{"a function that does nothing", "a copy, of the plan's type", of("A[M/D K] B[N K] C[M:D N]",
		s.Copy("X", "A", s.Rounded()), s.Linear("C", "X", "B")), served},
	{"a bias behind a sum that is kept", "in fp32 until it is rounded, once", of(
		"A[M K/D] B[N K/D] Bias[N] C[M/D N]", s.Linear("C", "A", "B", s.Rounded(), s.Bias("Bias"))).in32("C"), served},
	{"a product in fp32", "no partial results meet", of("A[M/D K] B[N/D K] C[M:D N/D]",
		s.Linear("C", "A", "B")).in32("C"), at("Tensors[2].Type", "and the linear of A and B has none")},
}

// TestCasts holds each chain with a cast against its verdict.
func TestCasts(t *testing.T) {
	sampling.Test(t, 1, 3)
	for i := range casts {
		d := &casts[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
	}
}

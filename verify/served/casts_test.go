package served

import (
	"testing"

	s "ovgen/schedule"
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
		s.Copy("X", "A", s.FromFP32()), s.Linear("C", "X", "B")).in32("A"), served},
	{"a cast, a norm and a gather", "the norm is of rounded rows", of("A[M/D K] Norm[K] B[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.FromFP32()), s.Copy("Y", "X", s.RMSNorm("Norm")), s.Linear("C", "Y", "B")).in32("A"),
		served},
	{"a cast and an activation", "two kernels", of("A[M/D K] B[N K] C[M:D N]",
		s.Copy("X", "A", s.FromFP32(), s.SiLU()), s.Linear("C", "X", "B")).in32("A"), served},
	{"a reduce-scatter in fp32", "partial results are rounded, and their sum is not", of("A[M K/D] B[N K/D] C[M/D N]",
		s.Linear("C", "A", "B", s.ToFP32())).in32("C"), served},
	{"a reduce-scatter in fp32 with a residual and a bias", "added before the cast", of(
		"A[M K/D] B[N K/D] R[M/D N] Bias[N] C[M/D N]", s.Linear("C", "A", "B", s.Add("R"), s.Bias("Bias"),
			s.ToFP32())).in32("C"), served},
	{"an all-reduce in fp32", "sums are copied as they are", of("A[M K/D] B[N K/D] C[M N]",
		s.Linear("C", "A", "B", s.ToFP32())).in32("C"), served},
	{"an MLP between tensors of fp32", "that of the catalog, of all rows", of("A[M K] B[F/D K] B2[N F/D] C[M N]",
		s.Copy("X", "A", s.FromFP32()), s.Linear("H", "X", "B", s.SiLU()), s.Linear("C", "H", "B2", s.ToFP32())).
		in32("A", "C"), served},
	{"by one shot", "its kernel rounds", of("A[M K/D] B[N K/D] C[M/D N]", s.Linear("C", "A", "B", s.ToFP32())).
		in32("C").by("C", s.Shot{}), at("Moves[0].Way", "no kernel of one shot keeps the sums of C in fp32")},
	{"by NCCL", "it rounds", of("A[M K/D] B[N K/D] C[M/D N]", s.Linear("C", "A", "B", s.ToFP32())).
		in32("C").by("C", s.NCCL{}), at("Moves[0].Way", "NCCL rounds the sums of C to the type of the plan")},
	{"a product of fp32", "the library takes one type", of("A[M/D K] B[N K] C[M:D N]", s.Copy("X", "A", s.SiLU()),
		s.Linear("C", "X", "B")).in32("A"), at("Tensors[0].Type", "only casts take a tensor of fp32 in plans")},
	{"a residual of fp32", "the kernel that sums takes one type", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"), s.ToFP32())).in32("R", "C"),
		at("Tensors[2].Type", "only casts take a tensor of fp32 in plans")},
	{"fp32 that is gathered as well", "a cast and a product read it", of("A[M/D K] B[N K] C[M:D N] C2[M:D N]",
		s.Copy("X", "A", s.FromFP32()), s.Linear("C", "X", "B"), s.Linear("C2", "A", "B")).in32("A"),
		at("Tensors[0].Type", "only casts take a tensor of fp32 in plans")},
	{"fp32 in place of another tensor", "its elements have other places", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"), s.ToFP32())).in32("C").within("C", "R"),
		at("Tensors[3].Type", "only casts take a tensor of fp32 in plans")},
	{"another type of its own", "bf16", of("A[M K/D] B[N K/D] C[M/D N]", s.Linear("C", "A", "B")).
		changed("C", func(t *s.Tensor) { t.Type = s.BF16 }),
		at("Tensors[2].Type", "no pass lowers a tensor with an element type of its own")},
	{"a cast of the plan's type", "nothing says fp32", of("A[M/D K] B[N K] C[M:D N]", s.Copy("X", "A", s.FromFP32()),
		s.Linear("C", "X", "B")), at("Ops[0].Then[0]", "A has the type of the plan")},
	{"a sum in fp32 that is not declared so", "the plan's type", of("A[M K/D] B[N K/D] C[M/D N]",
		s.Linear("C", "A", "B", s.ToFP32())), at("Ops[0].Then[0]", "C has the type of the plan")},
	{"a function behind a cast to fp32", "no kernel has it", of("A[M K/D] B[N K/D] Bias[N] C[M/D N]",
		s.Linear("C", "A", "B", s.ToFP32(), s.Bias("Bias"))).in32("C"),
		at("Ops[0].Then[0]", "tofp32 can't stand there")},
	{"a cast behind a product", "it begins a copy", of("A[M/D K] B[N K] C[M:D N]",
		s.Linear("C", "A", "B", s.FromFP32())).in32("A"), at("Ops[0].Then[0]", "fromfp32 can't stand there")},
	{"a product in fp32", "no partial results meet", of("A[M/D K] B[N/D K] C[M:D N/D]",
		s.Linear("C", "A", "B", s.ToFP32())).in32("C"),
		at("Ops[0].Then[0]", "no pass applies tofp32 to what leaves the linear C")},
}

// TestCasts holds each chain with a cast against its verdict.
func TestCasts(t *testing.T) {
	for i := range casts {
		d := &casts[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
	}
}

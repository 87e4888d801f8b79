package run

import (
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/harness"
	"ovgen/verify/reading"
)

// TestCollective holds the bytes that bandwidths are of against nccl-tests' rules.
func TestCollective(t *testing.T) {
	const ranks = 4
	s := harness.Shape{M: 16, K: 1, N: 8, Type: driver.BF16}
	for name, want := range map[string]collective{
		"allgather":        {"all-gather", 16 * 8 * 2, 0.75},
		"reducescatter":    {"reduce-scatter", 16 * 8 * 2, 0.75},
		"allreduceoneshot": {"all-reduce", 16 * 8 * 2, 1.5},
		"broadcast":        {"broadcast", 16 * 8 * 2, 1},
		"alltoall":         {"all-to-all", 4 * 16 * 2, 0.75},
		"permutation":      {"send and receive", 4 * 8 * 2, 1},
	} {
		p := generated(t, name)
		x, err := p.Problem(s, ranks)
		if err != nil {
			t.Fatal(err)
		}
		l := &lab{Tensors: &harness.Tensors{Program: &p, Shape: s, Problem: x,
			Parts: map[string]reading.Part{}}}
		for _, tensor := range p.Schedule.Tensors {
			l.Parts[tensor.Name], err = x.Part(tensor.Name, 0)
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, ok := l.collective(ranks); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestPlacements(t *testing.T) {
	for name, want := range map[string]string{
		"broadcast": "A [M, N] on rank 0 -> C [M, N]  [fp32] only",
		"tensorparallelmlp": "A [DIDx(D), M/D, K]  B [DIDx(D), F/D, K]  Bias [DIDx(D), F/D]  B2 [N, DIDx(D), F/D] -> " +
			"C [DIDx(D), M/D, N]  [fp32] only",
	} {
		p := generated(t, name)
		p.Types = []driver.Type{driver.FP32}
		if got := placements(&p); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

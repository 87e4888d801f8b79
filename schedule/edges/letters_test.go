package edges_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	s "ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/scheduletest"
)

// asked is a schedule, and its edges or the beginning of its refusal.
type asked struct {
	name, tensors string
	ops           []s.Op
	want          string
}

var linear = []s.Op{s.Linear("C", "A", "B")}

var letters = []asked{
	{"rows travel to a whole weight", "A[M/D K] B[N K] C[M:D N]", linear, "A: all-gather, axis 0 -> whole"},
	{"rows travel, and columns of the result", "A[M/D K] B[N/D K] C[M N]", linear,
		"A: all-gather, axis 0 -> whole; C: all-gather, axis 1 -> whole"},
	{"own rows ask for the weight", "A[M/D K] B[N/D K] C[M/D N]", linear, "B: all-gather, axis 0 -> whole"},
	{"columns of a weight meet rows", "A[M/D K] B[N K/D] C[M/D N]", linear, "B: all-gather, axis 1 -> whole"},
	{"both operands along the sum", "A[M K/D] B[N K/D] C[M/D N]", linear, "C: reduce-scatter, partial -> axis 0"},
	{"one operand along the sum", "A[M K/D] B[N K] C[M N]", linear, "A: all-gather, axis 1 -> whole"},
	{"a weight of [K, N]", "A[M/D K] B[K N/D] C[M:D N/D]", []s.Op{s.Matmul("C", "A", "B")},
		"A: all-gather, axis 0 -> whole"},
	{"columns of sums", "A[M K/D] B[N K/D] C[M N/D]", linear, "C: reduce-scatter, partial -> axis 1"},
	{"a part of a weight's gradient", "A[M N/D] B[M/D K] C[N/D K]", []s.Op{s.Gradient("C", "A", "B")},
		"B: all-gather, axis 0 -> whole"},
	{"nothing travels", "A[M/D K] B[N K] C[M/D N]", linear, ""},
	{"a copy and products of one operand", "A[M/D K] B[N K] C[M:D N] G[M:D K]",
		[]s.Op{s.Copy("G", "A"), s.Linear("C", "A", "B")}, "A: all-gather, axis 0 -> whole"},
	{"an operand that is gathered once", "A[M/D K] B[N/D K] B2[N2/D K]",
		[]s.Op{s.Linear("H", "A", "B"), s.Linear("H2", "A", "B2")}, "A: all-gather, axis 0 -> whole"},
	{"parts of another axis", "A[M/D N] C[M N/D]", []s.Op{s.Copy("C", "A")}, "A: all-to-all, axis 0 -> axis 1"},
	{"parts of the next rank", "A[M/D N] C[M/D+1 N]", []s.Op{s.Copy("C", "A")},
		"A: permutation, axis 0 -> axis 0, shifted by 1"},
	{"rank 0 has it", "A@0[M N] C[M N]", []s.Op{s.Copy("C", "A")}, "A: broadcast, on rank 0 -> whole"},
	{"counted parts", "A[M/D~P N] C[M N]", []s.Op{s.Copy("C", "A")}, "A: all-gather, axis 0, counted -> whole"},
	{"parts of batches", "A[M*4/D K] B[N K] C[M:4*D N]", linear, "A: all-gather, axis 0, 4 batches -> whole"},
	{"a sum that a call takes is whole", "A[M K/D] B[N K/D] C[M N]",
		[]s.Op{s.Linear("H", "A", "B"), s.Call("C", "Route", "mn->mn", "H")}, "H: all-reduce, partial -> whole"},
	{"a sum that nothing asks for is of own rows", "A[M K/D] B[N K/D]", []s.Op{s.Linear("H", "A", "B")},
		"H: reduce-scatter, partial -> axis 0"},
	{"a product that is added to rows of all", "A[M/D K] L[N K] B[N/D K] B2[K N/D] C[M K] P[K N]",
		[]s.Op{s.Linear("T", "A", "L"), s.Linear("H", "A", "B"), s.Linear("T2", "T", "P"),
			s.Linear("C", "H", "B2", s.Add("T2"))},
		"A: all-gather, axis 0 -> whole; C: all-reduce, partial -> whole"},
	{"a sum is not made in steps, so both operands travel", "A[M K/D] B[N K/D] C[M:D N]", linear,
		"A: all-gather, axis 1 -> whole; B: all-gather, axis 1 -> whole"},
	{"columns for rows behind a product", "A[M K/D] B[N/D K] C[M/D N]", linear,
		"A: all-gather, axis 1 -> whole; C: all-to-all, axis 1 -> axis 0"},
	{"an operand that is there already costs nothing", "A[M/D K] B[N/D K] B2[N2/D K] C[M/D N2]",
		[]s.Op{s.Linear("H", "A", "B"), s.Linear("C", "A", "B2")},
		"A: all-gather, axis 0 -> whole; C: all-to-all, axis 1 -> axis 0"},
	{"a call takes all rows, and its part of heads", "A[M/D K] B[M/D K] T[N/D 32] C[M K/D]",
		[]s.Op{s.Call("C", "Turn", "mk,mk,hb->mk", "A", "B", "T")},
		"A: all-gather, axis 0 -> whole; B: all-gather, axis 0 -> whole"},
	{"a call makes a part of an axis of its own", "T[N/D K] I[M] E[D/D M K] C[M/D K]",
		[]s.Op{s.Call("E", "Look", "nk,m->dmk", "T", "I"), s.Sum("C", "E")}, "C: reduce-scatter, partial -> axis 0"},
	{"parts of other sizes", "A[M K/D] B[N K/D~P] C[M N/D]", linear,
		"Tensors[1]: C = linear(A, B): both k and k are spread over the ranks (place it otherwise)"},
	{"a part of what all have", "A[M K] B[N K] C[M/D N]", linear,
		"Tensors[2]: C = linear(A, B): no edge leads from whole to axis 0 (place it otherwise)"},
	{"rank 0 can't keep a sum", "A[M K/D] B[N K/D] C@0[M N]", linear,
		"Tensors[2]: C = linear(A, B): no edge leads from partial to on rank 0 (place it otherwise)"},
}

// TestLetters holds schedules against their edges.
func TestLetters(t *testing.T) {
	for _, x := range letters {
		schedule := s.Schedule{Tensors: scheduletest.Tensors(x.tensors), Ops: x.ops}
		list, err := edges.All(schedule)
		got := fmt.Sprint(err)
		if err == nil {
			var text []string
			for _, e := range list {
				text = append(text, e.String())
			}
			got = strings.Join(text, "; ")
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, diff)
		}
	}
}

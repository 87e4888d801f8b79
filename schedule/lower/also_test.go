package lower_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// A further result of an operation is as one of an operation of its own, in all of the program.
func TestAlso(t *testing.T) {
	for _, s := range []schedule.Schedule{catalog.BlockBehindAttention, catalog.BlockBehindAttentionPackets} {
		want, err := lower.Lower("x", s)
		if err != nil {
			t.Fatal(err)
		}
		s.Ops = append([]schedule.Op{schedule.Linear("X", "Attention", "Projection", schedule.Add("Residual"),
			schedule.RMSNorm("Norm")).Keeping("R", 1)}, s.Ops[2:]...)
		got, err := lower.Lower("x", s)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("(-want +got):\n%s", cmp.Diff(hostir.Print(want), hostir.Print(got)))
		}
	}
}

// What lowering refuses has the path of what was declared.
func TestAlsoRefused(t *testing.T) {
	for _, test := range []struct {
		name, tensors string
		ops           []schedule.Op
		want          string
	}{
		{"a function behind a kept result", "A[M K] B[N/D K] Norm[N] H[M N/D] C[M N/D]",
			[]schedule.Op{schedule.Linear("C", "A", "B", schedule.GELU(), schedule.GELU(), schedule.RMSNorm("Norm")).
				Keeping("H", 1)}, "Ops[0].Then[2]"},
		{"a function of its result", "A[M K] B[N/D K] Norm[N] H[M N/D] C[M N/D]",
			[]schedule.Op{schedule.Linear("G", "A", "B", schedule.GELU(), schedule.SiLU()).Keeping("H", 1),
				schedule.Copy("C", "G", schedule.RMSNorm("Norm"))}, "Ops[1].Then[0]"},
	} {
		_, err := lower.Lower("x", schedule.Schedule{Tensors: scheduletest.Tensors(test.tensors), Ops: test.ops})
		list := schedule.FieldErrors(err)
		if len(list) == 0 || len(list[0].Path) < len(test.want) || list[0].Path[:len(test.want)] != test.want {
			t.Errorf("%s: %v, want an error at %s", test.name, err, test.want)
		}
	}
}

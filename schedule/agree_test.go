package schedule_test

import (
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/scheduletest"
)

// TestMustAgree: tensors that every rank has whole must agree exactly where other ranks get their values, or where
// all make one result.
func TestMustAgree(t *testing.T) {
	for _, x := range []struct {
		what, tensors string
		ops           []s.Op
		want          []string
	}{
		{"each rank multiplies gathered rows for itself", "A[M/D K] B[N K] Bias[N] C[M:D N]",
			[]s.Op{s.Linear("C", "A", "B", s.Bias("Bias"))}, nil},
		{"each rank adds a bias to its rows of a sum", "A[M K/D] B[N K/D] Bias[N] C[M/D N]",
			[]s.Op{s.Linear("C", "A", "B", s.Bias("Bias"))}, nil},
		{"all ranks get a sum", "A[M K/D] B[N K/D] Bias[N] C[M N]",
			[]s.Op{s.Linear("C", "A", "B", s.Bias("Bias"))}, []string{"Bias"}},
		{"all ranks get the columns that each makes", "A[M K] B[N/D K] C[M N]",
			[]s.Op{s.Linear("C", "A", "B")}, []string{"A"}},
		{"each rank keeps the columns that it makes", "A[M K] B[N/D K] C[M N/D]",
			[]s.Op{s.Linear("C", "A", "B")}, nil},
		{"rows go on that a whole weight has made", "A[M/D K] B[N K] B2[N2/D N] C[M:D N2/D]",
			[]s.Op{s.Linear("H", "A", "B"), s.Linear("C", "H", "B2")}, []string{"B"}},
		{"a norm's weight behind a gather's other end", "A[M/D K] Norm[K] B[N/D K] C[M:D N/D]",
			[]s.Op{s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("C", "X", "B")}, []string{"Norm"}},
		{"a head behind a sum", "A[M K/D] B[N K/D] Head[N2 N] C[M N] L[M N2]",
			[]s.Op{s.Linear("C", "A", "B"), s.Linear("L", "C", "Head")}, []string{"Head"}},
		{"a call behind a sum", "A[M K/D] B[N K/D] R[M N] V[M N] C[M N]",
			[]s.Op{s.Linear("V", "A", "B"), s.Call("C", "AddUp", "mn,mn->mn", "R", "V")}, []string{"R"}},
	} {
		y := s.Schedule{Tensors: scheduletest.Tensors(x.tensors), Ops: x.ops}
		var got []string
		for _, tensor := range y.Tensors {
			if y.MustAgree(tensor.Name) {
				got = append(got, tensor.Name)
			}
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: %v must agree, want %v", x.what, got, x.want)
		}
	}
}

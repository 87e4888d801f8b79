package lower_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// A formula that no pass applies is refused with its field, and no program is made without it.
func TestFormulasThatNothingApplies(t *testing.T) {
	cap := schedule.SoftCap(30)
	for name, s := range map[string]schedule.Schedule{
		"a product": {Tensors: scheduletest.Tensors("A[M/D K] B[N K] C[M N]"),
			Ops: []schedule.Op{schedule.Linear("C", "A", "B", cap)}},
		"a sum": {Tensors: scheduletest.Tensors("A[M K/D] B[N K/D] C[M N]"),
			Ops: []schedule.Op{schedule.Linear("C", "A", "B", cap)}},
		"a bare sum": {Tensors: scheduletest.Tensors("A[D/D M N] C[M N]"),
			Ops: []schedule.Op{{Out: "C", In: []string{"A"}, Index: "d...->...", Then: []schedule.Func{cap}}}},
		"a chain": {Tensors: scheduletest.Tensors("A[M/D K] B[F/D K] B2[N F/D] C[M/D N]"),
			Ops: []schedule.Op{schedule.Linear("H", "A", "B", cap), schedule.Linear("C", "H", "B2")}},
		"a copy": {Tensors: scheduletest.Tensors("A[M/D K] B[N/D K] C[M N/D]"),
			Ops: []schedule.Op{schedule.Copy("X", "A", cap), schedule.Linear("C", "X", "B")}},
	} {
		_, err := lower.Lower("x", s)
		var paths []string
		for _, e := range schedule.FieldErrors(err) {
			paths = append(paths, e.Path)
		}
		if diff := cmp.Diff([]string{"Ops[0].Then[0]"}, paths); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

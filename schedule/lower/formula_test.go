package lower_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// TestFormulas finds the steps that make what formulas say, and what they are of.
func TestFormulas(t *testing.T) {
	cap, half := schedule.SoftCap(2), schedule.Scale(.5)
	for _, test := range []struct {
		name, tensors string
		ops           []schedule.Op
		want          []string // of each step, in order
	}{
		{"behind a product", "A[M/D K] B[N/D K] C[M:D N/D]", []schedule.Op{schedule.Linear("C", "A", "B", cap)},
			[]string{"Make [2*tanh(x/2)](C[r], C[r]) by kernel",
				"Make [2*tanh(x/2)](C[peer], C[peer]) by kernel"}},
		{"behind what the library applies", "A[M K] B[N/D K] V[N/D] W[N2 N/D] C[M/D N2]",
			[]schedule.Op{schedule.Linear("H", "A", "B", schedule.Bias("V"), schedule.ReLU(), cap, half),
				schedule.Linear("C", "H", "W")},
			[]string{"Make [2*tanh(x/2), then x*0.5](H[peer], H[peer]) by kernel",
				"Make [2*tanh(x/2), then x*0.5](H[r], H[r]) by kernel", "Reduce(C, slots[0..D-1])"}},
		{"behind a sum and what it adds", "A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
			[]schedule.Op{schedule.Linear("C", "A", "B", schedule.Add("R"), half, schedule.GELU())},
			[]string{"Reduce(C, slots[0..D-1], R), " +
				"then [x*0.5, then x/(1 + exp(-2*(0.7978846*(x + 0.044715*x*x*x))))]"}},
		{"of a sum, and of its rows", "A[D/D M N] R[M/D N] S[M/D] V[N] C[M/D N]", []schedule.Op{schedule.Sum("C", "A",
			schedule.Func{Is: schedule.Times(schedule.X, schedule.Column("S"))}, schedule.Add("R"),
			schedule.RMSNorm("V"), half)},
			[]string{"Reduce(Csum, slots[0..r-1], A[r], slots[r+1..D-1]), " +
				"then [x*S[row], then x + R] of rows of N(S, R)",
				"Make [x*reciproot(mean(x*x) + Epsilon)*V[column], then x*0.5] of rows of N(C, Csum, V) by kernel"}},
		{"on rows of its own", "A[M/D K] R[M/D K] V[K] B[N/D K] C[M:D N/D]", []schedule.Op{
			schedule.Copy("X", "A", schedule.RMSNorm("V"), half, schedule.Add("R")), schedule.Linear("C", "X", "B")},
			[]string{"Make [x*reciproot(mean(x*x) + Epsilon)*V[column], then x*0.5, then x + R] of rows of " +
				"K(X, A, V, R) by kernel"}},
		{"behind a bare sum and what it adds", "A[D/D M N] R[M/D N] V[N] H[M/D N] C[M/D N]", []schedule.Op{
			schedule.Sum("C", "A", schedule.Add("R"), half, schedule.Bias("V")).Keeping("H", 1)},
			[]string{"Reduce(H, slots[0..r-1], A[r], slots[r+1..D-1], R)",
				"Make [x*0.5, then x + V[column]] of rows of N(C, H, V) by kernel"}},
		{"behind a bare gather", "A[M/D N] R[M N] C[M N]", []schedule.Op{schedule.Copy("C", "A", half,
			schedule.Add("R"))},
			[]string{"Make [x*0.5, then x + R](C, Cgathered, R) by kernel"}},
		{"behind two bare sums", "A[D/D M N] B[D/D M N] C[M N]", []schedule.Op{schedule.Sum("H", "A", half),
			schedule.Sum("C", "B", schedule.Add("H"), half)},
			[]string{"Reduce(Hreduced, A@0..D-1[r]), then [x*0.5]",
				"Reduce(Creduced, B@0..D-1[r], H[r]), then [x*0.5]"}},
	} {
		p, err := lower.Lower("x", schedule.Schedule{Tensors: scheduletest.Tensors(test.tensors), Ops: test.ops})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, line := range strings.Split(hostir.Print(p), "\n") {
			for _, step := range strings.Split(line, ";") {
				at := max(strings.Index(step, "Make ["), strings.Index(step, "Reduce("))
				if at >= 0 && strings.Contains(step, "[") {
					made, _, _ := strings.Cut(step[at:], " #")
					got = append(got, strings.TrimSpace(made))
				}
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		for _, a := range p.FunctionsBy() {
			if a.By == "" {
				t.Errorf("%s: nothing applies %s", test.name, a.Function)
			}
		}
	}
}

// TestRefusedFormulas: a formula that nothing makes is refused with its field, which is that of the schedule.
func TestRefusedFormulas(t *testing.T) {
	half := schedule.Scale(.5)
	for _, test := range []struct {
		name, tensors string
		ops           []schedule.Op
		want          string
	}{
		{"a residual of even parts behind uneven ones", "A[D/D M N] R[M/D N] C[M/D~ N]",
			[]schedule.Op{schedule.Sum("C", "A", half, schedule.Add("R"))}, "Tensors[1]"},
		{"parts of rows", "A[M/D N] C[M N/D]", []schedule.Op{schedule.Copy("C", "A", schedule.Softmax())},
			"Ops[0].Then[0]"},
		{"a residual of own rows behind a sum of all", "A[D/D M N] R[M/D N] C[M N]",
			[]schedule.Op{schedule.Sum("C", "A", half, schedule.Add("R"))}, "Tensors[1]"},
		{"columns of each row", "A[M K] B[N/D K] W[N2 N/D] C[M/D N2]",
			[]schedule.Op{schedule.Linear("H", "A", "B", schedule.Softmax()), schedule.Linear("C", "H", "W")},
			"Ops[0].Then[0]"},
		{"an operation behind one that is two", "A[M K/D] B[N K/D] W[F/D N] V[N2/D F] C[M:D N2/D]", []schedule.Op{
			schedule.Linear("H", "A", "B", half), schedule.Linear("I", "H", "W", schedule.Softmax()),
			schedule.Linear("C", "I", "V")}, "Ops[1].Then[0]"},
		{"an operand of other rows", "A[M/D K] B[N/D K] R[M/D N] C[M:D N/D]",
			[]schedule.Op{schedule.Linear("C", "A", "B", half, schedule.Add("R"))}, "Tensors[2]"},
		{"a row that is made", "A[M/D K] B[N/D K] V[N2/D K] C[M:D N/D] C2[M:D N2/D]", []schedule.Op{
			schedule.Linear("C2", "A", "V"), schedule.Linear("C", "A", "B", schedule.Func{Is: schedule.Plus(schedule.X,
				schedule.HeadRow("C2"))})}, "Tensors[4].Axes"},
	} {
		_, err := lower.Lower("x", schedule.Schedule{Tensors: scheduletest.Tensors(test.tensors), Ops: test.ops})
		var got []string
		for _, e := range schedule.FieldErrors(err) {
			got = append(got, e.Path)
		}
		if diff := cmp.Diff([]string{test.want}, got); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", test.name, err, diff)
		}
	}
}

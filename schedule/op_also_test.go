package schedule_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/scheduletest"
)

// sumAndNorm makes a sum R, its norm X and what a function makes of that.
func sumAndNorm() schedule.Schedule {
	return schedule.Schedule{
		Tensors: scheduletest.Tensors("A[M K/D] B[N K/D] Residual[M/D N] Norm[N] R[M/D N] X[M/D N] C[M/D N]"),
		Ops: []schedule.Op{
			schedule.Linear("C", "A", "B", schedule.Add("Residual"), schedule.RMSNorm("Norm"), schedule.Scale(.5),
				schedule.GELU()).Keeping("R", 1).Keeping("X", 2),
		},
	}
}

// An operation with further results is one operation for each result, also as JSON, and the other way of writing them
// has the same signature.
func TestAlso(t *testing.T) {
	s := sumAndNorm()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	apart := s
	apart.Ops = []schedule.Op{schedule.Linear("R", "A", "B", schedule.Add("Residual")),
		schedule.Copy("X", "R", schedule.RMSNorm("Norm")), schedule.Copy("C", "X", schedule.Scale(.5), schedule.GELU())}
	if diff := cmp.Diff(apart, s.Apart()); diff != "" {
		t.Errorf("apart (-want +got):\n%s", diff)
	}
	if s.Signature() != apart.Signature() {
		t.Errorf("signatures %s and %s", s.Signature(), apart.Signature())
	}
	if !s.Made("X") || s.Made("Norm") || len(s.Hidden()) > 0 {
		t.Error("X is made, Norm is not, and nothing is hidden")
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read schedule.Schedule
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, read); diff != "" {
		t.Errorf("through JSON (-want +got):\n%s", diff)
	}
	const want = "C = linear(A, B), add(Residual) as R, rmsnorm(Norm) as X, scale(x*0.5), gelu"
	if got := s.Ops[0].String(); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if got := schedule.Linear("C", "A", "B", schedule.GELU()).Keeping("H", 0).String(); got !=
		"C = linear(A, B) as H, gelu" {
		t.Error(got)
	}
}

// Mistakes in further results have the paths of the declared fields.
func TestAlsoRefused(t *testing.T) {
	gelu, add := schedule.GELU(), schedule.Add
	const cut = " (cut between functions, each time behind the last: the rest makes C)"
	const other = " (name a tensor that an earlier operation makes, or one of the caller's)"
	for _, test := range []struct {
		name string
		ops  []schedule.Op
		want []string
	}{
		{"the product itself", []schedule.Op{schedule.Linear("C", "A", "B", gelu).Keeping("H", 0)}, nil},
		{"a kept one read behind it",
			[]schedule.Op{schedule.Linear("C", "A", "B", gelu, add("H")).Keeping("H", 0)}, nil},
		{"all functions", []schedule.Op{schedule.Linear("C", "A", "B", gelu).Keeping("H", 1)},
			[]string{"Ops[0].Also[0].After: 1 of the 1 functions make H" + cut}},
		{"less than none", []schedule.Op{schedule.Linear("C", "A", "B", gelu).Keeping("H", -1)},
			[]string{"Ops[0].Also[0].After: -1 of the 1 functions make H" + cut}},
		{"of a call", []schedule.Op{schedule.Call("C", "Work", "mk,mk->mk", "A", "B").Keeping("H", 0)},
			[]string{"Ops[0].Also[0].After: 0 of the 0 functions make H" + cut}},
		{"out of order", []schedule.Op{schedule.Linear("C", "A", "B", gelu, gelu).Keeping("H", 1).Keeping("I", 1)},
			[]string{"Ops[0].Also[1].After: 1 of the 2 functions make I" + cut}},
		{"that nobody gets", []schedule.Op{schedule.Linear("C", "A", "B", gelu).Keeping("X", 0)},
			[]string{`Ops[0].Also[0].Out: nobody gets "X" (declare it with its placement, or leave it out)`}},
		{"made twice", []schedule.Op{schedule.Linear("H", "A", "B"),
			schedule.Linear("C", "A", "B", gelu).Keeping("H", 0)},
			[]string{"Ops[1].Also[0].Out: H is made by Ops[0] already (name another tensor)"}},
		{"read before it is made", []schedule.Op{schedule.Linear("C", "A", "B", gelu, add("H"), gelu).Keeping("H", 2)},
			[]string{"Ops[0].Then[1].Is.Of[1].Tensor: H is made by this operation" + other}},
		{"the operation's own result", []schedule.Op{
			schedule.Linear("C", "A", "B", gelu, gelu, add("C")).Keeping("H", 1)},
			[]string{"Ops[0].Then[2].Is.Of[1].Tensor: C is made by this operation" + other}},
		{"the operation's own result, earlier", []schedule.Op{
			schedule.Linear("C", "A", "B", add("C"), gelu).Keeping("H", 1)},
			[]string{"Ops[0].Then[0].Is.Of[1].Tensor: C is made of H, by Ops[0]" + other}},
		{"made later", []schedule.Op{schedule.Linear("C", "A", "B", gelu, add("I"), gelu).Keeping("H", 1),
			schedule.Copy("I", "A", gelu)},
			[]string{"Ops[0].Then[1].Is.Of[1].Tensor: I is made later, by Ops[1] (put this operation behind Ops[1])"}},
		{"in a formula", []schedule.Op{schedule.Linear("C", "A", "B", gelu, schedule.Multiply("C")).Keeping("H", 1)},
			[]string{"Ops[0].Then[1].Is.Of[1].Tensor: C is made by this operation" + other}},
	} {
		s := schedule.Schedule{Ops: test.ops, Tensors: scheduletest.Tensors("A[M K] B[K K] C[M K] H[M K] I[M K]")}
		var got []string
		for _, e := range schedule.FieldErrors(s.Validate()) {
			if e.Path[0] == 'O' {
				got = append(got, e.Error())
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

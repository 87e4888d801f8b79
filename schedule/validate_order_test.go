package schedule_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/scheduletest"
)

// An operation reads results of earlier operations only, as a factor or by a function.
func TestOperandsAreMadeBefore(t *testing.T) {
	const other = " (name a tensor that an earlier operation makes, or one of the caller's)"
	linear, plus := schedule.Linear, schedule.Add
	for _, test := range []struct {
		name string
		ops  []schedule.Op
		want []string
	}{
		{"in order", []schedule.Op{linear("H", "A", "B"), linear("C", "A", "B", plus("H"))}, nil},
		{"its own result by a function",
			[]schedule.Op{linear("H", "A", "B", schedule.SwiGLU("H")), linear("C", "H", "B")},
			[]string{"Ops[0].Then[0].Is.Of[1].Tensor: H is made by this operation" + other}},
		{"its own result behind another function", []schedule.Op{linear("C", "A", "B", schedule.GELU(), plus("C"))},
			[]string{"Ops[0].Then[1].Is.Of[1].Tensor: C is made by this operation" + other}},
		{"its own result as a factor", []schedule.Op{linear("C", "C", "B")},
			[]string{"Ops[0].In[0]: C is made by this operation" + other}},
		{"a later result", []schedule.Op{linear("H", "A", "B", plus("C")), linear("C", "A", "B")},
			[]string{"Ops[0].Then[0].Is.Of[1].Tensor: C is made later, by Ops[1] (put this operation behind Ops[1])"}},
		{"a circle of two", []schedule.Op{linear("H", "A", "B", plus("C")), linear("C", "A", "B", plus("H"))},
			[]string{"Ops[0].Then[0].Is.Of[1].Tensor: C is made of H, by Ops[1]" + other}},
		{"a circle of three", []schedule.Op{linear("H", "A", "B", plus("C")), linear("I", "H", "B"),
			linear("C", "A", "B", plus("I"))},
			[]string{"Ops[0].Then[0].Is.Of[1].Tensor: C is made of H, by Ops[2]" + other}},
		{"a circle behind a later result", []schedule.Op{linear("H", "A", "B", plus("I")),
			linear("I", "A", "B", plus("C")), linear("C", "A", "B", plus("I"))}, []string{
			"Ops[0].Then[0].Is.Of[1].Tensor: I is made later, by Ops[1] (put this operation behind Ops[1])",
			"Ops[1].Then[0].Is.Of[1].Tensor: C is made of I, by Ops[2]" + other}},
	} {
		s := schedule.Schedule{Ops: test.ops,
			Tensors: scheduletest.Tensors("A[M K] B[K K] C[M K]")}
		var got []string
		for _, e := range schedule.FieldErrors(s.Validate()) {
			if strings.HasPrefix(e.Path, "Ops[") {
				got = append(got, e.Error())
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

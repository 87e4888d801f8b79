package schedule_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/scheduletest"
)

// functionCases are wrong functions of C[M N] = A[M K] * B[N K], with tensors R[M N], S[N], T[M 64], V[64] and I[M].
var functionCases = []struct {
	name string
	is   schedule.Expr
	want []string
}{
	{"all that there is", schedule.Plus(schedule.Times(schedule.X, schedule.Of("R")), schedule.Row("S"),
		schedule.Column("I"), schedule.HeadRow("V"), schedule.Times(schedule.Turned(schedule.X, ""), schedule.Sin("T")),
		schedule.Mean(schedule.Abs(schedule.X)).InHeads("64"), schedule.Param("Epsilon"),
		schedule.If(schedule.Below(32, "64"), schedule.X, schedule.Num(0))), nil},
	{"heads that do not lie in others", schedule.Times(schedule.Mean(schedule.X).InHeads("96"), schedule.HeadRow("V")),
		[]string{"Ops[0].Then[0].Is.Of[1].Tensor"}},
	{"a rotary embedding of part of a head that is no part", schedule.RotaryOf(64, "96", "T").Is,
		[]string{"Ops[0].Then[0].Is.Of[0].Of[0].Of[1].Tensor"}},
	{"a table for more columns than are turned", schedule.RotaryOf(32, "128", "T").Is,
		[]string{"Ops[0].Then[0].Is.Of[0].Of[0].Of[1].Tensor", "Ops[0].Then[0].Is.Of[0].Of[1].Of[1].Tensor"}},
	{"no operation", schedule.Expr{Do: "sine"}, []string{"Ops[0].Then[0].Is.Do"}},
	{"too few", schedule.Expr{Do: schedule.DoPlus, Of: []schedule.Expr{schedule.X}}, []string{"Ops[0].Then[0].Is.Of"}},
	{"too many", schedule.Neg(schedule.Expr{Do: schedule.DoAbs, Of: make([]schedule.Expr, 2)}),
		[]string{"Ops[0].Then[0].Is.Of[0].Of"}},
	{"X of something", schedule.Expr{Of: make([]schedule.Expr, 1)}, []string{"Ops[0].Then[0].Is.Of"}},
	{"no tensor", schedule.Neg(schedule.Of("")), []string{"Ops[0].Then[0].Is.Of[0].Tensor"}},
	{"a tensor of a sum", schedule.Expr{Do: schedule.DoNeg, Tensor: "R", Of: make([]schedule.Expr, 1)},
		[]string{"Ops[0].Then[0].Is.Tensor"}},
	{"nothing of that name", schedule.Plus(schedule.X, schedule.Of("Q")), []string{"Tensors"}},
	{"its own result", schedule.Plus(schedule.X, schedule.Of("C")), []string{"Ops[0].Then[0].Is.Of[1].Tensor"}},
	{"a later result", schedule.Plus(schedule.X, schedule.Neg(schedule.Of("Later"))),
		[]string{"Ops[0].Then[0].Is.Of[1].Of[0].Tensor"}},
	{"a tensor in two ways", schedule.Plus(schedule.Of("R"), schedule.Column("R")),
		[]string{"Ops[0].Then[0].Is.Of[1].Tensor", "Tensors[4].Axes"}},
	{"rows for columns", schedule.Plus(schedule.X, schedule.Row("T")), []string{"Tensors[7].Axes"}},
	{"the weight for a row", schedule.Plus(schedule.X, schedule.Row("B")), []string{"Tensors[1].Axes"}},
	{"heads as wide as rows", schedule.Times(schedule.X, schedule.HeadRow("S")),
		[]string{"Ops[0].Then[0].Is.Of[1].Tensor"}},
	{"no number", schedule.Plus(schedule.X, schedule.Num(math.NaN())), []string{"Ops[0].Then[0].Is.Of[1].Number"}},
	{"a number that fp32 lacks", schedule.Num(1e39), []string{"Ops[0].Then[0].Is.Number"}},
	{"a number of a leaf", schedule.Expr{Do: schedule.DoOf, Tensor: "R", Number: 2},
		[]string{"Ops[0].Then[0].Is.Number"}},
	{"a parameter without a name", schedule.Param(""), []string{"Ops[0].Then[0].Is.Name"}},
	{"a small parameter", schedule.Param("epsilon"), []string{"Ops[0].Then[0].Is.Name"}},
	{"an extent", schedule.Param("M"), []string{"Ops[0].Then[0].Is.Name"}},
	{"the type", schedule.Param("Type"), []string{"Ops[0].Then[0].Is.Name"}},
	{"a number of the Shape", schedule.Param("Scale"), nil},
	{"a method of a Shape", schedule.Param("Check"), []string{"Ops[0].Then[0].Is.Name"}},
	{"five numbers", schedule.Plus(schedule.Param("G"), schedule.Param("H"), schedule.Param("J"), schedule.Param("L"),
		schedule.Param("Q")), []string{"Ops"}},
	{"a tensor's name", schedule.Param("R"), []string{"Ops[0].Then[0].Is.Name"}},
	{"a name of an operation", schedule.Expr{Do: schedule.DoNeg, Name: "N", Of: make([]schedule.Expr, 1)},
		[]string{"Ops[0].Then[0].Is.Name"}},
	{"a group of an operation", schedule.Neg(schedule.X).InHeads("64"), []string{"Ops[0].Then[0].Is.Group"}},
	{"a group of a table", schedule.Cos("T").InHeads("64"), []string{"Ops[0].Then[0].Is.Group"}},
	{"rows of a head", schedule.Mean(schedule.X).InHeads("M"), []string{"Ops[0].Then[0].Is.Group"}},
	{"a width of nothing", schedule.Mean(schedule.X).InHeads("W"), []string{"Ops[0].Then[0].Is.Group"}},
	{"an odd head", schedule.Turned(schedule.X, "63"), []string{"Ops[0].Then[0].Is.Group"}},
	{"heads of no width", schedule.Turned(schedule.X, ""), []string{"Ops[0].Then[0].Is"}},
	{"half a column", schedule.Expr{Do: schedule.DoBelow, Number: .5, Group: "64", Of: make([]schedule.Expr, 2)},
		[]string{"Ops[0].Then[0].Is.Number"}},
	{"more columns than a head", schedule.If(schedule.Below(65, "64"), schedule.X, schedule.X),
		[]string{"Ops[0].Then[0].Is.Number"}},
	{"columns of no head", schedule.If(schedule.Below(8, ""), schedule.X, schedule.X),
		[]string{"Ops[0].Then[0].Is.Group"}},
	{"as deep as can be", nested(63, schedule.Neg), nil},
	{"too deep", nested(64, schedule.Neg), []string{"Ops[0].Then[0].Is"}},
	{"more than a machine holds", nested(60, func(e schedule.Expr) schedule.Expr { return schedule.Plus(e, e) }),
		[]string{"Ops[0].Then[0].Is"}},
	{"too many that differ", wide(130), []string{"Ops[0].Then[0].Is"}},
	{"as many as can be", wide(127), nil},
}

func nested(n int, of func(schedule.Expr) schedule.Expr) schedule.Expr {
	e := schedule.X
	for range n {
		e = of(e)
	}
	return e
}

// wide is a sum of n constants and X, of 2 n + 1 nodes, as flat as can be.
func wide(n int) schedule.Expr {
	list := []schedule.Expr{schedule.X}
	for i := range n {
		list = append(list, schedule.Num(float64(i+1)))
	}
	for len(list) > 1 {
		next := []schedule.Expr{}
		for i := 0; i < len(list); i += 2 {
			if i+1 == len(list) {
				next = append(next, list[i])
				break
			}
			next = append(next, schedule.Plus(list[i], list[i+1]))
		}
		list = next
	}
	return list[0]
}

func TestValidateFunctions(t *testing.T) {
	for _, test := range functionCases {
		s := schedule.Schedule{
			Ops: []schedule.Op{schedule.Linear("C", "A", "B", schedule.Func{Is: test.is}),
				schedule.Linear("Later", "R", "U")},
			Tensors: scheduletest.Tensors("A[M K] B[N K] C[M N] Later[M N] R[M N] U[N N] S[N] T[M 64] V[64] I[M]")}
		var got []string
		for _, e := range schedule.FieldErrors(s.Validate()) {
			unread := e.Hint == "leave it out, or name it in an operation"
			if !unread { // each case reads some of the tensors
				got = append(got, e.Path)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestValidateEpsilon refuses an epsilon of a function that has none.
func TestValidateEpsilon(t *testing.T) {
	s := schedule.Schedule{Ops: []schedule.Op{schedule.Linear("C", "A", "B", schedule.SiLU().WithEpsilon(1))},
		Tensors: scheduletest.Tensors("A[M K] B[N K] C[M N]")}
	list := schedule.FieldErrors(s.Validate())
	if len(list) != 1 || list[0].Path != "Ops[0].Then[0].Epsilon" {
		t.Errorf("errors: %v", list)
	}
}

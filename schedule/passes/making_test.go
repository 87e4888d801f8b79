package passes_test

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// A kernel of products makes what follows of each element of its result, and nothing else.
func TestMaking(t *testing.T) {
	x, add, up := schedule.X, schedule.Add("R"), schedule.SwiGLU("U")
	several := schedule.Plus(x, schedule.Of("R"), schedule.Of("U"), schedule.Row("V"), schedule.Column("W"))
	for _, test := range []struct {
		name string
		then []schedule.Func
		few  int
		out  schedule.Type
		made []string // of each launch
	}{
		{"by the library", []schedule.Func{up}, 0, "", []string{"", ""}},
		{"in place", []schedule.Func{up}, 8, "", []string{"swiglu"}},
		{"several", []schedule.Func{schedule.Scale(.5), add, schedule.SoftCap(30)}, 8, "",
			[]string{"[x*0.5, then x + R, then "}},
		{"an epilogue", []schedule.Func{schedule.Bias("V"), schedule.GELU()}, 8, "", []string{"gelu"}},
		{"an epilogue and more", []schedule.Func{schedule.GELU(), add}, 8, "", []string{"add"}},
		{"rows, columns and places", []schedule.Func{{Word: "sum", Is: several}}, 8, "", []string{"x + R"}},
		{"of fp32", []schedule.Func{schedule.Scale(.5), add}, 8, schedule.FP32, []string{"x*0.5"}},
		{"too many operands", []schedule.Func{{Word: "sum", Is: schedule.Plus(several, schedule.Of("S"))}}, 8, "",
			[]string{"", "x + R"}},
		{"too many numbers", []schedule.Func{{Word: "n", Is: schedule.Times(x, schedule.Param("One"),
			schedule.Param("Two"), schedule.Param("Three"))}}, 8, "", []string{"", "One"}},
		{"rows", []schedule.Func{schedule.RMSNorm("V")}, 8, "", []string{"", "rmsnorm"}},
	} {
		s := schedule.Schedule{Tensors: scheduletest.Tensors("A[M K] B[N K] C[M N] R[M N] U[M N] S[M N] V[N] W[M]"),
			Ops: []schedule.Op{schedule.Linear("C", "A", "B", test.then...)}, FewRows: test.few}
		if test.out != "" { // another operation makes what no product may
			s.Ops = []schedule.Op{schedule.Linear("P", "A", "B"), schedule.Copy("C", "P", test.then...)}
			s.Tensors[2].Type = test.out
		}
		used := s.Tensors[:3:3]
		for _, o := range s.Tensors[3:] {
			for _, f := range test.then {
				if strings.Contains(f.Tree().String(), o.Name) && o.Axes[0].Extent != "" {
					used = append(used, o)
					break
				}
			}
		}
		s.Tensors = used
		p, err := lower.Lower("x", s)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var launches []string
		hostir.Steps(p.Body, func(s hostir.Step) { launches = append(launches, hostir.PrintNode(s)) })
		for i, l := range launches {
			if len(launches) != len(test.made) || !strings.Contains(l, test.made[i]) ||
				test.made[i] == "" && strings.Contains(l, ";") {
				t.Errorf("%s: %q, want launches that make %q", test.name, launches, test.made)
				break
			}
		}
	}
}

// What a function writes must not be what other blocks still multiply.
func TestMakingOverOperands(t *testing.T) {
	view := hostir.Whole
	x := hostir.Product{Index: hostir.Linear, A: view("A"), B: view("B"), To: view("C")}
	then := hostir.Apply{X: view("C"), Operands: []hostir.View{view("U")}, To: view("G"),
		Makes: []schedule.Expr{schedule.SwiGLU("U").Tree()}}
	if made, ok := x.Making(then); !ok || made.Then.To.Buffer != "G" {
		t.Error("a kernel of products does not make swiglu")
	}
	for _, to := range []string{"A", "B"} {
		then.To = view(to)
		if _, ok := x.Making(then); ok {
			t.Errorf("a function is made into %s, which the product reads", to)
		}
	}
	then.To, then.X = view("G"), view("D")
	if _, ok := x.Making(then); ok {
		t.Error("a function is made of another tensor than the product's result")
	}
	then.X = view("C")
	then.Operands[0].Peer = hostir.Const(1)
	if _, ok := x.Making(then); ok {
		t.Error("a kernel of products reads a peer's memory")
	}
}

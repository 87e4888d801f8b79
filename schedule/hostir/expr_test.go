package hostir_test

import (
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"ovgen/schedule/hostir"
)

// The printed text means in Go what Eval computes.
func TestExprTextIsGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env := hostir.Env{"r": rapid.Int64Range(0, 9).Draw(t, "r"), "D": rapid.Int64Range(1, 9).Draw(t, "D")}
		e := drawExpr(t, 4)
		want, err := e.Eval(env)
		if err != nil {
			t.Skip("division by zero")
		}
		text := e.Text(func(name string) string { return strconv.FormatInt(env[name], 10) })
		got, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if v, _ := constant.Int64Val(got.Value); v != want {
			t.Fatalf("%s is %v in Go, Eval says %d", text, got.Value, want)
		}
	})
}

func drawExpr(t *rapid.T, depth int) hostir.Expr {
	if depth == 0 || rapid.Bool().Draw(t, "leaf") {
		return rapid.SampledFrom([]hostir.Expr{hostir.Rank, hostir.Size, hostir.Const(2), hostir.Const(7)}).Draw(t, "value")
	}
	x, y := drawExpr(t, depth-1), drawExpr(t, depth-1)
	op := rapid.SampledFrom([]func(x, y hostir.Expr) hostir.Expr{hostir.Add, hostir.Sub, hostir.Mul, hostir.Div, hostir.Mod}).Draw(t, "op")
	return op(x, y)
}

func TestEvalRefuses(t *testing.T) {
	for name, e := range map[string]hostir.Expr{
		"absent":  {},
		"unknown": hostir.Var("q"),
		"zero":    hostir.Mod(hostir.Const(1), hostir.Sub(hostir.Rank, hostir.Rank)),
	} {
		if v, err := e.Eval(hostir.Env{"r": 1}); err == nil {
			t.Errorf("%s: got %d and no error", name, v)
		}
	}
}

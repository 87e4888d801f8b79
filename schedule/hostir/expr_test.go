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
		env := hostir.Env{"r": rapid.Int64Range(0, 9).Draw(t, "r"), "D": rapid.Int64Range(1, 9).Draw(t, "D"),
			"i": rapid.Int64Range(0, 9).Draw(t, "i")}
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
		return rapid.SampledFrom([]hostir.Expr{hostir.Rank, hostir.Size, hostir.Const(1), hostir.Const(2),
			hostir.Const(7), hostir.Var("i")}).Draw(t, "value")
	}
	x, y := drawExpr(t, depth-1), drawExpr(t, depth-1)
	op := rapid.SampledFrom([]func(x, y hostir.Expr) hostir.Expr{hostir.Add, hostir.Sub, hostir.Mul, hostir.Div,
		hostir.Mod}).Draw(t, "op")
	return op(x, y)
}

// A simplified expression has the same value, for every rank of every size.
func TestSimplify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpr(t, 5)
		simple := e.Simplify()
		for d := int64(1); d <= 6; d++ {
			for r := range d {
				env := hostir.Env{"D": d, "r": r, "i": rapid.Int64Range(-3, 9).Draw(t, "i")}
				want, err := e.Eval(env)
				if err != nil {
					continue // division by zero
				}
				if got, err := simple.Eval(env); err != nil || got != want {
					t.Fatalf("%s = %d, simplified %s = %d, %v (%v)", e, want, simple, got, err, env)
				}
			}
		}
		if again := simple.Simplify(); !again.Equal(simple) {
			t.Fatalf("%s, simplified again %s", simple, again)
		}
	})
}

// Indices read as a person would write them.
func TestSimplified(t *testing.T) {
	r, d, i, one := hostir.Rank, hostir.Size, hostir.Var("i"), hostir.Const(1)
	for _, x := range []struct {
		e    hostir.Expr
		want string
	}{
		{hostir.Mod(hostir.Sub(hostir.Add(d, r), hostir.Mod(one, d)), d), "(r + D - 1) % D"},
		{hostir.Mod(hostir.Add(r, hostir.Mod(one, d)), d), "(r + 1) % D"},
		{hostir.Mod(hostir.Add(hostir.Sub(hostir.Add(d, r), i), one), d), "(r + D - i + 1) % D"},
		{hostir.Mod(hostir.Add(r, d), d), "r"},
		{hostir.Sub(hostir.Add(d, one), one), "D"},
		{hostir.Sub(hostir.Sub(d, one), r), "D - r - 1"},
		{hostir.Add(hostir.Mul(r, hostir.Const(2)), hostir.Const(0)), "2*r"},
		{hostir.Mul(hostir.Mul(one, hostir.Div(hostir.Var("M"), d)), hostir.Div(hostir.Var("K"), one)), "M/D*K"},
		{hostir.Sub(hostir.Add(hostir.Add(r, one), hostir.Sub(hostir.Sub(d, one), r)), one), "D - 1"},
		{hostir.Mul(hostir.Sub(r, one), hostir.Const(2)), "(r - 1)*2"},
		{hostir.Sub(hostir.Const(0), hostir.Add(i, one)), "-1 - i"},
		{hostir.Sub(i, i), "0"},
	} {
		if got := x.e.Simplify().String(); got != x.want {
			t.Errorf("%s: %s, want %s", x.e, got, x.want)
		}
	}
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

package hostir

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// ParseExpr reads an expression as Go and C write it: names, decimal numbers, + - * / % and parentheses.
// Quotients are rounded towards zero.
func ParseExpr(text string) (Expr, error) {
	tree, err := parser.ParseExpr(text)
	if err != nil {
		return Expr{}, fmt.Errorf("read the expression %q: it is none", text)
	}
	e, ok := exprOf(tree)
	if !ok {
		return Expr{}, fmt.Errorf("read the expression %q: it has more than names, decimal numbers, + - * / %% and "+
			"parentheses", text)
	}
	return e, nil
}

// operators are the operators of expressions.
var operators = map[token.Token]func(x, y Expr) Expr{
	token.ADD: Add, token.SUB: Sub, token.MUL: Mul, token.QUO: Div, token.REM: Mod,
}

// exprOf turns a tree of Go into an expression; ok is false where it is none.
func exprOf(tree ast.Expr) (e Expr, ok bool) {
	switch t := tree.(type) {
	case *ast.ParenExpr:
		return exprOf(t.X)
	case *ast.Ident:
		return Var(t.Name), true
	case *ast.BasicLit:
		n, err := strconv.ParseInt(t.Value, 10, 64)
		return Const(n), err == nil && t.Kind == token.INT
	case *ast.BinaryExpr:
		x, left := exprOf(t.X)
		y, right := exprOf(t.Y)
		if of := operators[t.Op]; of != nil && left && right {
			return of(x, y), true
		}
	}
	return Expr{}, false
}

package hostir

import (
	"fmt"
	"strconv"
)

// Expr is an integer expression over the rank r, the mesh size D, loop indices,
// extents and constants. Its zero value means no expression.
type Expr struct {
	op   byte // 'c' constant, 'v' variable, + - * / %
	num  int64
	name string
	x, y *Expr
}

// Const is a constant.
func Const(n int64) Expr { return Expr{op: 'c', num: n} }

// Var is a variable: r, D, M, K, N, a loop index or a name bound by Let.
func Var(name string) Expr { return Expr{op: 'v', name: name} }

// Variables that every program has.
var (
	Rank = Var("r") // of the rank that runs the program
	Size = Var("D") // of the mesh
)

// Variables of the hosts: with one host, H is 1, L is D, h is 0 and l is r.
var (
	Hosts   = Var("H") // of the mesh
	PerHost = Var("L") // ranks of each
	Host    = Var("h") // of the rank that runs the program
	Local   = Var("l") // its number on that host
)

// Place sets the variables of a rank's place. No hosts count as one.
func (e Env) Place(rank, ranks, hosts int) Env {
	hosts = max(hosts, 1)
	each := max(ranks/hosts, 1)
	e["r"], e["D"], e["H"], e["L"] = int64(rank), int64(ranks), int64(hosts), int64(each)
	e["h"], e["l"] = int64(rank/each), int64(rank%each)
	return e
}

// Add is x + y.
func Add(x, y Expr) Expr { return Expr{op: '+', x: &x, y: &y} }

// Sub is x - y.
func Sub(x, y Expr) Expr { return Expr{op: '-', x: &x, y: &y} }

// Mul is x * y.
func Mul(x, y Expr) Expr { return Expr{op: '*', x: &x, y: &y} }

// Div is x / y, rounded towards zero.
func Div(x, y Expr) Expr { return Expr{op: '/', x: &x, y: &y} }

// Mod is x % y.
func Mod(x, y Expr) Expr { return Expr{op: '%', x: &x, y: &y} }

// Without is the expression without one of its factors, and whether it has that factor.
func (e Expr) Without(factor Expr) (Expr, bool) {
	if e.Equal(factor) {
		return Const(1), true
	}
	if e.op != '*' {
		return e, false
	}
	if x, ok := e.x.Without(factor); ok {
		return product(x, *e.y), true
	}
	y, ok := e.y.Without(factor)
	return product(*e.x, y), ok
}

// product is x * y, without a factor of one.
func product(x, y Expr) Expr {
	switch one := Const(1); {
	case x.Equal(one):
		return y
	case y.Equal(one):
		return x
	}
	return Mul(x, y)
}

// IsZero reports whether there is no expression.
func (e Expr) IsZero() bool { return e.op == 0 }

// Equal reports whether both are the same tree.
func (e Expr) Equal(o Expr) bool { return e.Text(identity) == o.Text(identity) }

// Env gives variables their values.
type Env map[string]int64

// Eval computes the expression. Unknown variables and divisions by zero are errors.
func (e Expr) Eval(env Env) (int64, error) {
	switch e.op {
	case 'c':
		return e.num, nil
	case 'v':
		if v, ok := env[e.name]; ok {
			return v, nil
		}
		return 0, fmt.Errorf("evaluate %s: %s has no value", e, e.name)
	case 0:
		return 0, fmt.Errorf("evaluate an expression that is absent")
	}
	x, err := e.x.Eval(env)
	if err != nil {
		return 0, err
	}
	y, err := e.y.Eval(env)
	if err != nil {
		return 0, err
	}
	switch e.op {
	case '+':
		return x + y, nil
	case '-':
		return x - y, nil
	case '*':
		return x * y, nil
	}
	if y == 0 {
		return 0, fmt.Errorf("evaluate %s: division by zero", e)
	}
	if e.op == '/' {
		return x / y, nil
	}
	return x % y, nil
}

// Vars calls f for each variable in the expression, from left to right.
func (e Expr) Vars(f func(name string)) {
	if e.op == 'v' {
		f(e.name)
	}
	if e.x != nil {
		e.x.Vars(f)
		e.y.Vars(f)
	}
}

// Replace is the expression with other expressions in place of variables.
func (e Expr) Replace(with map[string]Expr) Expr {
	if x, ok := with[e.name]; ok && e.op == 'v' {
		return x
	}
	if e.x == nil {
		return e
	}
	x, y := e.x.Replace(with), e.y.Replace(with)
	return Expr{op: e.op, x: &x, y: &y}
}

// String prints the expression with the names it was built from: (r + i) % D.
func (e Expr) String() string { return e.Text(identity) }

// Text prints the expression with the given names for its variables. The same text
// is valid Go and valid C, where all values are of one signed integer type.
func (e Expr) Text(name func(string) string) string { return e.text(name, 0) }

func identity(s string) string { return s }

// levels are the precedences common to Go and C.
var levels = map[byte]int{'+': 1, '-': 1, '*': 2, '/': 2, '%': 2}

func (e Expr) text(name func(string) string, outer int) string {
	switch e.op {
	case 0:
		return ""
	case 'c':
		return strconv.FormatInt(e.num, 10)
	case 'v':
		return name(e.name)
	}
	level := levels[e.op]
	left := e.x.text(name, level)
	right := e.y.text(name, level+1)
	space := " "
	if level == 2 && e.op != '%' {
		space = ""
	}
	s := left + space + string(e.op) + space + right
	if level < outer {
		return "(" + s + ")"
	}
	return s
}

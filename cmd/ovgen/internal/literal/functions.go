package literal

import (
	"go/ast"
	"go/types"
	"reflect"
	"strconv"

	"ovgen/schedule"
)

// made has the functions of package schedule that make a part of a formula, or a Func that schedule.Library lacks. A
// function that is missing here is not read.
var made = map[string]any{
	"GELUByErf": schedule.GELUByErf, "Modulate": schedule.Modulate, "Multiply": schedule.Multiply,
	"QuickGELU": schedule.QuickGELU, "ReGLU": schedule.ReGLU, "RotaryOf": schedule.RotaryOf, "Scale": schedule.Scale,
	"Sigmoid": schedule.Sigmoid, "SoftCap": schedule.SoftCap, "Softmax": schedule.Softmax,
	"SquaredReLU": schedule.SquaredReLU,

	"Of": schedule.Of, "Row": schedule.Row, "Column": schedule.Column, "HeadRow": schedule.HeadRow,
	"Cos": schedule.Cos, "Sin": schedule.Sin, "Num": schedule.Num, "Param": schedule.Param, "Plus": schedule.Plus,
	"Minus": schedule.Minus, "Times": schedule.Times, "Over": schedule.Over, "Greatest": schedule.Greatest,
	"Least": schedule.Least, "Neg": schedule.Neg, "Abs": schedule.Abs, "Finite": schedule.Finite,
	"Power": schedule.Power, "LoudPower": schedule.LoudPower,
	"Up": schedule.Up, "Exp": schedule.Exp, "Tanh": schedule.Tanh, "Erf": schedule.Erf,
	"Log": schedule.Log, "Root": schedule.Root, "RecipRoot": schedule.RecipRoot,
	"Below": schedule.Below, "If": schedule.If, "SumOver": schedule.SumOver, "Mean": schedule.Mean,
	"Most": schedule.Most, "Turned": schedule.Turned,
}

// function is the function of made or of schedule.Library that a call calls, if it takes that number of arguments.
func (s *Source) function(call *ast.CallExpr) (f reflect.Value, ok bool) {
	name, _ := s.called(call)
	n := len(call.Args)
	for _, c := range schedule.Library() {
		if c.Name == name {
			return reflect.ValueOf(c.Of), n == c.Operands && !call.Ellipsis.IsValid()
		}
	}
	if f = reflect.ValueOf(made[name]); !f.IsValid() || call.Ellipsis.IsValid() {
		return f, false
	}
	return f, n == f.Type().NumIn() || f.Type().IsVariadic() && n >= f.Type().NumIn()-1
}

// parameter is the type of a function's argument.
func parameter(f reflect.Type, i int) reflect.Type {
	if last := f.NumIn() - 1; f.IsVariadic() && i >= last {
		return f.In(last).Elem()
	}
	return f.In(i)
}

// applied reads the result of a call of such a function.
func (v *reading) applied(to reflect.Value, call *ast.CallExpr, path string) (ok bool) {
	f, ok := v.function(call)
	if !ok || to.Type() != f.Type().Out(0) {
		return false
	}
	args := make([]reflect.Value, len(call.Args))
	for i, arg := range call.Args {
		args[i] = reflect.New(parameter(f.Type(), i)).Elem()
		v.read(args[i], arg, path)
	}
	to.Set(f.Call(args)[0])
	return true
}

// isX reports whether an expression is schedule.X.
func (s *Source) isX(e *ast.SelectorExpr) bool {
	x, ok := s.info.Uses[e.Sel].(*types.Var)
	return ok && x.Name() == "X" && x.Pkg() != nil && x.Pkg().Path() == Path
}

// argumentOf marks a formula that is an argument of a call. The number firstNumber + i stands for a number that is
// argument i.
const (
	argumentOf  schedule.Do = "argument"
	firstNumber             = 1 << 40
)

// stands returns a value that stands for argument i of a call: a formula, names with the value i, or a number.
func stands(t reflect.Type, i int) reflect.Value {
	at := reflect.New(t).Elem()
	switch x := at.Addr().Interface().(type) {
	case *schedule.Expr:
		*x = schedule.Expr{Do: argumentOf, Number: float64(i)}
	case *schedule.Columns:
		*x = schedule.Columns{Below: firstNumber + i, Head: schedule.Extent(strconv.Itoa(i))}
	case *schedule.Extent:
		*x = schedule.Extent(strconv.Itoa(i))
	case *string:
		*x = strconv.Itoa(i)
	case *int:
		*x = firstNumber + i
	case *float64:
		*x = float64(firstNumber + i)
	}
	return at
}

// formula finds a field of the result of a call of such a function.
func (s *Source) formula(call *ast.CallExpr, f reflect.Value, name string) (place, bool) {
	is := s.tree(call, f)
	if f.Type().Out(0) == reflect.TypeFor[schedule.Func]() {
		return place{call, is}, name == "Is"
	}
	lit, ok := is.(*ast.CompositeLit)
	if !ok {
		return place{}, false
	}
	return s.field(lit, name)
}

// tree is the formula that a call makes, as a literal with the arguments in their places; nil if the call makes no
// formula.
func (s *Source) tree(call *ast.CallExpr, f reflect.Value) ast.Expr {
	args := make([]reflect.Value, len(call.Args))
	for i := range args {
		args[i] = stands(parameter(f.Type(), i), i)
	}
	switch x := f.Call(args)[0].Interface().(type) {
	case schedule.Func:
		return written(x.Is, call)
	case schedule.Expr:
		return written(x, call)
	}
	return nil
}

// written is a formula as a literal, at the position of a call.
func written(e schedule.Expr, call *ast.CallExpr) ast.Expr {
	if e.Do == argumentOf {
		return call.Args[int(e.Number)]
	}
	lit := &ast.CompositeLit{Lbrace: call.Pos(), Rbrace: call.End()}
	field := func(name string, value ast.Expr) {
		lit.Elts = append(lit.Elts, &ast.KeyValueExpr{Key: &ast.Ident{NamePos: value.Pos(), Name: name}, Value: value})
	}
	for name, is := range map[string]string{"Tensor": e.Tensor, "Name": e.Name, "Group": string(e.Group)} {
		if i, err := strconv.Atoi(is); err == nil {
			field(name, call.Args[i])
		}
	}
	if e.Number >= firstNumber {
		field("Number", call.Args[int(e.Number)-firstNumber])
	}
	of := &ast.CompositeLit{Lbrace: call.Pos(), Rbrace: call.End()}
	for _, x := range e.Of {
		of.Elts = append(of.Elts, written(x, call))
	}
	field("Of", of)
	return lit
}

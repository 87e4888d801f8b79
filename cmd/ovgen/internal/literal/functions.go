package literal

import (
	"fmt"
	"go/ast"
	"reflect"
	"slices"
	"strconv"

	"ovgen/schedule"
)

// function is a function of the library that a call makes, with the numbers of the arguments for its tensors.
func (s *Source) function(call *ast.CallExpr) (f schedule.Func, c schedule.Constructor, ok bool) {
	name, ok := s.called(call)
	list := schedule.Library()
	i := slices.IndexFunc(list, func(c schedule.Constructor) bool { return c.Name == name })
	if !ok || i < 0 || call.Ellipsis.IsValid() || len(call.Args) != list[i].Operands {
		return f, c, false
	}
	var of []string
	for i := range call.Args {
		of = append(of, strconv.Itoa(i))
	}
	return list[i].Of(of...), list[i], true
}

// applied reads the function that a call makes.
func (v *reading) applied(to reflect.Value, call *ast.CallExpr, path string) (ok bool) {
	f, c, ok := v.function(call)
	if !ok || to.Type() != reflect.TypeOf(f) {
		return false
	}
	of := make([]string, len(call.Args))
	for i, arg := range call.Args {
		v.read(reflect.ValueOf(&of[i]).Elem(), arg, join(path, leaf(f.Is, strconv.Itoa(i), "Is")))
	}
	to.Set(reflect.ValueOf(c.Of(of...)))
	return true
}

// leaf is the path of the first leaf of a tensor.
func leaf(e schedule.Expr, tensor, path string) string {
	if e.Tensor == tensor {
		return path + ".Tensor"
	}
	for i, x := range e.Of {
		if at := leaf(x, tensor, fmt.Sprintf("%s.Of[%d]", path, i)); at != "" {
			return at
		}
	}
	return ""
}

// tree is a function's tree as a literal at a call, with the arguments in the places of their tensors.
func tree(e schedule.Expr, call *ast.CallExpr) *ast.CompositeLit {
	lit := &ast.CompositeLit{Lbrace: call.Pos(), Rbrace: call.End()}
	field := func(name string, value ast.Expr) {
		lit.Elts = append(lit.Elts, &ast.KeyValueExpr{Key: &ast.Ident{NamePos: value.Pos(), Name: name}, Value: value})
	}
	if i, err := strconv.Atoi(e.Tensor); err == nil {
		field("Tensor", call.Args[i])
	}
	of := &ast.CompositeLit{Lbrace: call.Pos(), Rbrace: call.End()}
	for _, x := range e.Of {
		of.Elts = append(of.Elts, tree(x, call))
	}
	field("Of", of)
	return lit
}

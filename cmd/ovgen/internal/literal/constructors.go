package literal

import (
	"go/ast"
	"go/types"
	"reflect"

	"ovgen/schedule"
)

// constructor is a function of package schedule, with the meaning of its arguments.
type constructor struct {
	value  any       // its result, without its arguments
	fields []string  // fields that the first arguments set; an empty name is an argument of a list
	lists  []sublist // fields that several arguments set
}

// sublist is a field that consists of the arguments from from to to, or to the last one.
type sublist struct {
	field    string
	from, to int // to is 0 for all
}

// constructors has each function with which a schedule is written, except functions that make a Func or a part of a
// formula; functions.go has these.
var constructors = map[string]constructor{
	"Dim":      {value: schedule.Axis{}, fields: []string{"Extent"}, lists: []sublist{{"Outer", 1, 0}}},
	"DIDx":     {value: schedule.DIDx(""), fields: []string{"Count"}},
	"Balanced": {value: schedule.Balanced(""), fields: []string{"Count"}},
	"Stream":   {value: schedule.Stream(""), fields: []string{"Count"}},
	"Linear": {value: schedule.Linear("", "", ""), fields: []string{"Out"},
		lists: []sublist{{"In", 1, 3}, {"Then", 3, 0}}},
	"LinearPartial": {value: schedule.LinearPartial("", "", ""), fields: []string{"Out"},
		lists: []sublist{{"In", 1, 3}}},
	"BatchedLinear": {value: schedule.BatchedLinear("", "", ""), fields: []string{"Out"},
		lists: []sublist{{"In", 1, 3}, {"Then", 3, 0}}},
	"Matmul": {value: schedule.Matmul("", "", ""), fields: []string{"Out"},
		lists: []sublist{{"In", 1, 3}, {"Then", 3, 0}}},
	"Gradient": {value: schedule.Gradient("", "", ""), fields: []string{"Out"},
		lists: []sublist{{"In", 1, 3}, {"Then", 3, 0}}},
	"Sum": {value: schedule.Sum("", ""), fields: []string{"Out"}, lists: []sublist{{"In", 1, 2}}},
	"Copy": {value: schedule.Copy("", ""), fields: []string{"Out"},
		lists: []sublist{{"In", 1, 2}, {"Then", 2, 0}}},
	"Call": {value: schedule.Call("", "", ""), fields: []string{"Out", "Call", "Index"},
		lists: []sublist{{"In", 3, 0}}},
	"CallRows": {value: schedule.CallRows("", "", ""), fields: []string{"Out", "Call", "Index"},
		lists: []sublist{{"In", 3, 0}}},
	"CallPartial": {value: schedule.CallPartial("", "", ""), fields: []string{"Out", "Call", "Index"},
		lists: []sublist{{"In", 3, 0}}},
	"CallKernel": {value: schedule.CallKernel("", "", "", schedule.Kernel{}),
		fields: []string{"Out", "Call", "Index", "Kernel"}, lists: []sublist{{"In", 4, 0}}},
}

// setters are the methods of values of package schedule that set a field of a copy, with the name of the field.
var setters = map[string]string{"WithEpsilon": "Epsilon", "InHeads": "Group", "PerHead": "Group", "By": "Kernel"}

// adders are the methods that add an element to a list, with the name of the list; elements has the fields that their
// arguments set.
var (
	adders   = map[string]string{"Keeping": "Also"}
	elements = map[string][]string{"Also": {"Out", "After"}}
)

// setter returns the field that a call of a setter sets, and the value that it is called on.
func (s *Source) setter(call *ast.CallExpr) (field string, on ast.Expr, ok bool) {
	return s.method(call, setters)
}

// adder returns the list to which a call of an adder adds, and the value that it is called on.
func (s *Source) adder(call *ast.CallExpr) (field string, on ast.Expr, ok bool) {
	return s.method(call, adders)
}

// added is the element that a call of an adder adds to a list.
func added(call *ast.CallExpr, list string) *ast.CompositeLit {
	lit := &ast.CompositeLit{Lbrace: call.Pos(), Rbrace: call.End()}
	for i, field := range elements[list] {
		at := call.Args[i]
		lit.Elts = append(lit.Elts, &ast.KeyValueExpr{Key: &ast.Ident{NamePos: at.Pos(), Name: field}, Value: at})
	}
	return lit
}

// method returns the field of the called method of package schedule, and the value that it is called on.
func (s *Source) method(call *ast.CallExpr, fields map[string]string) (field string, on ast.Expr, ok bool) {
	f, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return "", nil, false
	}
	m, known := s.info.Uses[f.Sel].(*types.Func)
	if !known || m.Pkg() == nil || m.Pkg().Path() != Path || m.Signature().Recv() == nil {
		return "", nil, false
	}
	field, ok = fields[m.Name()]
	return field, f.X, ok
}

// list is the range of the arguments that a field consists of.
func (c constructor) list(field string, args int) (from, to int, ok bool) {
	for _, l := range c.lists {
		if l.field == field && args >= max(l.from, l.to) {
			if l.to == 0 {
				return l.from, args, args > l.from
			}
			return l.from, l.to, true
		}
	}
	return 0, 0, false
}

// takes reports whether a value may be the constructor's result.
func (c constructor) takes(to reflect.Value) bool {
	return to.CanSet() && reflect.TypeOf(c.value) == to.Type()
}

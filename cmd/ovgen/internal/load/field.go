package load

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
)

// pathStep is a field name or an index of a path such as Tensors[1].Axes[0].
var pathStep = regexp.MustCompile(`\w+`)

// Position is where the field of that path is written: the deepest part of the
// path that is a literal, or made by one of package schedule's constructors. A
// computed schedule has the position of its declaration.
func (d *Declaration) Position(path string) token.Position {
	at, value := ast.Node(d.name), d.value
	for _, step := range pathStep.FindAllString(path, -1) {
		next, ok := d.pkg.descend(value, step)
		if !ok {
			break
		}
		at, value = next.at, next.value
	}
	return d.pkg.position(at)
}

func (s *source) position(n ast.Node) token.Position {
	return relative(s.dir, s.pkg.Fset.Position(n.Pos()))
}

// place is where an element is written, and its value.
type place struct {
	at    ast.Node
	value ast.Expr
}

// descend finds one field or element of a value.
func (s *source) descend(value ast.Expr, step string) (place, bool) {
	switch v := ast.Unparen(s.follow(value)).(type) {
	case *ast.CompositeLit:
		if i, err := strconv.Atoi(step); err == nil {
			return element(v, i)
		}
		return s.field(v, step)
	case *ast.CallExpr:
		return s.argument(v, step)
	}
	return place{}, false
}

// follow goes from a package-level variable to what it is set to.
func (s *source) follow(value ast.Expr) ast.Expr {
	for range 8 { // longer chains are not worth a loop check
		id, ok := ast.Unparen(value).(*ast.Ident)
		if !ok || s.vars[s.pkg.TypesInfo.Uses[id]] == nil {
			break
		}
		value = s.vars[s.pkg.TypesInfo.Uses[id]]
	}
	return value
}

// field finds a field of a struct literal, or, for the path of a slice, the slice itself.
func (s *source) field(lit *ast.CompositeLit, name string) (place, bool) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == name {
				return place{kv, kv.Value}, true
			}
		}
	}
	t, ok := s.pkg.TypesInfo.TypeOf(lit).Underlying().(*types.Struct)
	if !ok {
		return place{}, false
	}
	for i := range t.NumFields() {
		if t.Field(i).Name() == name {
			return element(lit, i)
		}
	}
	return place{}, false
}

// element finds an element that is written without a key.
func element(lit *ast.CompositeLit, i int) (place, bool) {
	if i >= len(lit.Elts) {
		return place{}, false
	}
	for _, e := range lit.Elts[:i+1] {
		if _, ok := e.(*ast.KeyValueExpr); ok {
			return place{}, false
		}
	}
	return place{lit.Elts[i], lit.Elts[i]}, true
}

// argument finds a field among the arguments of Dim, DIDx or Stream. The splits
// of a Dim are the rest of its arguments, so Outer stays at the call.
func (s *source) argument(call *ast.CallExpr, step string) (place, bool) {
	args := call.Args
	name := s.constructor(call)
	if step == "Outer" && name == "Dim" && len(args) > 1 && !call.Ellipsis.IsValid() {
		return place{call, &ast.CompositeLit{Elts: args[1:]}}, true
	}
	if len(args) > 0 && (step == "Extent" && name == "Dim" || step == "Count" && (name == "DIDx" || name == "Stream")) {
		return place{args[0], args[0]}, true
	}
	return place{}, false
}

// constructor is the name of the function of package schedule that is called.
func (s *source) constructor(call *ast.CallExpr) string {
	var id *ast.Ident
	switch f := call.Fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return ""
	}
	f, ok := s.pkg.TypesInfo.Uses[id].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != schedulePath {
		return ""
	}
	return f.Name()
}

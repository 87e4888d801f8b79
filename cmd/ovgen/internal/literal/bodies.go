package literal

import (
	"cmp"
	"go/ast"
	"go/types"
)

// arguments are the arguments of the parameters of the package's functions.
type arguments map[types.Object]ast.Expr

// makesFormula reports whether a function, not a method, returns a Func or an Expr, and has a fixed number of
// arguments.
func makesFormula(f *types.Func) bool {
	t := f.Signature()
	if t.Recv() != nil || t.Variadic() || t.Results().Len() != 1 {
		return false
	}
	made := t.Results().At(0).Type()
	return isNamed(made, "Func") || isNamed(made, "Expr")
}

// returned is the expression that a function of one statement returns; nil for other functions.
func returned(f *ast.FuncDecl) ast.Expr {
	if f.Body == nil || len(f.Body.List) != 1 {
		return nil
	}
	r, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return nil
	}
	return r.Results[0]
}

// given is the argument of a parameter; nil if e is no parameter.
func (s *Source) given(e ast.Expr, all arguments) ast.Expr {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		return all[s.info.Uses[id]]
	}
	return nil
}

// enter goes from a variable to its value, and from a call of a function that makes a formula to the expression that it
// returns; it adds the arguments of the function's parameters to given.
func (s *Source) enter(value ast.Expr, given arguments) ast.Expr {
	for range 8 { // a function may call itself
		value = ast.Unparen(s.follow(value))
		call, ok := value.(*ast.CallExpr)
		if !ok {
			break
		}
		id, ok := call.Fun.(*ast.Ident)
		if !ok || s.bodies[s.info.Uses[id]] == nil {
			break
		}
		f, i := s.bodies[s.info.Uses[id]], 0
		for _, p := range f.Type.Params.List {
			for _, name := range p.Names {
				given[s.info.Defs[name]] = cmp.Or(s.given(call.Args[i], given), call.Args[i])
				i++
			}
		}
		value = returned(f)
	}
	return value
}

package literal

import (
	"cmp"
	"go/ast"
	"go/types"
)

// arguments are what the parameters of functions of the package stand for.
type arguments map[types.Object]ast.Expr

// makesFormula says that a function, no method, returns a Func or an Expr, of a fixed number of arguments.
func makesFormula(f *types.Func) bool {
	t := f.Signature()
	if t.Recv() != nil || t.Variadic() || t.Results().Len() != 1 {
		return false
	}
	made := t.Results().At(0).Type()
	return isNamed(made, "Func") || isNamed(made, "Expr")
}

// returned is what a function of one statement returns; nil of other functions.
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

// given is the argument that a parameter stands for; nil of what is none.
func (s *Source) given(e ast.Expr, all arguments) ast.Expr {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		return all[s.info.Uses[id]]
	}
	return nil
}

// enter goes from a variable to its value, and from a call of such a function of the package to what it returns; its
// parameters are given then.
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

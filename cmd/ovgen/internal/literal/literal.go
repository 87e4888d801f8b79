package literal

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"

	"ovgen/cmd/ovgen/internal/module"
)

// Path is the package whose type Schedule is read.
var Path = module.Package("schedule")

// Source is the syntax of a package and its types.
type Source struct {
	info   *types.Info
	vars   map[types.Object]ast.Expr      // package-level variables and their values
	bodies map[types.Object]*ast.FuncDecl // functions that only return a function or a formula
	// changed has the variables that code assigns to, or whose address it takes.
	changed map[types.Object]bool
}

// New reads the package-level variables of a package.
func New(info *types.Info, files []*ast.File) *Source {
	s := &Source{info: info, vars: map[types.Object]ast.Expr{}, changed: map[types.Object]bool{},
		bodies: map[types.Object]*ast.FuncDecl{}}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						s.declare(v)
					}
				}
			case *ast.FuncDecl:
				if f, ok := info.Defs[d.Name].(*types.Func); ok && makesFormula(f) && returned(d) != nil {
					s.bodies[f] = d
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					s.change(e)
				}
			case *ast.IncDecStmt:
				s.change(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					s.change(n.X)
				}
			}
			return true
		})
	}
	return s
}

func (s *Source) declare(spec *ast.ValueSpec) {
	if len(spec.Values) != len(spec.Names) {
		return
	}
	for i, id := range spec.Names {
		if obj := s.info.Defs[id]; obj != nil {
			s.vars[obj] = spec.Values[i]
		}
	}
}

// change notes the variable that an assignment to e changes.
func (s *Source) change(e ast.Expr) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
			continue
		case *ast.IndexExpr:
			e = x.X
			continue
		case *ast.Ident:
			if obj := s.info.Uses[x]; obj != nil {
				s.changed[obj] = true
			}
		}
		return
	}
}

// IsSchedule reports whether a type is schedule.Schedule.
func IsSchedule(t types.Type) bool { return isNamed(t, "Schedule") }

// isNamed reports whether a type is the named type of package schedule.
func isNamed(t types.Type, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == Path
}

// Place is where a field is written.
type Place struct {
	At ast.Node // the deepest written part of the path; nil where no part is written
	// Whole says that At is the whole path.
	Whole bool
	// Computed says that the rest of the path, below At, is not a literal.
	Computed bool
}

// step is a field name or an index of a path such as Tensors[1].Axes[0].
var step = regexp.MustCompile(`\w+`)

// Find looks up the path of a field in the value of a schedule.
func (s *Source) Find(value ast.Expr, path string) Place {
	var found Place
	given := arguments{}
	for _, name := range step.FindAllString(path, -1) {
		value = ast.Unparen(s.enter(value, given))
		next, ok := s.descend(value, name)
		if !ok {
			_, lit := value.(*ast.CompositeLit)
			found.Computed = value != nil && !lit
			return found
		}
		found.At, value = next.at, next.value
		if arg := s.given(value, given); arg != nil { // the value of a parameter is written at the call
			found.At, value = arg, arg
		}
	}
	found.Whole = true
	return found
}

// place is the node at which an element is written, and its value.
type place struct {
	at    ast.Node
	value ast.Expr
}

// descend finds one field or element of a value.
func (s *Source) descend(value ast.Expr, name string) (place, bool) {
	switch v := value.(type) {
	case *ast.CompositeLit:
		if t := s.info.TypeOf(v); t != nil { // a list of arguments has no type
			if _, ok := t.Underlying().(*types.Map); ok {
				return s.entry(v, name)
			}
		}
		if i, err := strconv.Atoi(name); err == nil {
			return element(v, i)
		}
		return s.field(v, name)
	case *ast.CallExpr:
		return s.argument(v, name)
	}
	return place{}, false
}

// follow goes from a package-level variable to its value.
func (s *Source) follow(value ast.Expr) ast.Expr {
	for range 8 { // longer chains are not worth a loop check
		id, ok := ast.Unparen(value).(*ast.Ident)
		if !ok || s.vars[s.info.Uses[id]] == nil {
			break
		}
		value = s.vars[s.info.Uses[id]]
	}
	return value
}

// field finds a field of a struct literal.
func (s *Source) field(lit *ast.CompositeLit, name string) (place, bool) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == name {
				return place{kv, kv.Value}, true
			}
		}
	}
	of := s.info.TypeOf(lit)
	if of == nil { // part of a call's result
		return place{}, false
	}
	t, ok := of.Underlying().(*types.Struct)
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

// entry finds an element of a map by its key.
func (s *Source) entry(lit *ast.CompositeLit, key string) (place, bool) {
	for _, e := range lit.Elts {
		kv := e.(*ast.KeyValueExpr) // elements of maps have keys
		if x := s.info.Types[kv.Key].Value; x != nil && x.Kind() == constant.String && constant.StringVal(x) == key {
			return place{kv, kv.Value}, true
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

// argument finds a field among the arguments of a constructor. A field of several arguments is a new literal, at the
// position of the call.
func (s *Source) argument(call *ast.CallExpr, name string) (place, bool) {
	if field, on, ok := s.setter(call); ok {
		if field == name {
			return place{call.Args[0], call.Args[0]}, true
		}
		return s.descend(ast.Unparen(s.follow(on)), name)
	}
	if field, on, ok := s.adder(call); ok {
		if field == name {
			return place{call, s.list(call, field)}, true
		}
		return s.descend(ast.Unparen(s.follow(on)), name)
	}
	if f, ok := s.function(call); ok {
		return s.formula(call, f, name)
	}
	c, ok := s.constructor(call)
	if !ok || call.Ellipsis.IsValid() {
		return place{}, false
	}
	for i, f := range c.fields {
		if f != name || i >= len(call.Args) {
			continue
		}
		return place{call.Args[i], call.Args[i]}, true
	}
	if from, to, ok := c.list(name, len(call.Args)); ok {
		return place{call, &ast.CompositeLit{Elts: call.Args[from:to]}}, true
	}
	return place{}, false
}

// list is a list of the elements that calls of adders add to it, one after the other.
func (s *Source) list(call *ast.CallExpr, field string) *ast.CompositeLit {
	all := &ast.CompositeLit{}
	for is := true; is; {
		all.Elts = append([]ast.Expr{added(call, field)}, all.Elts...)
		_, on, _ := s.adder(call)
		if call, is = ast.Unparen(s.follow(on)).(*ast.CallExpr); is {
			f, _, adds := s.adder(call)
			is = adds && f == field
		}
	}
	return all
}

// constructor is the constructor of package schedule that a call calls.
func (s *Source) constructor(call *ast.CallExpr) (c constructor, ok bool) {
	name, _ := s.called(call)
	c, ok = constructors[name]
	return c, ok
}

// called is the name of the function of package schedule that a call calls.
func (s *Source) called(call *ast.CallExpr) (name string, ok bool) {
	var id *ast.Ident
	switch f := call.Fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return "", false
	}
	f, ok := s.info.Uses[id].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != Path || f.Signature().Recv() != nil {
		return "", false
	}
	return f.Name(), true
}

// Changed reports whether code of the package assigns to a variable, or to a part of it, or takes its address.
func (s *Source) Changed(obj types.Object) bool { return s.changed[obj] }

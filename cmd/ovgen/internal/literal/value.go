package literal

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"

	"ovgen/schedule"
)

// Value returns the schedule that an expression evaluates to, and the paths of the fields that are not constant; these
// fields are zero in the schedule.
func (s *Source) Value(e ast.Expr) (value schedule.Schedule, unknown []string) {
	v := &reading{Source: s, inside: map[types.Object]bool{}}
	v.read(reflect.ValueOf(&value).Elem(), e, "")
	return value, v.unknown
}

// reading is the state of reading an expression.
type reading struct {
	*Source
	unknown []string
	inside  map[types.Object]bool // variables whose values are being read
}

func (v *reading) fails(path string) { v.unknown = append(v.unknown, path) }

// read sets a value from an expression.
func (v *reading) read(to reflect.Value, e ast.Expr, path string) {
	e = ast.Unparen(e)
	if tv := v.info.Types[e]; tv.Value != nil {
		if !set(to, tv.Value) {
			v.fails(path)
		}
		return
	}
	switch x := e.(type) {
	case *ast.Ident:
		obj := v.info.Uses[x]
		if v.vars[obj] == nil || v.changed[obj] || v.inside[obj] {
			v.fails(path)
			return
		}
		v.inside[obj] = true
		v.read(to, v.vars[obj], path)
		delete(v.inside, obj)
	case *ast.SelectorExpr: // schedule.X is the zero of an Expr
		if !v.isX(x) {
			v.fails(path)
		}
	case *ast.CompositeLit:
		v.literal(to, x, path)
	case *ast.CallExpr:
		v.call(to, x, path)
	default:
		v.fails(path)
	}
}

func set(to reflect.Value, c constant.Value) bool {
	switch {
	case to.Kind() == reflect.String && c.Kind() == constant.String:
		to.SetString(constant.StringVal(c))
	case to.Kind() == reflect.Bool && c.Kind() == constant.Bool:
		to.SetBool(constant.BoolVal(c))
	case to.Kind() == reflect.Int:
		n, exact := constant.Int64Val(constant.ToInt(c))
		if !exact {
			return false
		}
		to.SetInt(n)
	case to.Kind() == reflect.Float64:
		x, _ := constant.Float64Val(constant.ToFloat(c))
		to.SetFloat(x)
	default:
		return false
	}
	return true
}

// literal reads a struct, a slice or a map.
func (v *reading) literal(to reflect.Value, lit *ast.CompositeLit, path string) {
	switch to.Kind() {
	case reflect.Interface:
		v.way(to, lit, path)
	case reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), len(lit.Elts), len(lit.Elts)))
		for i, e := range lit.Elts {
			at := fmt.Sprintf("%s[%d]", path, i)
			if _, keyed := e.(*ast.KeyValueExpr); keyed {
				v.fails(path)
				return
			}
			v.read(to.Index(i), e, at)
		}
	case reflect.Map:
		v.entries(to, lit, path)
	case reflect.Struct:
		for i, e := range lit.Elts {
			name, value := "", e
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				name, value = kv.Key.(*ast.Ident).Name, kv.Value
			} else if i < to.NumField() {
				name = to.Type().Field(i).Name
			}
			field := to.FieldByName(name)
			if !field.IsValid() { // the field belongs to another version of package schedule
				v.fails(path)
				return
			}
			v.read(field, value, join(path, name))
		}
	default:
		v.fails(path)
	}
}

// entries reads a map.
func (v *reading) entries(to reflect.Value, lit *ast.CompositeLit, path string) {
	to.Set(reflect.MakeMap(to.Type()))
	for _, e := range lit.Elts {
		kv := e.(*ast.KeyValueExpr) // elements of maps have keys
		key, value := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
		name := v.info.Types[kv.Key].Value
		if name == nil || !set(key, name) {
			v.fails(path)
			return
		}
		v.read(value, kv.Value, fmt.Sprintf("%s[%s]", path, key))
		to.SetMapIndex(key, value)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// call reads the result of a constructor of package schedule.
func (v *reading) call(to reflect.Value, call *ast.CallExpr, path string) {
	if field, on, ok := v.setter(call); ok && to.FieldByName(field).IsValid() {
		v.read(to, on, path)
		v.read(to.FieldByName(field), call.Args[0], join(path, field))
		return
	}
	if field, on, ok := v.adder(call); ok && to.FieldByName(field).IsValid() {
		v.read(to, on, path)
		list := to.FieldByName(field)
		element := reflect.New(list.Type().Elem()).Elem()
		v.literal(element, added(call, field), fmt.Sprintf("%s[%d]", join(path, field), list.Len()))
		list.Set(reflect.Append(list, element))
		return
	}
	if v.applied(to, call, path) {
		return
	}
	c, ok := v.constructor(call)
	if !ok || !c.takes(to) || call.Ellipsis.IsValid() || len(call.Args) < len(c.fields) {
		v.fails(path)
		return
	}
	to.Set(reflect.ValueOf(c.value))
	for i, f := range c.fields {
		v.read(to.FieldByName(f), call.Args[i], join(path, f))
	}
	for _, l := range c.lists {
		field := to.FieldByName(l.field)
		field.SetZero()
		from, end, ok := c.list(l.field, len(call.Args))
		if !ok {
			continue
		}
		field.Set(reflect.MakeSlice(field.Type(), end-from, end-from))
		for i := range end - from {
			v.read(field.Index(i), call.Args[from+i], fmt.Sprintf("%s[%d]", join(path, l.field), i))
		}
	}
}

// way reads a way: an interface with the struct that the literal names.
func (v *reading) way(to reflect.Value, lit *ast.CompositeLit, path string) {
	named, ok := types.Unalias(v.info.TypeOf(lit)).(*types.Named)
	if ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == Path {
		for _, w := range schedule.Ways() {
			if schedule.WayName(w) == named.Obj().Name() {
				made := reflect.New(reflect.TypeOf(w)).Elem()
				v.literal(made, lit, path)
				to.Set(made)
				return
			}
		}
	}
	v.fails(path)
}

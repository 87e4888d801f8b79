package literal

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"

	"ovgen/schedule"
)

// Value is what an expression of type schedule.Schedule says, and the paths of what is
// not constant in it, which are left zero.
func (s *Source) Value(e ast.Expr) (value schedule.Schedule, unknown []string) {
	v := &reading{Source: s, inside: map[types.Object]bool{}}
	v.read(reflect.ValueOf(&value).Elem(), e, "")
	return value, v.unknown
}

// reading is an expression being read.
type reading struct {
	*Source
	unknown []string
	inside  map[types.Object]bool // variables whose values are being read
}

func (v *reading) fails(path string) { v.unknown = append(v.unknown, path) }

// read sets a value to what an expression says.
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
	default:
		return false
	}
	return true
}

// literal reads a struct or a slice.
func (v *reading) literal(to reflect.Value, lit *ast.CompositeLit, path string) {
	switch to.Kind() {
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
	case reflect.Struct:
		for i, e := range lit.Elts {
			name, value := "", e
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				name, value = kv.Key.(*ast.Ident).Name, kv.Value
			} else if i < to.NumField() {
				name = to.Type().Field(i).Name
			}
			field := to.FieldByName(name)
			if !field.IsValid() { // of another version of package schedule
				v.fails(path)
				return
			}
			v.read(field, value, join(path, name))
		}
	default:
		v.fails(path)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// call reads what a constructor of package schedule makes.
func (v *reading) call(to reflect.Value, call *ast.CallExpr, path string) {
	name := v.constructor(call)
	switch made := to.Addr().Interface().(type) {
	case *schedule.Axis:
		if name != "Dim" || len(call.Args) == 0 || call.Ellipsis.IsValid() {
			break
		}
		v.read(to.FieldByName("Extent"), call.Args[0], join(path, "Extent"))
		made.Outer = make([]schedule.Split, len(call.Args)-1)
		for i, e := range call.Args[1:] {
			v.read(reflect.ValueOf(&made.Outer[i]).Elem(), e, fmt.Sprintf("%s.Outer[%d]", path, i))
		}
		return
	case *schedule.Split:
		kind, ok := map[string]schedule.SplitKind{"DIDx": schedule.DeviceX, "Stream": schedule.StreamAxis}[name]
		if !ok || len(call.Args) != 1 {
			break
		}
		made.Kind = kind
		v.read(to.FieldByName("Count"), call.Args[0], join(path, "Count"))
		return
	}
	v.fails(path)
}

package emit

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// minimal is a program's schedule without the fields that have their defaults.
func minimal(p *hostir.Program) schedule.Schedule {
	s := p.Schedule
	s.Moves = nil
	for _, m := range lower.Read(p) {
		if !m.Open {
			s.Moves = append(s.Moves, m.Move)
		}
	}
	if s.Types = nil; !slices.Equal(s.WithDefaults().Types, p.Schedule.Types) {
		s.Types = p.Schedule.Types
	}
	return s
}

// literal is a value in Go: structs without their zero fields, elements of lists without their type. A list of structs
// that hold lists has a line for each struct.
func literal(v reflect.Value) *jen.Statement {
	switch x := v.Interface().(type) {
	case driver.Type:
		return jen.Qual(driverPath, strings.ToUpper(x.String()))
	case kernels.Kind:
		return jen.Qual(kernelsPath, x.Ident())
	case schedule.Axis:
		return axis(x)
	case schedule.Expr:
		return tree(x)
	case schedule.Func:
		return applied(x)
	case kernels.Words:
		if x == kernels.EachPeer {
			return jen.Qual(kernelsPath, "EachPeer")
		}
	}
	switch v.Kind() {
	case reflect.Interface:
		return literal(v.Elem())
	case reflect.Pointer:
		return jen.Op("&").Add(literal(v.Elem()))
	case reflect.Struct:
		return named(v.Type()).Add(fieldsOf(v, inLine))
	case reflect.Slice:
		return jen.Index().Add(named(v.Type().Elem())).Add(elements(v))
	case reflect.Map:
		return mapped(v)
	case reflect.String:
		return jen.Lit(v.String())
	case reflect.Float64:
		return jen.Lit(v.Float())
	case reflect.Uint:
		return jen.Lit(int(v.Uint()))
	case reflect.Bool:
		return jen.Lit(v.Bool())
	}
	return jen.Lit(int(v.Int()))
}

// axis is an axis as a person writes it, by the functions of package schedule.
func axis(a schedule.Axis) *jen.Statement {
	args := []jen.Code{jen.Lit(string(a.Extent))}
	for _, s := range a.Outer {
		cut, plain := cuts[s.Kind]
		if !plain || s != (schedule.Split{Kind: s.Kind, Count: s.Count}) {
			args = append(args, named(reflect.TypeOf(s)).Add(fieldsOf(reflect.ValueOf(s), inLine)))
			continue
		}
		args = append(args, jen.Qual(schedulePath, cut).Call(jen.Lit(string(s.Count))))
	}
	return jen.Qual(schedulePath, "Dim").Call(args...)
}

// cuts are the functions of package schedule that make a split of a count, without further fields.
var cuts = map[schedule.SplitKind]string{
	schedule.DeviceX: "DIDx", schedule.StreamAxis: "Stream",
}

// named is a type by its name.
func named(t reflect.Type) *jen.Statement {
	if t.PkgPath() == "" {
		return jen.Id(t.String())
	}
	return jen.Qual(t.PkgPath(), t.Name())
}

// fieldsOf are the fields of a struct that are not zero, in braces.
func fieldsOf(v reflect.Value, layout jen.Options) *jen.Statement {
	var fields []jen.Code
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			fields = append(fields, jen.Id(v.Type().Field(i).Name).Op(":").Add(literal(v.Field(i))))
		}
	}
	return jen.Custom(layout, fields...)
}

// mapped is a map from texts to texts, in the order of its keys.
func mapped(v reflect.Value) *jen.Statement {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	var list []jen.Code
	for _, k := range keys {
		list = append(list, jen.Lit(k.String()).Op(":").Add(literal(v.MapIndex(k))))
	}
	t := v.Type()
	return jen.Map(named(t.Key())).Add(named(t.Elem())).Add(jen.Custom(inLine, list...))
}

// elements are the elements of a list, in braces.
func elements(v reflect.Value) *jen.Statement {
	list, layout := make([]jen.Code, v.Len()), inLine
	t := v.Type().Elem()
	for i := range list {
		if t.Kind() != reflect.Struct || t == reflect.TypeFor[schedule.Axis]() ||
			t == reflect.TypeFor[schedule.Func]() {
			list[i] = literal(v.Index(i))
			continue
		}
		list[i] = fieldsOf(v.Index(i), inLine)
		switch t {
		case reflect.TypeFor[schedule.Tensor](), reflect.TypeFor[schedule.Op](), reflect.TypeFor[kernels.Kernel]():
			layout = lineByLine
		}
	}
	return jen.Custom(layout, list...)
}

// inLine writes a literal on one line.
var inLine = jen.Options{Open: "{", Close: "}", Separator: ", "}

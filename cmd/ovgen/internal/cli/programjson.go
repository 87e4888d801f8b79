package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"ovgen/schedule/hostir"
)

// members are the members of a JSON object, in order.
type members []member

type member struct {
	name  string
	value any
}

// MarshalJSON keeps the order.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", x.name)
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(x.value); err != nil {
			return nil, fmt.Errorf("%s: %w", x.name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// programJSON is a host program as JSON. It has the fields of the program and of its nodes, under their names in
// package hostir, without absent ones. Expressions and streams are as they are printed, and each node has its type as
// "node".
func programJSON(p *hostir.Program) any { return jsonOf(reflect.ValueOf(*p)) }

func jsonOf(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case hostir.Expr:
		return x.String()
	case hostir.StreamRef:
		return x.String()
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		inner := jsonOf(v.Elem())
		if fields, ok := inner.(members); ok && v.Kind() == reflect.Interface {
			return append(members{{"node", v.Elem().Type().Name()}}, fields...)
		}
		return inner
	case reflect.Struct:
		return fieldsOf(v)
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = jsonOf(v.Index(i))
		}
		return list
	}
	return v.Interface()
}

// fieldsOf lists the fields of a struct that are not zero, and the fields of embedded structs.
func fieldsOf(v reflect.Value) members {
	list := members{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		switch value := v.Field(i); {
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			if inner, ok := jsonOf(value).(members); ok {
				list = append(list, inner...)
			}
		case !value.IsZero() && (value.Kind() != reflect.Slice || value.Len() > 0):
			list = append(list, member{small(field.Name), jsonOf(value)})
		}
	}
	return list
}

// small is a Go name with a small first letter; a name of capitals only becomes all small.
func small(name string) string {
	if strings.ToUpper(name) == name {
		return strings.ToLower(name)
	}
	return strings.ToLower(name[:1]) + name[1:]
}

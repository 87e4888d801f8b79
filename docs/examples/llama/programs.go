package main

import (
	"context"
	"reflect"

	"ovgen/docs/examples/llama/generated/normed"
	"ovgen/runtime/device"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/tuning"
)

// Shape has the fields of all packages' Shapes, and Buffers their buffers, by name.
type (
	Shape   = normed.Shape
	Buffers map[string]*device.Ptr
)

// program is a generated package of a layer.
type program = tuning.Candidate[Shape, Buffers]

// calls are the caller's own work between a layer's products. A plan has what its schedule asks for.
type calls struct{ attention, gate plan.Call }

// layerOf is a generated package as a program of a layer. Its Shape and Buffers get the fields that they have, by name;
// set sets the calls of its plans.
func layerOf[P plan.Runner, S plan.Sized, B any](p *plan.Program,
	make func(context.Context, *group.Group, S) (P, error),
	bind func(P, context.Context, B) error, set func(P, calls)) func(own calls) program {
	return func(own calls) program {
		with := func(ctx context.Context, g *group.Group, s S) (P, error) {
			p, err := make(ctx, g, s)
			if err == nil {
				set(p, own)
			}
			return p, err
		}
		return tuning.Other(p, with, bind, func(s Shape) S {
			all := reflect.ValueOf(s)
			return named[S](all.FieldByName)
		}, func(x Buffers) B {
			return named[B](func(name string) reflect.Value { return reflect.ValueOf(*x[name]) })
		})
	}
}

// named is a struct whose fields have what of returns for their names.
func named[T any](of func(name string) reflect.Value) (t T) {
	to := reflect.ValueOf(&t).Elem()
	for i := range to.NumField() {
		to.Field(i).Set(of(to.Type().Field(i).Name))
	}
	return t
}

// programOf chooses the package for a layer of a bucket's rows.
var programOf = func(f family, b Bucket, own calls) program {
	switch {
	case b.Spread:
		return f.many(own)
	case f.more != nil && b.Rows > mostNarrow:
		return f.more(own)
	}
	return f.few(own)
}

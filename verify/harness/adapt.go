package harness

import (
	"context"
	"reflect"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// Generated is what every generated Plan can do but for its Bind, whose Buffers are
// a type of the package.
type Generated interface {
	Enqueue(s driver.Stream) error
	Replay(s driver.Stream) error
	Run(ctx context.Context) error
	Close(ctx context.Context) error
	Base() *plan.Plan
}

// Adapt makes a Program's New of a generated package's New and its Plan's Bind. The
// package's Shape and Buffers are filled in by the names of their fields.
func Adapt[P Generated, S, B any](make func(context.Context, *group.Group, S) (P, error),
	bind func(P, context.Context, B) error) func(context.Context, *group.Group, Shape) (Plan, error) {
	return func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
		p, err := make(ctx, g, shapeAs[S](s))
		if err != nil {
			return nil, err
		}
		return adapted[P, B]{p, bind}, nil
	}
}

// shapeAs is a shape as a package has it: with the fields that it has.
func shapeAs[S any](s Shape) S {
	var to S
	from, v := reflect.ValueOf(s), reflect.ValueOf(&to).Elem()
	for i := range v.NumField() {
		v.Field(i).Set(from.FieldByName(v.Type().Field(i).Name))
	}
	return to
}

// adapted is a generated Plan that the harness drives.
type adapted[P Generated, B any] struct {
	Generated P
	bind      func(P, context.Context, B) error
}

func (p adapted[P, B]) Bind(ctx context.Context, b Buffers) error {
	var to B
	v := reflect.ValueOf(&to).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name == "Counts" {
			v.Field(i).Set(reflect.ValueOf(b.Counts))
		} else {
			v.Field(i).SetUint(uint64(b.At[name]))
		}
	}
	return p.bind(p.Generated, ctx, to)
}

// Base is the package's plan, for whoever records a run.
func (p adapted[P, B]) Base() *plan.Plan { return p.Generated.Base() }

func (p adapted[P, B]) Enqueue(s driver.Stream) error   { return p.Generated.Enqueue(s) }
func (p adapted[P, B]) Replay(s driver.Stream) error    { return p.Generated.Replay(s) }
func (p adapted[P, B]) Run(ctx context.Context) error   { return p.Generated.Run(ctx) }
func (p adapted[P, B]) Close(ctx context.Context) error { return p.Generated.Close(ctx) }

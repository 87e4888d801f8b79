package harness

import (
	"context"
	"reflect"

	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/verify/reading"
)

// Of is a generated package in the form that the harness drives, made of its exported names.
func Of[P plan.Runner, S sized, B any](p *plan.Program, s schedule.Schedule,
	make func(context.Context, *group.Group, S) (P, error), bind func(P, context.Context, B) error) Program {
	var checks []Divide
	for _, d := range p.Divides {
		checks = append(checks, Divide{Extent: schedule.Extent(d.Extent), By: schedule.Extent(d.By),
			Times: int64(d.Times), With: schedule.Extent(d.With),
			Heads: schedule.Extent(d.Heads)})
	}
	return Program{
		Name: p.Name, Proof: p.Proof, Ranks: p.Ranks, Eager: p.Eager, Schedule: s, Checks: checks,
		Types: p.Types, New: calling(s, adapt(make, bind)), Memory: memoryOf[S],
	}
}

// adapt makes a Program's New from a generated package's New and its Plan's Bind. The package's Shape and Buffers are
// filled in by the names of their fields.
func adapt[P plan.Runner, S sized, B any](make func(context.Context, *group.Group, S) (P, error),
	bind func(P, context.Context, B) error) func(context.Context, *group.Group, Shape) (Plan, error) {
	return func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
		shape := shapeAs[S](s)
		p, err := make(ctx, g, shape)
		if err != nil {
			return nil, err
		}
		return adapted[B]{p, func(ctx context.Context, b B) error { return bind(p, ctx, b) },
			func() (plan.Memory, error) { return shape.Memory(g.Size()) }}, nil
	}
}

// sized is a package's Shape.
type sized interface {
	Memory(ranks int) (plan.Memory, error)
}

// memoryOf is a Program's Memory, computed by the Shape of a generated package.
func memoryOf[S sized](ranks int, s Shape) (plan.Memory, error) { return shapeAs[S](s).Memory(ranks) }

// shapeAs converts a shape to a package's Shape, by the fields that the latter has. Tests choose the numbers beside the
// epsilon.
func shapeAs[S any](s Shape) S {
	var to S
	from, v := reflect.ValueOf(s), reflect.ValueOf(&to).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if is := from.FieldByName(name); is.IsValid() {
			v.Field(i).Set(is)
		} else {
			v.Field(i).SetFloat(reading.Number(name))
		}
	}
	return to
}

// adapted is a generated Plan that the harness drives.
type adapted[B any] struct {
	plan.Runner
	bind   func(context.Context, B) error
	memory func() (plan.Memory, error)
}

// Memory is the memory that the plan's Shape predicts.
func (p adapted[B]) Memory() (plan.Memory, error) { return p.memory() }

// Bind sets the package's buffers by the names of their fields.
func (p adapted[B]) Bind(ctx context.Context, b Buffers) error {
	var to B
	v := reflect.ValueOf(&to).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name == "Counts" {
			v.Field(i).Set(reflect.ValueOf(b.Counts))
		} else {
			v.Field(i).SetUint(uint64(b.At[name]))
		}
	}
	return p.bind(ctx, to)
}

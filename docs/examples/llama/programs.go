package main

import (
	"context"
	"reflect"

	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/decodenccl"
	"ovgen/docs/examples/llama/generated/prefill"
	"ovgen/docs/examples/llama/generated/prefillnccl"
	"ovgen/generated/allgatherlinearnccl"
	"ovgen/generated/allgatherlinearoneshot"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// What the packages of one job have in common: the fields of Shape and Buffers.
type (
	layerShape   = decode.Shape
	layerBuffers = decode.Buffers
	headShape    = allgatherlinearoneshot.Shape
	headBuffers  = allgatherlinearoneshot.Buffers
)

// by is how ranks communicate: with a part of the rows on each between the layers, or all; and by NCCL, or not.
type by struct{ spread, nccl bool }

var layerPackages = map[by]program[layerShape, layerBuffers]{
	{}: of[layerShape, layerBuffers](decode.New,
		func(p *decode.Plan) *plan.Call { return &p.Attention }),
	{nccl: true}: of[layerShape, layerBuffers](decodenccl.New,
		func(p *decodenccl.Plan) *plan.Call { return &p.Attention }),
	{spread: true}: of[layerShape, layerBuffers](prefill.New,
		func(p *prefill.Plan) *plan.Call { return &p.Attention }),
	{spread: true, nccl: true}: of[layerShape, layerBuffers](prefillnccl.New,
		func(p *prefillnccl.Plan) *plan.Call { return &p.Attention }),
}

// headPackages gather the rows that logits are made of: by NCCL, or not.
var headPackages = map[bool]program[headShape, headBuffers]{
	false: of[headShape, headBuffers](allgatherlinearoneshot.New, nil),
	true:  of[headShape, headBuffers](allgatherlinearnccl.New, nil),
}

// program is a generated package.
type program[S, B any] struct {
	memory func(s S, ranks int) (plan.Memory, error)
	make   func(ctx context.Context, g *group.Group, s S) (made[B], error)
}

// made is a plan of it.
type made[B any] struct {
	*plan.Plan
	bind      func(ctx context.Context, x B) error
	attention *plan.Call // that a layer takes before bind
}

// of is the package that has this New, of which S2 is the Shape, B2 the Buffers and P the Plan.
func of[S, B, B2 any, S2 interface {
	Memory(ranks int) (plan.Memory, error)
}, P interface {
	Base() *plan.Plan
	Bind(ctx context.Context, x B2) error
}](makes func(context.Context, *group.Group, S2) (P, error), attention func(P) *plan.Call) program[S, B] {
	return program[S, B]{
		memory: func(s S, ranks int) (plan.Memory, error) { return as[S2](s).Memory(ranks) },
		make: func(ctx context.Context, g *group.Group, s S) (m made[B], err error) {
			p, err := makes(ctx, g, as[S2](s))
			if err != nil {
				return m, err
			}
			m.Plan, m.bind = p.Base(), func(ctx context.Context, x B) error { return p.Bind(ctx, as[B2](x)) }
			if attention != nil {
				m.attention = attention(p)
			}
			return m, nil
		},
	}
}

// as is a struct as another type of the same fields.
func as[T any](x any) T { return reflect.ValueOf(x).Convert(reflect.TypeFor[T]()).Interface().(T) }

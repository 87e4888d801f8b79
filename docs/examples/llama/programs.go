package main

import (
	"context"

	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/decodenccl"
	"ovgen/docs/examples/llama/generated/prefill"
	"ovgen/docs/examples/llama/generated/prefillnccl"
	"ovgen/generated/allgatherlinearnccl"
	"ovgen/generated/allgatherlinearoneshot"
	"ovgen/runtime/device"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// What the packages of one job have in common: the fields of Shape and Buffers.
type (
	layerShape = struct {
		M, K, N, N2, F int
		Type           device.Type
	}
	layerBuffers = struct{ A, Norm, Wq, Wk, Wv, Wo, Norm2, Gate, Up, Down, C device.Ptr }
	headShape    = struct {
		M, K, N int
		Type    device.Type
	}
	headBuffers = struct{ A, B, Bias, C device.Ptr }
)

// by is how ranks communicate: with a part of the rows on each between the layers, or all; and by NCCL, or not.
type by struct{ spread, nccl bool }

var layerPackages = map[by]program[layerShape, layerBuffers]{
	{}: of(decode.New, func(s layerShape) decode.Shape { return s },
		func(x layerBuffers) decode.Buffers { return x }, func(p *decode.Plan) *plan.Call { return &p.Attention }),
	{nccl: true}: of(decodenccl.New, func(s layerShape) decodenccl.Shape { return s },
		func(x layerBuffers) decodenccl.Buffers { return x },
		func(p *decodenccl.Plan) *plan.Call { return &p.Attention }),
	{spread: true}: of(prefill.New, func(s layerShape) prefill.Shape { return s },
		func(x layerBuffers) prefill.Buffers { return x },
		func(p *prefill.Plan) *plan.Call { return &p.Attention }),
	{spread: true, nccl: true}: of(prefillnccl.New, func(s layerShape) prefillnccl.Shape { return s },
		func(x layerBuffers) prefillnccl.Buffers { return x },
		func(p *prefillnccl.Plan) *plan.Call { return &p.Attention }),
}

// headPackages gather the rows that logits are made of: by NCCL, or not.
var headPackages = map[bool]program[headShape, headBuffers]{
	false: of(allgatherlinearoneshot.New, func(s headShape) allgatherlinearoneshot.Shape { return s },
		func(x headBuffers) allgatherlinearoneshot.Buffers { return x }, nil),
	true: of(allgatherlinearnccl.New, func(s headShape) allgatherlinearnccl.Shape { return s },
		func(x headBuffers) allgatherlinearnccl.Buffers { return x }, nil),
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

// of is the package that has these functions, of which S2 is the Shape, B2 the Buffers and P the Plan.
func of[S, B, B2 any, S2 interface {
	Memory(ranks int) (plan.Memory, error)
}, P interface {
	Base() *plan.Plan
	Bind(ctx context.Context, x B2) error
}](newPlan func(context.Context, *group.Group, S2) (P, error), shape func(S) S2, buffers func(B) B2,
	attention func(P) *plan.Call) program[S, B] {
	return program[S, B]{
		memory: func(s S, ranks int) (plan.Memory, error) { return shape(s).Memory(ranks) },
		make: func(ctx context.Context, g *group.Group, s S) (m made[B], err error) {
			p, err := newPlan(ctx, g, shape(s))
			if err != nil {
				return m, err
			}
			m.Plan, m.bind = p.Base(), func(ctx context.Context, x B) error { return p.Bind(ctx, buffers(x)) }
			if attention != nil {
				m.attention = attention(p)
			}
			return m, nil
		},
	}
}

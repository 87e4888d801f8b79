package main

import (
	"context"

	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/decodenccl"
	"ovgen/docs/examples/llama/generated/prefill"
	"ovgen/docs/examples/llama/generated/prefillnccl"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// program is a generated package of a layer. All have the same fields of Shape and Buffers.
type program = plan.Candidate[decode.Shape, decode.Buffers]

// programOf is a layer of rows that are spread over the ranks or whole on each, by NCCL or not.
func programOf(spread, nccl bool, attention plan.Call) program {
	type (
		S = decode.Shape
		B = decode.Buffers
	)
	switch {
	case spread && nccl:
		return plan.Other(&prefillnccl.Program,
			with(prefillnccl.New, func(p *prefillnccl.Plan) { p.Attention = attention }), (*prefillnccl.Plan).Bind,
			func(s S) prefillnccl.Shape { return prefillnccl.Shape(s) },
			func(x B) prefillnccl.Buffers { return prefillnccl.Buffers(x) })
	case spread:
		return plan.Other(&prefill.Program,
			with(prefill.New, func(p *prefill.Plan) { p.Attention = attention }), (*prefill.Plan).Bind,
			func(s S) prefill.Shape { return prefill.Shape(s) },
			func(x B) prefill.Buffers { return prefill.Buffers(x) })
	case nccl:
		return plan.Other(&decodenccl.Program,
			with(decodenccl.New, func(p *decodenccl.Plan) { p.Attention = attention }), (*decodenccl.Plan).Bind,
			func(s S) decodenccl.Shape { return decodenccl.Shape(s) },
			func(x B) decodenccl.Buffers { return decodenccl.Buffers(x) })
	}
	return plan.Own(&decode.Program, with(decode.New, func(p *decode.Plan) { p.Attention = attention }),
		(*decode.Plan).Bind)
}

// with is a package's New that also sets something of the plan.
func with[P, S any](make func(context.Context, *group.Group, S) (P, error),
	set func(P)) func(context.Context, *group.Group, S) (P, error) {
	return func(ctx context.Context, g *group.Group, s S) (P, error) {
		p, err := make(ctx, g, s)
		if err == nil {
			set(p)
		}
		return p, err
	}
}

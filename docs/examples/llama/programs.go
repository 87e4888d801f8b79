package main

import (
	"context"

	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/prefill"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/tuning"
)

// program is a generated package of a layer. All have the same fields of Shape and Buffers.
type program = tuning.Candidate[decode.Shape, decode.Buffers]

// programOf chooses the package for a layer: of rows that are spread over the ranks, or of rows that all ranks have.
var programOf = func(spread bool, attention plan.Call) program {
	if !spread {
		return tuning.Own(&decode.Program, with(decode.New, func(p *decode.Plan) { p.Attention = attention }),
			(*decode.Plan).Bind)
	}
	return tuning.Other(&prefill.Program, with(prefill.New, func(p *prefill.Plan) { p.Attention = attention }),
		(*prefill.Plan).Bind, func(s decode.Shape) prefill.Shape { return prefill.Shape(s) },
		func(x decode.Buffers) prefill.Buffers { return prefill.Buffers(x) })
}

// with returns a New that calls set on the plan that make has made.
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

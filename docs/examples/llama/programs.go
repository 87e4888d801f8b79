package main

import (
	"context"

	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/prefill"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// program is a generated package of a layer. All have the same fields of Shape and Buffers.
type program = plan.Candidate[decode.Shape, decode.Buffers]

// programOf is a layer of rows that are spread over the ranks, or whole on each.
var programOf = func(spread bool, attention plan.Call) program {
	if !spread {
		return plan.Own(&decode.Program, with(decode.New, func(p *decode.Plan) { p.Attention = attention }),
			(*decode.Plan).Bind)
	}
	return plan.Other(&prefill.Program, with(prefill.New, func(p *prefill.Plan) { p.Attention = attention }),
		(*prefill.Plan).Bind, func(s decode.Shape) prefill.Shape { return prefill.Shape(s) },
		func(x decode.Buffers) prefill.Buffers { return prefill.Buffers(x) })
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

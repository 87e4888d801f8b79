package main

import (
	"context"

	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/decodenccl"
	"ovgen/docs/examples/llama/generated/prefill"
	"ovgen/docs/examples/llama/generated/prefillnccl"
	"ovgen/generated/allgatherlinearnccl"
	"ovgen/generated/allgatherlinearoneshot"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// The packages of one job have the same fields of Shape and Buffers.
type (
	layerShape   = decode.Shape
	layerBuffers = decode.Buffers
	headShape    = allgatherlinearoneshot.Shape
	headBuffers  = allgatherlinearoneshot.Buffers
)

// program is a generated package with a shape: what a plan of it needs, and how it is made.
type program[B any] struct {
	memory func(ranks int) (plan.Memory, error)
	make   func(ctx context.Context, g *group.Group) (made[B], error)
}

// made is a plan of a program.
type made[B any] struct {
	*plan.Plan
	bind      func(ctx context.Context, x B) error
	attention *plan.Call // that a layer takes before bind
}

func of[B, P any, S interface {
	Memory(ranks int) (plan.Memory, error)
}](s S, makes func(context.Context, *group.Group, S) (P, error), as func(P) made[B]) program[B] {
	return program[B]{s.Memory, func(ctx context.Context, g *group.Group) (made[B], error) {
		p, err := makes(ctx, g, s)
		if err != nil {
			return made[B]{}, err
		}
		return as(p), nil
	}}
}

// layerProgram is a layer of rows that are spread over the ranks, or whole on each; by NCCL, or not.
func layerProgram(s layerShape, spread, nccl bool) program[layerBuffers] {
	type (
		B = layerBuffers
		C = context.Context
	)
	switch {
	case spread && nccl:
		return of(prefillnccl.Shape(s), prefillnccl.New, func(p *prefillnccl.Plan) made[B] {
			return made[B]{p.Plan, func(c C, x B) error { return p.Bind(c, prefillnccl.Buffers(x)) }, &p.Attention}
		})
	case spread:
		return of(prefill.Shape(s), prefill.New, func(p *prefill.Plan) made[B] {
			return made[B]{p.Plan, func(c C, x B) error { return p.Bind(c, prefill.Buffers(x)) }, &p.Attention}
		})
	case nccl:
		return of(decodenccl.Shape(s), decodenccl.New, func(p *decodenccl.Plan) made[B] {
			return made[B]{p.Plan, func(c C, x B) error { return p.Bind(c, decodenccl.Buffers(x)) }, &p.Attention}
		})
	}
	return of(s, decode.New, func(p *decode.Plan) made[B] { return made[B]{p.Plan, p.Bind, &p.Attention} })
}

// headProgram gathers the rows that logits are made of, and multiplies them by the rank's part of the vocabulary.
func headProgram(s headShape, nccl bool) program[headBuffers] {
	type B = headBuffers
	if !nccl {
		return of(s, allgatherlinearoneshot.New, func(p *allgatherlinearoneshot.Plan) made[B] {
			return made[B]{Plan: p.Plan, bind: p.Bind}
		})
	}
	return of(allgatherlinearnccl.Shape(s), allgatherlinearnccl.New, func(p *allgatherlinearnccl.Plan) made[B] {
		return made[B]{Plan: p.Plan, bind: func(c context.Context, x B) error {
			return p.Bind(c, allgatherlinearnccl.Buffers(x))
		}}
	})
}

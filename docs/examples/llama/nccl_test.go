package main

import (
	"os"

	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/decodenccl"
	"ovgen/docs/examples/llama/generated/prefillnccl"
	"ovgen/runtime/plan"
	"ovgen/runtime/tuning"
)

// envNCCL lets ranks communicate by NCCL in place of ovgen's pipelines and kernels, if it is set when they start.
const envNCCL = "OVGEN_TEST_NCCL"

func init() {
	own := programOf
	programOf = func(spread bool, attention plan.Call) program {
		switch {
		case os.Getenv(envNCCL) == "":
			return own(spread, attention)
		case spread:
			return tuning.Other(&prefillnccl.Program,
				with(prefillnccl.New, func(p *prefillnccl.Plan) { p.Attention = attention }), (*prefillnccl.Plan).Bind,
				func(s decode.Shape) prefillnccl.Shape { return prefillnccl.Shape(s) },
				func(x decode.Buffers) prefillnccl.Buffers { return prefillnccl.Buffers(x) })
		}
		return tuning.Other(&decodenccl.Program,
			with(decodenccl.New, func(p *decodenccl.Plan) { p.Attention = attention }), (*decodenccl.Plan).Bind,
			func(s decode.Shape) decodenccl.Shape { return decodenccl.Shape(s) },
			func(x decode.Buffers) decodenccl.Buffers { return decodenccl.Buffers(x) })
	}
}

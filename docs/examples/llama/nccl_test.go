package main

import (
	"os"

	"ovgen/docs/examples/llama/generated/decodenccl"
	"ovgen/docs/examples/llama/generated/prefillnccl"
)

// envNCCL lets ranks of Llama communicate by NCCL in place of ovgen's pipelines and kernels, if it is set when they
// start.
const envNCCL = "OVGEN_TEST_NCCL"

// byNCCL is llama so.
var byNCCL = family{
	few: layerOf(&decodenccl.Program, decodenccl.New, (*decodenccl.Plan).Bind,
		func(p *decodenccl.Plan) *call { return &p.Attention }),
	many: layerOf(&prefillnccl.Program, prefillnccl.New, (*prefillnccl.Plan).Bind,
		func(p *prefillnccl.Plan) *call { return &p.Attention }),
}

func init() {
	own := programOf
	programOf = func(f family, spread bool, attention call) program {
		if os.Getenv(envNCCL) != "" {
			if len(f.weights) != len(llama.weights) {
				panic("only Llama's layers are by NCCL")
			}
			f = byNCCL
		}
		return own(f, spread, attention)
	}
}

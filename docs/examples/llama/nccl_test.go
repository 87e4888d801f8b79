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
var byNCCL = family{forms: forms{
	few: layerOf(&decodenccl.Program, decodenccl.New, (*decodenccl.Plan).Bind,
		func(p *decodenccl.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
	many: layerOf(&prefillnccl.Program, prefillnccl.New, (*prefillnccl.Plan).Bind,
		func(p *prefillnccl.Plan, own calls) { p.Attention = own.attention }),
}}

func init() {
	before := programOf
	programOf = func(f family, b Bucket, own calls) program {
		if os.Getenv(envNCCL) != "" {
			if len(f.weights) != len(llama.weights) {
				panic("only Llama's layers are by NCCL")
			}
			f = byNCCL
		}
		return before(f, b, own)
	}
}

package main

// The simulator, and the kernels compiled for it. A binary for GPUs alone does without this file.
import (
	_ "ovgen/docs/examples/llama/generated/host"
	_ "ovgen/docs/examples/llama/kernels/host"
)

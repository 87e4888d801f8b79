package host

import (
	"unsafe"

	_ "ovgen/docs/examples/llama/kernels" // host.cc includes its llama.cu: a change of it compiles this package again
	"ovgen/verify/sim"
)

/*
#cgo CXXFLAGS: -std=c++17 -O2 -fno-strict-aliasing
const void *llama_kernels(const void *engine);
*/
import "C"

func init() { sim.Compiled("llama", "", unsafe.Pointer(C.llama_kernels)) }

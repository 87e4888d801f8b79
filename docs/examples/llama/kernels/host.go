package kernels

import "unsafe"

/*
#cgo CXXFLAGS: -std=c++17 -O2 -fno-strict-aliasing
const void *llama_kernels(const void *engine);
*/
import "C"

func init() { host = unsafe.Pointer(C.llama_kernels) }

package host

import (
	"unsafe"

	_ "ovgen/docs/examples/peers" // host.cc includes its sum.cu: a change of it compiles this package again
	"ovgen/verify/sim"
)

/*
#cgo CXXFLAGS: -std=c++17 -O2 -fno-strict-aliasing
const void *peers_kernels(const void *engine);
*/
import "C"

func init() { sim.Compiled("peers", "", unsafe.Pointer(C.peers_kernels)) }

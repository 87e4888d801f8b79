//go:build cgo

// Package testkernel holds two kernels in C for the simulator's own tests: the
// least that a generated package with kernels consists of.
package testkernel

// #include "kernels.h"
import "C"

import (
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// Fill sets Words words at Dst to Value.
type Fill struct {
	Dst   driver.Ptr
	Words uint64
	Value uint32
	_     uint32
}

// Relay waits until the word at Wait is 1, sets it to 0, copies Words words from
// Src to Dst and posts 1 to Post.
type Relay struct {
	Wait, Post, Dst, Src driver.Ptr
	Words                uint64
}

// Code of the kernels.
func Code() *driver.Code {
	return &driver.Code{
		Name: "testkernel",
		Kernels: []driver.Kernel{
			{Name: "fill", Params: int(unsafe.Sizeof(Fill{})), Touches: touchFill},
			{Name: "relay", Params: int(unsafe.Sizeof(Relay{})), Touches: touchRelay},
			{Name: "stray"},
			{Name: "absent"},
		},
	}
}

func init() { sim.Compiled("testkernel", "", unsafe.Pointer(C.testkernel_kernels)) }

func touchFill(params unsafe.Pointer, to []driver.Touch) []driver.Touch {
	p := (*Fill)(params)
	return append(to, driver.Touch{Kind: driver.TouchWrite, At: p.Dst, Bytes: 4 * int64(p.Words)})
}

func touchRelay(params unsafe.Pointer, to []driver.Touch) []driver.Touch {
	p := (*Relay)(params)
	n := 4 * int64(p.Words)
	return append(to,
		driver.Touch{Kind: driver.TouchWait, At: p.Wait, Value: 1},
		driver.Touch{Kind: driver.TouchPost, At: p.Wait, Value: 0},
		driver.Touch{Kind: driver.TouchRead, At: p.Src, Bytes: n},
		driver.Touch{Kind: driver.TouchWrite, At: p.Dst, Bytes: n},
		driver.Touch{Kind: driver.TouchPost, At: p.Post, Value: 1})
}

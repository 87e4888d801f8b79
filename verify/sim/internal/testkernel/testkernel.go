//go:build cgo

// Package testkernel holds two kernels in C for the tests of the simulator: the least that a generated package with
// kernels needs.
package testkernel

// #include "kernels.h"
import "C"

import (
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
	"ovgen/verify/touch"
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

// Code is the code of the kernels.
func Code() *driver.Code {
	return &driver.Code{
		Name: "testkernel",
		Kernels: []driver.Kernel{
			{Name: "fill", Params: int(unsafe.Sizeof(Fill{})), Row: touch.Func(touchFill)},
			{Name: "relay", Params: int(unsafe.Sizeof(Relay{})), Row: touch.Func(touchRelay)},
			{Name: "stray"},
			{Name: "absent"},
		},
	}
}

func init() { sim.Compiled("testkernel", "", unsafe.Pointer(C.testkernel_kernels)) }

func touchFill(params unsafe.Pointer, to []touch.Touch) []touch.Touch {
	p := (*Fill)(params)
	return append(to, touch.Touch{Kind: touch.Write, At: p.Dst, Bytes: 4 * int64(p.Words)})
}

func touchRelay(params unsafe.Pointer, to []touch.Touch) []touch.Touch {
	p := (*Relay)(params)
	n := 4 * int64(p.Words)
	return append(to,
		touch.Touch{Kind: touch.Wait, At: p.Wait, Value: 1},
		touch.Touch{Kind: touch.Post, At: p.Wait, Value: 0},
		touch.Touch{Kind: touch.Read, At: p.Src, Bytes: n},
		touch.Touch{Kind: touch.Write, At: p.Dst, Bytes: n},
		touch.Touch{Kind: touch.Post, At: p.Post, Value: 1})
}

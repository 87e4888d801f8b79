package harness

import (
	"unsafe"

	"ovgen/runtime/driver"
)

// The device code of generated/run has three kernels, each with one by-value
// parameter struct laid out as the Go struct here. Threads stride over the
// elements: thread t of T takes t, t+T, t+2T, ... Anything with Count 0 (the
// zero struct) does nothing.

// fillParams: element First+i of a tensor goes to At[i].
//
//	x = hash(Seed, First + i)              // uint32, see reference.Hash
//	integers: (x >> 8) < Limit ? ((x & 1) ? 1 : -1) : 0
//	Real:     float(x >> 8) / 2^23 - 1     // exact in fp32, rounded to Type
//
// hash(seed, index), all in uint64:
//
//	x = index*0x9E3779B97F4A7C15 + seed*0xD1B54A32D192ED03
//	x ^= x >> 32;  x *= 0xD6E8FEB86659FD93
//	x ^= x >> 32;  x *= 0xD6E8FEB86659FD93
//	x ^= x >> 32;  return (uint32)x
type fillParams struct {
	At    driver.Ptr
	First int64 // global index of At[0]
	Count int64 // elements
	Seed  uint32
	Limit uint32 // of 1<<24: how many elements are not zero
	Type  uint32 // 1 bf16, 2 fp16, 3 fp32 (driver.Type)
	Real  uint32 // 1: uniform in [-1, 1)
}

// compareParams: Got against Want, value by value as == does (a NaN equals
// nothing). Thread t of the launch writes its verdict to Out[t], always when
// Count > 0.
type compareParams struct {
	Got, Want driver.Ptr
	Out       driver.Ptr // verdict, one a thread of the launch
	Count     int64
	Type      uint32
	_         uint32
}

// verdict of one thread: its first element that differs (-1: none), how many
// differ, and the largest |Want| it saw.
type verdict struct {
	First   int64
	Differ  uint32
	Largest float32
}

// spinParams keeps one thread busy for so many nanoseconds of the device's
// clock (%globaltimer; the host's monotonic clock in the simulator).
type spinParams struct {
	Nanoseconds int64
}

// The kernels by name.
const (
	kernelFill    = "fill"
	kernelCompare = "compare"
	kernelSpin    = "spin"
)

var kernelParams = map[string]int{
	kernelFill:    int(unsafe.Sizeof(fillParams{})),
	kernelCompare: int(unsafe.Sizeof(compareParams{})),
	kernelSpin:    int(unsafe.Sizeof(spinParams{})),
}

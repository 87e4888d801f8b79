package device

import "ovgen/runtime/driver"

// Type is the element type of a tensor.
type Type = driver.Type

// Element types.
const (
	BF16 = driver.BF16
	FP16 = driver.FP16
	FP32 = driver.FP32
	E4M3 = driver.E4M3
	E5M2 = driver.E5M2
	E2M1 = driver.E2M1
)

// Ptr is a device address (CUdeviceptr), from this package or from another library.
type Ptr = driver.Ptr

// Priority of a stream.
type Priority = driver.Priority

// Stream priorities.
const (
	Low    = driver.Low
	Normal = driver.Normal
	High   = driver.High
)

package sim

import (
	"errors"
	"time"

	"ovgen/runtime/driver"
)

// Config of a World. The zero value of each field but Devices is a good default.
type Config struct {
	Devices int
	// Seed picks one order of all moments, and the contents of new memory; equal seeds give
	// equal runs in a testing/synctest bubble when each rank calls from one goroutine.
	Seed uint64
	// Memory of each device in bytes; 64 GiB if zero. Pages are taken when written.
	Memory int64
	// Queues is the number of hardware queues of a device (CUDA_DEVICE_MAX_CONNECTIONS): streams that share a queue
	// block each other. Zero gives each stream a queue.
	Queues int
	// QueueDepth is the number of operations that a stream holds before a call that enqueues another one blocks; 1024
	// if zero.
	QueueDepth int
	// FreeCalls lets MemAlloc, MemFree, IpcOpenMemHandle, IpcCloseMemHandle,
	// GraphInstantiate, ModuleLoadData and MatmulCreate return while the device
	// is busy. Without it they wait until the device is idle, as CUDA's may, so
	// a program that calls one after a blocked wait hangs here for certain.
	FreeCalls bool
	// NoRaces leaves the race detector out.
	NoRaces bool
	// PeerAccess reports whether one device can map the memory of another; all can
	// if nil.
	PeerAccess func(from, to int) bool
	// NVLink reports whether NVLink joins one device to another; it joins all if nil. Without NVLink the link has no
	// atomic operations.
	NVLink func(from, to int) bool
	// Halves reports whether a device tunes products to an algorithm that adds two halves of the depth separately, and
	// so rounds differently from other devices; no device does if nil.
	Halves func(device int) bool
	// Switched says that NVLink joins devices only by switches.
	Switched bool
	// Fabric says that memory may reach other processes by fabric handles.
	Fabric bool
	// Windows are the limits of NCCL's symmetric memory; there are none if it is zero.
	Windows driver.WindowLimits
	Costs   Costs
	// Delay adds time to an operation: a slow kernel, a slow copy. It is called
	// when the operation starts, with the world locked.
	Delay func(Op) time.Duration
	// Trace is called at each moment, in order, with the world locked.
	Trace func(Moment)
}

// Costs say how long operations take in virtual time. Between its start and its end an
// operation's moments come in random order with other operations'.
type Costs struct {
	Step   time.Duration // from one moment to the next, on average; 1 us if zero
	Copy   float64       // bytes a second; zero: no time
	Matmul float64       // floating-point operations a second; zero: no time
	Kernel time.Duration // of a launch
}

// Op names an operation: the one with that number on a stream of a rank's device.
type Op struct {
	Rank   int    // device ordinal
	Stream int    // streams of a device are numbered as they are made; 0 is the legacy stream
	Number int    // on its stream, from 1
	Node   int    // of a launched graph, from 1; 0 outside of graphs
	Kind   string // "copy", "batch", "matmul", the name of a kernel, ...
	Bytes  int64  // written, by a copy or a memset
}

// Moment is one step of an operation.
type Moment struct {
	Op
	Step int           // from 0, the start
	At   time.Duration // since the world began
}

// Missing is the reason why this build can't simulate every program: it is not for Linux, or it has no cgo and so no
// kernels. It wraps driver.ErrUnavailable; nil says that nothing is missing.
func Missing() error { return errors.Join(supported(), kernelsRun()) }

func (c *Config) defaults() {
	if c.Memory == 0 {
		c.Memory = 64 << 30
	}
	if c.QueueDepth == 0 {
		c.QueueDepth = 1024
	}
	if c.Costs.Step == 0 {
		c.Costs.Step = time.Microsecond
	}
}

//go:build linux

package group_test

import (
	"context"
	"errors"
	"fmt"

	"ovgen/generated/allgather"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	_ "ovgen/verify/sim" // the example runs in it
)

// foreign stands for another package that binds CUDA, by cgo or purego: its handles are
// the numbers that CUDA gave it.
type foreign struct{ driver driver.Driver }

func (f foreign) malloc(bytes int64) (address uint64, err error) {
	p, err := f.driver.MemAlloc(bytes)
	return uint64(p), err
}

func (f foreign) newStream() (handle uintptr, err error) {
	s, err := f.driver.StreamCreateWithPriority(driver.Normal)
	return uintptr(s), err
}

// gather runs an all-gather over the memory of another package, after what its stream does.
func gather(ctx context.Context, g *group.Group, other foreign) error {
	const m, n, bytes = 8, 16, 8 * 16 * 4
	a, errA := other.malloc(bytes)
	c, errC := other.malloc(bytes)
	stream, err := other.newStream()
	if err := errors.Join(errA, errC, err); err != nil {
		return err
	}
	p, err := allgather.New(ctx, g, allgather.Shape{M: m, N: n, Type: device.FP32})
	if err != nil {
		return err
	}
	if err := p.Bind(ctx, allgather.Buffers{A: device.Ptr(a), C: device.Ptr(c)}); err != nil {
		return errors.Join(err, p.Close(ctx))
	}
	// The other package may as well wait for its stream by its own call.
	err = errors.Join(p.Enqueue(driver.Stream(stream)), g.Driver().StreamSynchronize(driver.Stream(stream)),
		g.Err())
	return errors.Join(err, p.Close(ctx))
}

// A program that uses CUDA by another package hands over what that package has: its
// CUcontext goes into Config.Context, and its streams and device pointers are converted,
// since a device.Ptr is a CUdeviceptr and a driver.Stream is a CUstream. Close leaves all
// of them open.
func ExampleConfig_context() {
	var cuContext uintptr // the other package's; 0 takes the device's primary context
	ctx := context.Background()
	g, err := group.Join(ctx, group.Config{Size: 1, Job: "foreign", Backend: "sim", Context: cuContext})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = gather(ctx, g, foreign{g.Driver()})
	fmt.Println("error:", errors.Join(err, g.Close(ctx)))
	// Output:
	// error: <nil>
}

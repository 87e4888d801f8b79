// Package modules loads and launches kernels of the caller.
package modules

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
)

// Kernels are kernels of the caller, loaded on a device. Each takes one struct by value.
type Kernels struct {
	driver driver.Driver
	module driver.Module
	named  map[string]loaded
	device.Resource
}

type loaded struct {
	function driver.Function
	params   int // bytes
}

// Load loads the kernels of a Code and launches each with a struct of zeros, with which a kernel must do nothing. CUDA
// loads a kernel at its first launch, which may wait for all work of the device.
func Load(d driver.Driver, code *driver.Code) (*Kernels, error) {
	m, err := d.ModuleLoadData(code)
	if err != nil {
		return nil, fmt.Errorf("load kernels of %s: %w", code.Name, err)
	}
	k := &Kernels{driver: d, module: m, named: map[string]loaded{}}
	device.Track(k, &k.Resource, "kernels")
	for _, x := range code.Kernels {
		f, err := d.ModuleGetFunction(m, x.Name)
		if err == nil {
			k.named[x.Name] = loaded{f, x.Params}
			err = k.launch(0, f, 1, 32, unsafe.Pointer(unsafe.SliceData(make([]uint64, x.Params/8+1))))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("load kernel %s: %w", x.Name, err), k.Close())
		}
	}
	if err := d.StreamSynchronize(0); err != nil {
		return nil, errors.Join(fmt.Errorf("load kernels of %s: %w", code.Name, err), k.Close())
	}
	return k, nil
}

// Launch enqueues a kernel on a number of blocks of a number of threads, in one dimension. params points to its struct.
func (k *Kernels) Launch(on driver.Stream, name string, blocks, threads int, params any) error {
	x, known := k.named[name]
	p := reflect.ValueOf(params)
	var err error
	switch {
	case !known:
		err = errors.New("it is not in the code that was loaded")
	case p.Kind() != reflect.Pointer || p.IsNil() || int(p.Type().Elem().Size()) != x.params:
		err = fmt.Errorf("params is a %T (it must point to a struct of %d bytes)", params, x.params)
	default:
		err = k.launch(on, x.function, blocks, threads, p.UnsafePointer())
	}
	if err != nil {
		return fmt.Errorf("launch kernel %s: %w", name, err)
	}
	return nil
}

func (k *Kernels) launch(on driver.Stream, f driver.Function, blocks, threads int, params unsafe.Pointer) error {
	grid, block := driver.Dim3{X: uint32(blocks), Y: 1, Z: 1}, driver.Dim3{X: uint32(threads), Y: 1, Z: 1}
	return k.driver.LaunchKernel(f, grid, block, on, params)
}

// Close unloads the kernels. No enqueued work may use them any more. A second call does nothing.
func (k *Kernels) Close() error {
	return k.Done(func() error { return k.driver.ModuleUnload(k.module) })
}

// Package kernels launches the decoder's own kernels, which are in llama.cu. The simulator runs them as host.cc
// compiles them.
package kernels

//go:generate go run ovgen/cmd/ovgen ptx llama.cu

import (
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	_ "ovgen/docs/examples/llama/generated/device" // the headers of llama.cu
	"ovgen/runtime/driver"
)

//go:embed llama.cu
var _ []byte // host.cc includes it, and so go build sees it change

//go:embed llama_sm80.ptx
var ptx []byte

var code = driver.Code{Name: "llama", PTX: ptx, Kernels: list()}

// Kernel is the parameters of one of llama.cu's kernels, which has its type's name.
type Kernel interface {
	// grid is how many items of work there are, for a block each, and a block's threads.
	grid(typ driver.Type) (items uint64, threads uint32)
	// touches are what it reads and writes, of elements of so many bytes. The simulator checks that the memory is
	// there, and finds races.
	touches(size uint64) []driver.Touch
}

var kernels = []Kernel{&Embed{}, &Store{}, &Decode{}, &Merge{}, &Prefill{}, &Last{}, &Best{}}

// named is what llama.cu calls a kernel for elements of a type.
func named(k Kernel, typ driver.Type) string {
	name := strings.ToLower(reflect.TypeOf(k).Elem().Name())
	if _, ok := k.(*Best); ok {
		return name // logits are fp32
	}
	return name + "_" + typ.String()
}

// list describes the kernels to the driver.
func list() (all []driver.Kernel) {
	for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
		for _, k := range kernels {
			params, name := reflect.TypeOf(k).Elem(), named(k, typ)
			if slices.ContainsFunc(all, func(k driver.Kernel) bool { return k.Name == name }) {
				continue // it serves both types
			}
			all = append(all, driver.Kernel{Name: name, Params: int(params.Size()),
				Touches: func(at unsafe.Pointer, to []driver.Touch) []driver.Touch {
					return append(to, reflect.NewAt(params, at).Interface().(Kernel).touches(uint64(typ.Size()))...)
				}})
		}
	}
	return all
}

// Set is the kernels of one element type, loaded on a device.
type Set struct {
	driver driver.Driver
	typ    driver.Type
	module driver.Module
	named  map[string]driver.Function
}

// Load loads them for tensors of a type: BF16 or FP32.
func Load(d driver.Driver, typ driver.Type) (*Set, error) {
	m, err := d.ModuleLoadData(&code)
	if err != nil {
		return nil, fmt.Errorf("load the decoder's kernels: %w", err)
	}
	s := &Set{driver: d, typ: typ, module: m, named: map[string]driver.Function{}}
	for _, k := range kernels {
		name := named(k, typ)
		if s.named[name], err = d.ModuleGetFunction(m, name); err == nil {
			err = s.Launch(0, k) // with nothing to do: the first launch may load, which must not meet a run
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("load kernel %s: %w", name, err), s.Close())
		}
	}
	return s, d.StreamSynchronize(0)
}

// Close unloads them. Nothing enqueued may use them any more.
func (s *Set) Close() error { return s.driver.ModuleUnload(s.module) }

// mostBlocks of a launch: the simulator has memory for as many, and four for each multiprocessor fill an H200.
const mostBlocks = 512

// Launch enqueues kernels one after the other.
func (s *Set) Launch(on driver.Stream, list ...Kernel) error {
	for _, k := range list {
		items, threads := k.grid(s.typ)
		grid := driver.Dim3{X: uint32(max(1, min(items, mostBlocks))), Y: 1, Z: 1}
		block := driver.Dim3{X: threads, Y: 1, Z: 1}
		if err := s.driver.LaunchKernel(s.named[named(k, s.typ)], grid, block, on,
			reflect.ValueOf(k).UnsafePointer()); err != nil {
			return fmt.Errorf("launch kernel %s: %w", named(k, s.typ), err)
		}
	}
	return nil
}

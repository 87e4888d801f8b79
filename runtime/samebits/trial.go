package samebits

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
)

// trial is a comparison on a device.
type trial struct {
	driver.Driver
	memory
	module  driver.Module
	stream  driver.Stream
	product driver.Product // by the library
}

// compare makes the product by the library, and by each kernel.
func (t *trial) compare(list []kernel) (err error) {
	base, err := t.MemAlloc(t.bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.StreamSynchronize(t.stream), t.MemFree(base)) }()
	t.move(base)
	if err = driver.Fill(t, base, t.random, t.desc.Type, t.stream); err == nil {
		err = driver.Cancel(t, t.desc, ranks*rows, driver.Operands{A: t.a, B: t.b}, t.tiles, t.stream)
	}
	for rank := driver.Ptr(0); rank < ranks && err == nil; rank++ {
		err = t.Matmul(t.product, driver.Operands{A: t.a + rank*driver.Ptr(t.operand()), B: t.b, Bias: t.bias,
			C: t.library + rank*driver.Ptr(t.result()), Workspace: t.workspace}, t.stream)
	}
	for i := 0; i < len(list) && err == nil; i++ {
		var from int64
		if from, err = t.launch(list[i]); err == nil {
			err = errors.Join(t.StreamSynchronize(t.stream), t.equal(from))
		}
		if err != nil {
			err = fmt.Errorf("kernel %s: %w", list[i].code.Name, err)
		}
	}
	return err
}

// most bounds the bytes of results that are compared at a time.
const most = 1 << 22

// equal compares the results from a byte on.
func (t *trial) equal(from int64) error {
	end := ranks * t.result()
	got, want := make([]byte, min(most, end)), make([]byte, min(most, end))
	for ; from < end; from += most {
		n := min(most, end-from)
		at := driver.Ptr(from)
		if err := errors.Join(t.MemcpyDtoH(got[:n], t.tiles+at), t.MemcpyDtoH(want[:n], t.library+at)); err != nil {
			return err
		}
		if !bytes.Equal(got[:n], want[:n]) {
			return t.differ(from, got, want)
		}
	}
	return nil
}

// differ says where results differ first, of those from a byte on.
func (t *trial) differ(from int64, got, want []byte) error {
	at := 0
	for got[at] == want[at] {
		at++
	}
	at &^= 1
	p, element, bits := t.Properties(), (int(from)+at)/2, binary.LittleEndian.Uint16
	return &DifferError{element / t.desc.N, element % t.desc.N, bits(got[at:]), bits(want[at:]),
		t.MatmulAlgorithm(t.product), fmt.Sprintf("%s with CUDA %d.%d", p.Name, p.Version/1000, p.Version%1000/10),
		version(t.Driver)}
}

// version names the library of a driver's products: "cuBLASLt 12.9.1". It is empty where the driver names none.
func version(d driver.Driver) string {
	library, ok := driver.Optional[interface{ LibraryVersion() int }](d)
	if !ok {
		return ""
	}
	v := library.LibraryVersion()
	return fmt.Sprintf("cuBLASLt %d.%d.%d", v/10000, v/100%100, v%100)
}

// launch launches a kernel with words that are set, on results that nobody has made. It returns from which byte on they
// are to be the product: of its own rows a sum makes more.
func (t *trial) launch(k kernel) (from int64, err error) {
	f, err := t.ModuleGetFunction(t.module, k.code.Name)
	if err != nil {
		return 0, err
	}
	params := make([]uint64, k.At.Size)
	for place, list := range k.At.Lists {
		params[list.At] = uint64(t.word(place))
	}
	params[k.At.Count], params[k.At.Step], params[k.At.Block] = 1, uint64(t.word(step)), uint64(t.word(counts))
	p := kernels.Product{MatmulDesc: t.desc, Ranks: ranks, Groups: kernels.TileGroups{Rows: rows, Columns: t.desc.N},
		Operands: kernels.Operands{C: t.tiles, Staging: t.staging, A: t.a, B: t.b, Bias: t.bias},
		Peers:    []driver.Ptr{t.a + driver.Ptr(t.operand())}}
	if k.Scatters() {
		from, p.Peers[0] = t.result(), t.tiles+driver.Ptr(t.result())
		for range k.Added {
			p.Added = append(p.Added, t.staging)
		}
	}
	for i := k.At.Finish; i < k.code.FinishEnd; i++ { // a function's operands, and how many columns they have
		if params[i] = uint64(t.desc.N); i < k.At.Finish+len(k.Finish.Operands) {
			params[i] = uint64(t.staging)
		}
	}
	var wrong error
	k.Multiply(params, &p, func(which int, m driver.TensorMapDesc) {
		to := &params[k.At.Tiled.Maps+which*len(driver.TensorMap{})]
		wrong = errors.Join(wrong, t.TensorMapEncodeTiled((*driver.TensorMap)(unsafe.Pointer(to)), m))
	})
	grid := driver.Dim3{X: uint32(k.Grid(t.Properties().Multiprocessors, &p)), Y: 1, Z: 1}
	return from, errors.Join(wrong,
		t.MemsetD32Async(t.tiles, ^uint32(0), ranks*t.result()/4, t.stream),
		t.MemsetD32Async(t.words, 0, allWords, t.stream),
		t.MemsetD32Async(t.word(kernels.PreWait), 1, 1, t.stream),
		t.MemsetD32Async(t.word(kernels.PostWait), 1, 1, t.stream),
		t.LaunchKernel(f, grid, driver.Dim3{X: kernels.TileThreads, Y: 1, Z: 1}, t.stream, unsafe.Pointer(&params[0])))
}

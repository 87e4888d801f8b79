//go:build linux && cgo

package cuda

/*
#include "blas.h"
*/
import "C"

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/choices"
)

// types maps element types to CUDA's types.
var types = map[driver.Type]C.int{driver.BF16: C.CUDA_R_16BF, driver.FP16: C.CUDA_R_16F, driver.FP32: C.CUDA_R_32F,
	driver.E4M3: C.CUDA_R_8F_E4M3, driver.E5M2: C.CUDA_R_8F_E5M2}

// epilogues are cuBLASLt's numbers for functions of each element, without a bias.
var epilogues = map[driver.Func]C.int{"": 0, "relu": 2, "gelu": 32 /* the tanh approximation */}

// epilogue is cuBLASLt's number for a function, a bias, both or neither.
func epilogue(desc driver.MatmulDesc) C.int {
	e := epilogues[desc.Func]
	if desc.Bias {
		e |= C.CUBLASLT_EPILOGUE_BIAS
	}
	if e == 0 {
		e = C.CUBLASLT_EPILOGUE_DEFAULT
	}
	return e
}

// scratch is the memory, the stream and the events of one tuning. The tuning frees them.
type scratch struct {
	driver.Operands
	before   driver.Ptr // of a product in order: the contents of rows of C before each run
	memory   driver.Ptr
	bytes    int64 // total bytes
	scales   int64 // number of the scales of both operands, which are fp32
	stream   driver.Stream
	from, to driver.Event
}

// choose makes a product by the algorithm by, if there is one. Otherwise it takes the algorithm that this or an earlier
// process chose for the product, or else the algorithm that tune finds.
func (d *Driver) choose(desc driver.MatmulDesc, by string) (driver.Product, error) {
	if err := d.openBlas(); err != nil {
		return 0, err
	}
	if err := d.scaled(desc); err != nil {
		return 0, err
	}
	if by != "" {
		a, err := base64.StdEncoding.DecodeString(by)
		if err != nil || len(a) != len(choices.Algorithm{}) {
			return 0, fmt.Errorf("%q is no algorithm of cuBLASLt", by)
		}
		return d.restore(desc, choices.Algorithm(a))
	}
	refused, known := d.choices.Find(desc)
	if known {
		if m, err := d.restore(desc, refused); err == nil {
			return m, nil
		} // a shape that refuses this algorithm may accept another
	}
	m, err := d.tune(desc)
	if err != nil {
		return 0, err
	}
	var mine choices.Algorithm
	C.ovgen_product_algorithm(C.uintptr_t(m), unsafe.Pointer(&mine))
	// If the file can't be written, later processes must tune again, and this process loses nothing.
	if kept, _ := d.choices.Keep(desc, mine, refused); kept != mine {
		if other, err := d.restore(desc, kept); err == nil { // else this device refuses the other rank's algorithm
			C.ovgen_product_destroy(C.uintptr_t(m))
			return other, nil
		}
	}
	return m, nil
}

// restore makes the product with an algorithm and runs it once: CUDA loads a kernel at its first launch, and that may
// synchronise the device.
func (d *Driver) restore(desc driver.MatmulDesc, a choices.Algorithm) (m driver.Product, err error) {
	x, err := d.newScratch(desc, true)
	defer func() { err = errors.Join(err, d.freeScratch(x)) }()
	if err != nil {
		return 0, err
	}
	shape := d.shapeOf(desc)
	var made C.uintptr_t
	var call *C.char
	r := C.ovgen_product_restore(d.blas, &shape, C.uint64_t(x.Bias), driver.WorkspaceBytes,
		unsafe.Pointer(&a), &made, &call)
	if r != 0 {
		return 0, blasStatus(C.GoString(call), r)
	}
	m = driver.Product(made)
	err = d.Matmul(m, x.Operands, x.stream)
	if err = errors.Join(err, d.StreamSynchronize(x.stream)); err != nil {
		C.ovgen_product_destroy(made)
		return 0, err
	}
	return m, nil
}

// tune asks the heuristic for its choices, times them in turn, round by round, and keeps the choice with the least
// median: the first choice is often some percent slower.
func (d *Driver) tune(desc driver.MatmulDesc) (m driver.Product, err error) {
	x, err := d.newScratch(desc, false)
	defer func() { err = errors.Join(err, d.freeScratch(x)) }()
	if err != nil {
		return 0, err
	}
	err = driver.Fill(d, x.memory, x.bytes, desc.Operand(), x.stream)
	if err == nil && x.scales > 0 {
		err = driver.Fill(d, x.ScaleA, x.scales, driver.FP32, x.stream)
	}
	if err == nil && desc.InOrder && desc.Operand().Bits() == 16 { // fp32 and sums of eight bits show their order
		err = driver.Cancel(d, desc, max(desc.M, 2*orderRows), x.Operands, x.C, x.stream)
	}
	if err != nil {
		return 0, err
	}
	m, count, err := d.ask(desc, x.Bias)
	if err != nil {
		return 0, err
	}
	of := make([]int, count)
	for i := range of {
		of[i] = i
	}
	if desc.InOrder {
		of, err = d.inOrder(desc, m, count, x)
	}
	best := 0
	if err == nil {
		best, err = d.fastest(m, of, x)
	}
	if err != nil {
		C.ovgen_product_destroy(C.uintptr_t(m))
		return 0, err
	}
	C.ovgen_product_choose(C.uintptr_t(m), C.int(best))
	return m, nil
}

func (d *Driver) shapeOf(desc driver.MatmulDesc) C.ovgen_shape {
	return C.ovgen_shape{m: C.uint64_t(desc.M), k: C.uint64_t(desc.K), n: C.uint64_t(desc.N), _type: types[desc.Type],
		rescale: d.rescale[desc.Type], transposed: C.bool(desc.Transposed), transposed_a: C.bool(desc.TransposedA),
		epilogue: epilogue(desc), bias: C.bool(desc.Bias), of: types[desc.Operand()], of_b: types[desc.OperandB()],
		accumulate: C.bool(desc.Accumulate), row_scales: C.bool(desc.RowScales),
		block_scales: C.bool(desc.BlockScales), in_order: C.bool(desc.InOrder)}
}

// ask makes the product with the heuristic's choices.
func (d *Driver) ask(desc driver.MatmulDesc, bias driver.Ptr) (driver.Product, int, error) {
	shape := d.shapeOf(desc)
	var m C.uintptr_t
	var count C.int
	var call *C.char
	if r := C.ovgen_product_create(d.blas, &shape, C.uint64_t(bias), driver.WorkspaceBytes, &m, &count, &call); r != 0 {
		return 0, 0, blasStatus(C.GoString(call), r)
	}
	return driver.Product(m), int(count), nil
}

// fastest returns the choice of of with the least median time.
func (d *Driver) fastest(m driver.Product, of []int, x *scratch) (int, error) {
	times := make([][]float32, len(of))
	repeat := make([]int, len(of))
	var round float32 // milliseconds of one round
	var failed error
	for i, choice := range of {
		_, err := d.time(m, choice, 1, x) // the first run loads the kernel
		var ms float32
		if err == nil {
			ms, err = d.time(m, choice, 1, x)
		}
		if err != nil { // the launch may refuse an algorithm that the heuristic names
			failed = err
			continue
		}
		repeat[i] = min(max(int(0.3/max(ms, 0.001)), 1), 32)
		round += ms * float32(repeat[i])
	}
	for range min(max(int(300/max(round, 1)), 5), 15) {
		for i, n := range repeat {
			if n == 0 {
				continue
			}
			ms, err := d.time(m, of[i], n, x)
			if err != nil {
				return 0, err
			}
			times[i] = append(times[i], ms)
		}
	}
	best := -1
	for i := range times {
		if len(times[i]) > 0 && (best < 0 || median(times[i]) < median(times[best])) {
			best = i
		}
	}
	if best < 0 {
		return 0, failed
	}
	return of[best], nil
}

func median(v []float32) float32 { return slices.Sorted(slices.Values(v))[len(v)/2] }

// time runs one choice n times and returns the mean milliseconds of a run.
func (d *Driver) time(m driver.Product, choice, n int, x *scratch) (float32, error) {
	C.ovgen_product_choose(C.uintptr_t(m), C.int(choice))
	if err := d.EventRecordWithFlags(x.from, x.stream, 0); err != nil {
		return 0, err
	}
	for range n {
		if err := d.Matmul(m, x.Operands, x.stream); err != nil {
			return 0, err
		}
	}
	if err := d.EventRecordWithFlags(x.to, x.stream, 0); err != nil {
		return 0, err
	}
	if err := d.EventSynchronize(x.to); err != nil {
		return 0, err
	}
	ms, err := d.EventElapsedTime(x.from, x.to)
	return ms / float32(n), err
}

// newScratch makes one allocation for all operands. If together, a and b share memory, which suffices where their
// numbers don't matter: a smaller allocation takes less time.
func (d *Driver) newScratch(desc driver.MatmulDesc, together bool) (*scratch, error) {
	x := &scratch{}
	m, k, n, size, of := int64(desc.M), int64(desc.K), int64(desc.N), desc.Type.Size(), desc.Operand().Size()
	if desc.InOrder && !together { // also runs products of orderRows rows that begin below orderRows
		m = max(m, 2*orderRows)
	}
	var total int64
	piece := func(bytes int64) driver.Ptr {
		at := total
		total += (bytes + 255) &^ 255
		return driver.Ptr(at)
	}
	if together {
		x.A = piece(max(m, n) * k * of)
		x.B = x.A
	} else {
		x.A, x.B = piece(m*k*of), piece(k*n*of)
	}
	x.C, x.Bias = piece(m*n*size), piece(n*size+16)
	if a, b := desc.Scales(); a > 0 {
		x.ScaleA, x.ScaleB = piece(max(int64(a), m)*4), piece(int64(b)*4)
		x.scales = total - int64(x.ScaleA)
	}
	if desc.InOrder {
		x.before = piece(orderRows * n * size)
	}
	x.Workspace = piece(driver.WorkspaceBytes)
	x.bytes = total
	var err error
	if x.memory, err = d.MemAlloc(total); err != nil {
		return x, err
	}
	for _, p := range []*driver.Ptr{&x.A, &x.B, &x.C, &x.Bias, &x.ScaleA, &x.ScaleB, &x.before, &x.Workspace} {
		*p += x.memory
	}
	if x.stream, err = d.StreamCreateWithPriority(driver.Normal); err != nil {
		return x, err
	}
	if x.from, err = d.EventCreate(true); err != nil {
		return x, err
	}
	if x.to, err = d.EventCreate(true); err != nil {
		return x, err
	}
	return x, nil
}

func (d *Driver) freeScratch(x *scratch) (err error) {
	if x.stream != 0 {
		err = errors.Join(err, d.StreamSynchronize(x.stream), d.StreamDestroy(x.stream))
	}
	for _, e := range []driver.Event{x.from, x.to} {
		if e != 0 {
			err = errors.Join(err, d.EventDestroy(e))
		}
	}
	if x.memory != 0 {
		err = errors.Join(err, d.MemFree(x.memory))
	}
	return err
}

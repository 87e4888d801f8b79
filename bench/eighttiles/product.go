package main

import (
	"bytes"
	"errors"
	"unsafe"

	"ovgen/runtime/driver"
)

// product is a product of e4m3 with its memory: several weights, so that a cache keeps none of them.
type product struct {
	*gpu
	m, k, n, weights        int
	a, b, c, scaleA, scaleB driver.Ptr
}

// alloc makes the memory.
func (p *product) alloc() (err error) {
	const cold = 1 << 28 // bytes of weights
	p.weights = max(1, (cold+p.n*p.k-1)/(p.n*p.k))
	blocks := p.k / driver.ScaleBlock
	for _, x := range []struct {
		at    *driver.Ptr
		bytes int
	}{{&p.a, p.m * p.k}, {&p.b, p.weights * p.n * p.k}, {&p.c, 2 * p.m * p.n}, {&p.scaleA, 4 * p.m * blocks},
		{&p.scaleB, 4 * p.n * blocks}} {
		at, failed := p.MemAlloc(int64(x.bytes))
		*x.at, err = at, errors.Join(err, failed)
	}
	return err
}

// free gives it back.
func (p *product) free() error {
	return errors.Join(p.MemFree(p.a), p.MemFree(p.b), p.MemFree(p.c), p.MemFree(p.scaleA), p.MemFree(p.scaleB))
}

// fill sets operands to numbers, and scales to others. All weights are equal.
func (p *product) fill(next, scale func() float32) error {
	blocks := p.k / driver.ScaleBlock
	b := encoded(driver.E4M3, p.n*p.k, next)
	err := errors.Join(p.MemcpyHtoD(p.a, encoded(driver.E4M3, p.m*p.k, next)),
		p.MemcpyHtoD(p.scaleA, encoded(driver.FP32, p.m*blocks, scale)),
		p.MemcpyHtoD(p.scaleB, encoded(driver.FP32, p.n*blocks, scale)))
	for i := range p.weights {
		err = errors.Join(err, p.MemcpyHtoD(p.weight(i), b))
	}
	return err
}

// weight is the address of one in turn.
func (p *product) weight(turn int) driver.Ptr { return p.b + driver.Ptr(turn%p.weights*p.n*p.k) }

// library enqueues the product by cuBLASLt: by scales of blocks, of rows, or by one scale each.
func (p *product) library(blocks, many bool) (enqueue func(turn int) error, destroy func() error, err error) {
	m, err := p.MatmulCreate(driver.MatmulDesc{M: p.m, K: p.k, N: p.n, Type: driver.BF16, Of: driver.E4M3,
		Transposed: true, RowScales: many && !blocks, BlockScales: blocks})
	return func(turn int) error {
		return p.Matmul(m, driver.Operands{C: p.c, A: p.a, B: p.weight(turn), ScaleA: p.scaleA, ScaleB: p.scaleB,
			Workspace: p.workspace}, p.Stream)
	}, func() error { return p.MatmulDestroy(m) }, err
}

// own enqueues the product by a kernel. Two codes are an element of the maps.
func (p *product) own(i int) func(turn int) error {
	return func(turn int) error {
		x := params{scaleA: p.scaleA, scaleB: p.scaleB, rows: uint64(p.m), depth: uint64(p.k), columns: uint64(p.n)}
		var err error
		for _, m := range []struct {
			to  *driver.TensorMap
			box driver.TensorMapDesc
		}{
			{&x.a, driver.TensorMapDesc{At: p.a, Rows: p.m, Columns: p.k / 2, BoxRows: 128}},
			{&x.b, driver.TensorMapDesc{At: p.weight(turn), Rows: p.n, Columns: p.k / 2, BoxRows: kernels[i].columns}},
			{&x.c, driver.TensorMapDesc{At: p.c, Rows: p.m, Columns: p.n, BoxRows: 64}},
		} {
			m.box.Type, m.box.Shards = driver.BF16, 1
			err = errors.Join(err, p.TensorMapEncodeTiled(m.to, m.box))
		}
		f, failed := p.ModuleGetFunction(p.module, kernels[i].name)
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		return p.LaunchKernel(f, driver.Dim3{X: uint32(p.Properties().Multiprocessors), Y: 1, Z: 1},
			driver.Dim3{X: 384, Y: 1, Z: 1}, p.Stream, unsafe.Pointer(&x))
	}
}

// made runs what enqueue enqueues and returns the product's bytes. It fills C with other bytes first.
func (p *product) made(enqueue func(turn int) error) ([]byte, error) {
	made := bytes.Repeat([]byte{0xff}, 2*p.m*p.n)
	for _, step := range []func() error{
		func() error { return p.MemcpyHtoD(p.c, made) },
		func() error { return enqueue(0) },
		func() error { return p.StreamSynchronize(p.Stream) },
		func() error { return p.MemcpyDtoH(made, p.c) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return made, nil
}

package main

import (
	"errors"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/verify/reference"
)

// product is a product of few rows with its memory. It reads its weights in turn. Their type is Of, with a scale for
// each row, or that of the rows.
type product struct {
	driver.MatmulDesc
	c, a, b, scale driver.Ptr
	weights        int
}

// most rows of a product.
const most = 64

// product allocates memory for products of up to 64 rows, with weights of so many bytes at least.
func (g *gpu) product(typ, of driver.Type, columns, depth int, bytes int64) (p product, err error) {
	p = product{MatmulDesc: driver.MatmulDesc{M: most, K: depth, N: columns, Type: typ, Of: of, Transposed: true,
		RowScales: of != 0}}
	p.weights = int(max(1, (bytes+p.bytes()-1)/p.bytes()))
	for _, x := range []struct {
		at    *driver.Ptr
		bytes int64
	}{{&p.c, typ.Bytes(most * columns)}, {&p.a, typ.Bytes(most * depth)}, {&p.b, p.bytes() * int64(p.weights)},
		{&p.scale, driver.FP32.Bytes(max(columns, most))}} {
		at, failed := g.MemAlloc(x.bytes)
		*x.at, err = at, errors.Join(err, failed)
	}
	return p, err
}

// free gives the memory back.
func (g *gpu) free(p product) error {
	return errors.Join(g.MemFree(p.c), g.MemFree(p.a), g.MemFree(p.b), g.MemFree(p.scale))
}

// fill sets memory to numbers.
func (g *gpu) fill(at driver.Ptr, typ driver.Type, numbers []float32) error {
	return g.MemcpyHtoD(at, reference.Encode(typ, numbers))
}

// bytes of a weight.
func (p product) bytes() int64 { return p.Operand().Bytes(p.N * p.K) }

// weight is the address of one in turn.
func (p product) weight(turn int) driver.Ptr {
	return p.b + driver.Ptr(int64(turn%p.weights)*p.bytes())
}

// family are the kernels of a variant.
func (g *gpu) family(variant int, of driver.Type) fewrows.Family {
	family := fewrows.Kernels
	if of != 0 {
		family = fewrows.Narrow
	}
	if early(g.names[variant]) {
		return family.Early()
	}
	return family
}

// own enqueues the product by a variant's kernel.
func (g *gpu) own(variant int, p product, turn int) error {
	return g.ownMaking(variant, p, turn, nil, fewrows.Making{})
}

// ownMaking enqueues it by the kernel with a function; nil: without.
func (g *gpu) ownMaking(variant int, p product, turn int, f *fewrows.Function, making fewrows.Making) error {
	k := g.family(variant, p.Of).Of(p.M)
	k.Function = f
	blocks := k.Blocks(p.M, p.N, g.Properties().Multiprocessors)
	x := fewrows.Boxed{Params: fewrows.Params{To: p.c, Rows: uint64(p.M), Depth: uint64(p.K), Columns: uint64(p.N),
		A: p.a, B: p.weight(turn), Scale: p.scale, Scales: uint64(p.N), Making: making}}
	if !k.Boxes {
		return g.launch(variant, k.Name(p.Type), blocks, k.Threads(), unsafe.Pointer(&x.Params))
	}
	var err error
	x.Box(k, p.Type, blocks, func(to *driver.TensorMap, m driver.TensorMapDesc) {
		err = errors.Join(err, g.TensorMapEncodeTiled(to, m))
	})
	if err != nil {
		return err
	}
	return g.launch(variant, k.Name(p.Type), blocks, k.Threads(), unsafe.Pointer(&x))
}

// read enqueues a variant's read of the weight.
func (g *gpu) read(variant int, p product, turn int) error {
	x := []uint64{uint64(p.weight(turn)), uint64(p.bytes() / 16), uint64(p.c)}
	return g.launch(variant, "read", 2*g.Properties().Multiprocessors, 512, unsafe.Pointer(&x[0]))
}

func (g *gpu) launch(variant int, kernel string, grid, block int, params unsafe.Pointer) error {
	f, err := g.ModuleGetFunction(g.modules[variant], kernel)
	if err != nil {
		return err
	}
	dim := func(n int) driver.Dim3 { return driver.Dim3{X: uint32(n), Y: 1, Z: 1} }
	return g.LaunchKernel(f, dim(grid), dim(block), g.Stream, params)
}

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"ovgen/bench/race"
	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/verify/reference"
)

// functions are the functions of the kernels, each once.
func (g *gpu) functions() (list []*fewrows.Function) {
	for _, k := range g.making.FewRows {
		if f := k.Function; f != nil && f.Number > len(list) {
			list = append(list, f)
		}
	}
	return list
}

// beside is memory of what functions read and make beside a product.
type beside struct{ operand, made driver.Ptr }

func (g *gpu) beside(p product) (x beside, err error) {
	var errs [2]error
	x.operand, errs[0] = g.MemAlloc(p.Type.Bytes(most * p.N))
	x.made, errs[1] = g.MemAlloc(p.Type.Bytes(most * p.N))
	if err := errors.Join(errs[:]...); err != nil {
		return x, err
	}
	return x, g.fill(x.operand, p.Type, numbers(most*p.N, func() float32 { return 2*rand.Float32() - 1 }))
}

func (g *gpu) leave(x beside) error { return errors.Join(g.MemFree(x.operand), g.MemFree(x.made)) }

// fused enqueues a product by a variant's kernel with the function.
func (g *gpu) fused(variant int, p product, turn int, f *fewrows.Function, x beside) error {
	return g.ownMaking(variant, p, turn, f, fewrows.Making{Made: x.made,
		Operands: [fewrows.MostOperands]driver.Ptr{x.operand}})
}

// apart enqueues the kernel of elements that makes the function of a result, as package kernels launches it.
func (g *gpu) apart(variant int, p product, f *fewrows.Function, x beside) error {
	if f.Made == nil {
		return nil
	}
	for _, k := range g.making.Table.Kernels {
		if k.Made.Word != f.Made.Word {
			continue
		}
		params := []uint64{uint64(x.made), uint64(p.M * p.N), uint64(p.c), uint64(x.operand)}
		const threads = 512
		blocks := min(int(p.Type.Bytes(p.M*p.N))/(16*threads)+1, int(kernels.Elements.Blocks()))
		return g.launch(variant, k.Name(p.Type), blocks, threads, unsafe.Pointer(&params[0]))
	}
	return fmt.Errorf("no kernel makes %s", f.Made.Word)
}

// checksMaking checks all variants in all types. It compares the bits of a kernel that applies a function with those of
// the plain kernel and a kernel of the function behind it. It compares an epilogue of the library with float64.
func (g *gpu) checksMaking() error {
	if *sure {
		return nil
	}
	for _, typ := range []driver.Type{driver.BF16, driver.FP16} {
		for _, of := range []driver.Type{0, driver.E4M3} {
			for i, name := range g.names {
				what := fmt.Sprintf("%s of %s by %s", name, typ, cmp.Or(of, typ))
				for _, shape := range [][2]int{{64, 256}, {192, 768}, {512, 2048}, {4096, 4096}, {1024, 14336},
					{6144, 1024}} {
					if err := g.checkMaking(i, typ, of, shape); err != nil {
						return fmt.Errorf("check %s, %d columns, depth %d: %w", what, shape[0], shape[1], err)
					}
				}
				fmt.Printf("%s: functions in a product's kernel have the bits of the same functions behind it\n", what)
			}
		}
	}
	return nil
}

func (g *gpu) checkMaking(variant int, typ, of driver.Type, shape [2]int) error {
	p, err := g.product(typ, of, shape[0], shape[1], 1)
	if err != nil {
		return err
	}
	x, err := g.beside(p)
	if err != nil {
		return err
	}
	next := func() float32 { return (2*rand.Float32() - 1) / 8 }
	scales := numbers(max(p.N, most), func() float32 { return 1 + rand.Float32() })
	if err := errors.Join(g.fill(p.a, typ, numbers(most*p.K, next)), g.fill(p.b, p.Operand(), numbers(p.N*p.K, next)),
		g.fill(p.scale, driver.FP32, scales)); err != nil {
		return err
	}
	for _, f := range g.functions() {
		for _, p.M = range []int{1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 47, 63, 64} {
			if err := g.equal(variant, p, f, x); err != nil {
				return fmt.Errorf("function %d, %d rows: %w", f.Number, p.M, err)
			}
		}
	}
	return errors.Join(g.leave(x), g.free(p))
}

// equal compares a function in a kernel with the same function behind it.
func (g *gpu) equal(variant int, p product, f *fewrows.Function, x beside) error {
	behind := func() error { return errors.Join(g.own(variant, p, 0), g.apart(variant, p, f, x)) }
	want, made, err := g.both(p, x, behind)
	if err != nil {
		return err
	}
	got, gotMade, err := g.both(p, x, func() error { return g.fused(variant, p, 0, f, x) })
	switch {
	case err != nil:
		return err
	case f.Epilogue != "":
		return nearGELU(p.Type, got, want)
	case !bytes.Equal(got, want):
		return errors.New("the product has other bits than without the function")
	case !bytes.Equal(gotMade, made):
		return errors.New("the function has other bits than behind the product")
	}
	return nil
}

// both poisons the memory of the product and of its function's result, enqueues work that writes them, and returns both
// with the bytes behind their rows.
func (g *gpu) both(p product, x beside, enqueue func() error) (c, made []byte, err error) {
	c = bytes.Repeat([]byte{0x5a}, int(p.Type.Bytes(most*p.N)))
	made = bytes.Clone(c)
	for _, step := range []func() error{
		func() error { return g.MemcpyHtoD(p.c, c) },
		func() error { return g.MemcpyHtoD(x.made, made) },
		enqueue,
		func() error { return g.StreamSynchronize(g.Stream) },
		func() error { return g.MemcpyDtoH(c, p.c) },
		func() error { return g.MemcpyDtoH(made, x.made) },
	} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	return c, made, nil
}

// nearGELU compares GELU of unrounded sums with that of the rounded ones.
func nearGELU(typ driver.Type, got, of []byte) error {
	x, err := reference.Decode(typ, of)
	y, failed := reference.Decode(typ, got)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	for i := range x {
		if bytes.Equal(of[2*i:2*i+2], []byte{0x5a, 0x5a}) {
			continue // behind the rows, which stay as they are
		}
		sum := float64(x[i])
		want := sum / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(sum+0.044715*sum*sum*sum)))
		if math.Abs(float64(y[i])-want) > 1e-2*max(1, math.Abs(want)) {
			return fmt.Errorf("element %d is %g, want about %g", i, y[i], want)
		}
	}
	return nil
}

// lineMaking measures each function of a product: the library's with the function behind it, and every variant with the
// function in its kernel and behind it.
func (g *gpu) lineMaking(p product, workspace driver.Ptr) error {
	x, err := g.beside(p)
	if err != nil {
		return err
	}
	for _, f := range g.functions() {
		d := p.MatmulDesc
		if d.Func = driver.Func(f.Epilogue); p.Of != 0 && d.Func != "" {
			continue // the library applies none to products by eight bits
		}
		m, err := g.MatmulCreate(d)
		if err != nil {
			return err
		}
		library := func(turn int) error {
			return errors.Join(g.Matmul(m, driver.Operands{C: p.c, A: p.a, B: p.weight(turn), ScaleA: p.scale,
				ScaleB: p.scale, Workspace: workspace}, g.Stream), g.apart(0, p, f, x))
		}
		list := []race.Way{{Name: "read", Enqueue: func(turn int) error { return g.read(0, p, turn) }},
			{Name: "cuBLASLt", Enqueue: library}}
		for i, name := range g.names {
			fused := func(turn int) error { return g.fused(i, p, turn, f, x) }
			list = append(list, race.Way{Name: name, Enqueue: fused})
			if f.Made != nil {
				list = append(list, race.Way{Name: name + "-apart", Enqueue: func(turn int) error {
					return errors.Join(g.own(i, p, turn), g.apart(i, p, f, x))
				}})
			}
		}
		word := f.Epilogue
		if f.Made != nil {
			word = f.Made.Word
		}
		fmt.Printf("%-6s ", word)
		if err := errors.Join(g.race(p, list), g.MatmulDestroy(m)); err != nil {
			return err
		}
	}
	return g.leave(x)
}

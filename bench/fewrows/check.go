package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/verify/reference"
)

// check holds a variant's kernels against a reference, with numbers of which every sum is exact, and with real ones
// against themselves: a row has the same bits whatever the number of rows beside it, again and again.
func (g *gpu) check(variant int, typ, of driver.Type) error {
	shapes := [][2]int{{64, 256}, {192, 768}, {512, 2048}, {4096, 4096}, {1024, 14336}}
	if of != 0 { // what no kernel of 16 bits takes
		shapes = append(shapes, [2]int{16, 16}, [2]int{80, 48}, [2]int{1040, 1808})
	}
	for _, shape := range shapes {
		p, err := g.product(typ, of, shape[0], shape[1], 1)
		if err != nil {
			return err
		}
		if of == 0 && !fewrows.Kernels.Takes(p.MatmulDesc) {
			return fmt.Errorf("%d columns, depth %d: no kernel makes it", p.N, p.K)
		}
		if err = g.exact(variant, p); err == nil {
			err = g.invariant(variant, p)
		}
		if err != nil {
			return fmt.Errorf("%d columns, depth %d: %w", p.N, p.K, err)
		}
		if err := g.free(p); err != nil {
			return err
		}
	}
	return nil
}

// numbers are a list of what next says.
func numbers(count int, next func() float32) []float32 {
	list := make([]float32, count)
	for i := range list {
		list[i] = next()
	}
	return list
}

// exact compares some columns with sums of -1, 0 and 1. A weight of eight bits with few rows has all numbers.
func (g *gpu) exact(variant int, p product) error {
	next := func() float32 { return float32(rand.IntN(3) - 1) }
	a, b := numbers(most*p.K, next), numbers(p.N*p.K, next)
	if p.Of != 0 && p.K <= 48 {
		var of []float32
		for code := range 256 {
			if x, err := reference.Decode(p.Of, []byte{byte(code)}); err != nil {
				return err
			} else if x[0] == x[0] {
				of = append(of, x[0])
			}
		}
		b = numbers(p.N*p.K, func() float32 { return of[rand.IntN(len(of))] })
	}
	scales := numbers(p.N, func() float32 { return float32(1 + rand.IntN(2)) })
	if err := g.fill(p.scale, driver.FP32, scales); err != nil {
		return err
	}
	if err := g.fill(p.a, p.Type, a); err != nil {
		return err
	}
	if err := g.fill(p.b, p.Operand(), b); err != nil {
		return err
	}
	columns := rand.Perm(p.N)[:min(p.N, 100)]
	want := make([][]byte, most*p.N) // of these columns
	for row := range most {
		for _, column := range columns {
			var sum float32
			for k := range p.K {
				sum += a[row*p.K+k] * b[column*p.K+k]
			}
			if p.Of != 0 {
				sum *= scales[column]
			}
			want[row*p.N+column] = reference.Encode(p.Type, []float32{sum})
		}
	}
	for _, p.M = range []int{1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 47, 63, 64} {
		got, err := g.result(variant, p)
		if err != nil {
			return err
		}
		for i := range p.M * p.N {
			if w := want[i]; w != nil && !bytes.Equal(got[2*i:2*i+2], w) {
				return fmt.Errorf("%d rows: row %d, column %d has bits %x, want %x",
					p.M, i/p.N, i%p.N, got[2*i:2*i+2], w)
			}
		}
	}
	return nil
}

// invariant compares the bits of real numbers.
func (g *gpu) invariant(variant int, p product) error {
	next := func() float32 { return 2*rand.Float32() - 1 }
	if err := g.fill(p.a, p.Type, numbers(most*p.K, next)); err != nil {
		return err
	}
	if err := g.fill(p.b, p.Operand(), numbers(p.N*p.K, next)); err != nil {
		return err
	}
	all, err := g.result(variant, p)
	if err != nil {
		return err
	}
	for p.M = 1; p.M <= most; p.M++ {
		got, err := g.result(variant, p)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, all[:len(got)]) {
			return fmt.Errorf("%d rows have other bits than the same rows of %d", p.M, most)
		}
	}
	return nil
}

// result runs a product into memory that held something else, and sees that nothing behind its rows is written.
func (g *gpu) result(variant int, p product) ([]byte, error) {
	const stale = 0x5a
	all := bytes.Repeat([]byte{stale}, int(p.Type.Bytes(most*p.N)))
	if err := g.MemcpyHtoD(p.c, all); err != nil {
		return nil, err
	}
	if err := g.own(variant, p, 0); err != nil {
		return nil, err
	}
	if err := g.StreamSynchronize(g.Stream); err != nil {
		return nil, err
	}
	if err := g.MemcpyDtoH(all, p.c); err != nil {
		return nil, err
	}
	made := int(p.Type.Bytes(p.M * p.N))
	if behind := bytes.Trim(all[made:], string([]byte{stale})); len(behind) > 0 {
		return nil, fmt.Errorf("%d rows: it writes behind them", p.M)
	}
	return all[:made], nil
}

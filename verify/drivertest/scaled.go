package drivertest

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"ovgen/runtime/driver"
)

// scaledProducts multiplies e4m3 of -1, 0 and 1 by scales that are powers of two and that differ from row to row; also
// e4m3 by e5m2, and e5m2 by e4m3. Each element must be equal to the one computed here: an element that takes its
// neighbour's scale is not equal, nor one of codes that were taken for those of another type.
func scaledProducts(b *bench) {
	workspace := b.alloc(driver.WorkspaceBytes)
	for _, d := range []driver.MatmulDesc{{Of: driver.E4M3}, {Of: driver.E4M3, OfB: driver.E5M2},
		{Of: driver.E5M2, OfB: driver.E4M3}} {
		for _, d.Type = range []driver.Type{driver.BF16, driver.FP16} {
			for _, s := range [][3]int{{64, 64, 64}, {128, 48, 80}, {1, 16, 16}, {33, 160, 48}, {16, 4096, 32}} {
				for form := range 7 { // all forms but the one in badScales
					d.M, d.K, d.N, d.Transposed = s[0], s[1], s[2], true
					d.RowScales, d.Bias, d.Accumulate = form&1 != 0, form&2 != 0, form&4 != 0
					b.scaled(d, workspace)
				}
			}
		}
	}
}

// blockProducts makes such products with scales of blocks, which differ from block to block. K and N have several
// blocks.
func blockProducts(b *bench) {
	workspace := b.alloc(driver.WorkspaceBytes)
	for _, typ := range []driver.Type{driver.BF16, driver.FP16} {
		for _, s := range [][3]int{{16, 512, 128}, {24, 1024, 384}, {136, 512, 256}} {
			for form := range 3 { // all forms but the one in badScales
				b.scaled(driver.MatmulDesc{M: s[0], K: s[1], N: s[2], Type: typ, Of: driver.E4M3, Transposed: true,
					BlockScales: true, Bias: form&1 != 0, Accumulate: form&2 != 0}, workspace)
			}
		}
	}
}

// refusesScales reports whether a device may lack the product. All devices have it from 8.9 on. With scales of rows or
// of blocks, only 9.0 has it, by cuBLASLt 12.9.
func refusesScales(p driver.Properties, d driver.MatmulDesc, err error) bool {
	have, several := 10*p.Major+p.Minor, d.RowScales || d.BlockScales
	return have < 89 && strings.Contains(err.Error(), "compute capability 8.9") ||
		several && (have != 90 && strings.Contains(err.Error(), "compute capability 9.0") ||
			strings.Contains(err.Error(), "scales need cuBLASLt 12.9"))
}

func (b *bench) scaled(desc driver.MatmulDesc, workspace driver.Ptr) {
	b.Helper()
	label := fmt.Sprintf("%s, scales of rows %t, of blocks %t", label(desc), desc.RowScales, desc.BlockScales)
	m, err := b.d.MatmulCreate(desc)
	if err != nil {
		if !refusesScales(b.d.Properties(), desc, err) {
			b.Errorf("%s: %v", label, err)
		}
		return
	}
	defer func() { b.must(b.d.MatmulDestroy(m)) }()
	o, s := newScaled(desc), b.stream(driver.Low)
	x := driver.Operands{A: b.put(o.a), B: b.put(o.b), ScaleA: b.put(encode(driver.FP32, o.scaleA)),
		ScaleB: b.put(encode(driver.FP32, o.scaleB)), Bias: b.put(encode(desc.Type, o.bias)), Workspace: workspace,
		C: b.put(encode(desc.Type, o.c))}
	b.must(b.d.Matmul(m, x, s))
	b.must(b.d.StreamSynchronize(s))
	got, want := decode(desc.Type, b.get(x.C, desc.Type.Bytes(desc.M*desc.N))), o.product(desc)
	for i := range want {
		if got[i] != want[i] {
			b.Errorf("%s: element [%d,%d] is %v, want %v", label, i/desc.N, i%desc.N, got[i], want[i])
			return
		}
	}
	for _, wrong := range []func(x *driver.Operands){func(x *driver.Operands) { x.ScaleA = 0 },
		func(x *driver.Operands) { x.ScaleB += 4 }, func(x *driver.Operands) { x.ScaleA = x.C }} {
		bad, status := x, (*driver.Status)(nil)
		wrong(&bad)
		if err := b.d.Matmul(m, bad, s); !errors.As(err, &status) {
			b.Errorf("%s: scales at %#x and %#x, the result at %#x: %v", label, bad.ScaleA, bad.ScaleB, bad.C, err)
		}
	}
}

// scaled has the codes of a product's operands, the scales of rows, and addends.
type scaled struct {
	a, b                    []byte
	scaleA, scaleB, bias, c []float32
}

// newScaled draws operands of which half are zero, or for thousands of columns all but one in 32, so that most sums
// have few digits. Scales are from 1/4 to 2, and the scales of neighbours differ. Addends are multiples of 1/16, as all
// sums are. So a sum is exact in fp32, in any order.
func newScaled(d driver.MatmulDesc) (o scaled) {
	x := uint32(d.M*73856093 ^ d.K*19349663 ^ d.N*83492791)
	next := func() uint32 {
		x = x*1664525 + 1013904223
		return x >> 16
	}
	codes := func(typ driver.Type, n, one int) []byte {
		list := make([]byte, n)
		for i := range list {
			if next()%uint32(one) == 0 {
				list[i] = map[driver.Type]byte{driver.E4M3: 0x38, driver.E5M2: 0x3c}[typ] | byte(next()&1<<7)
			}
		}
		return list
	}
	scales := func(n int) []float32 {
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(math.Ldexp(1, int(uint32(7*i)%4)-2))
		}
		return list
	}
	addends := func(n int) []float32 {
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(int(next()%5)-2) / 16
		}
		return list
	}
	one := 2
	if d.K > 500 {
		one = 32
	}
	a, b := d.Scales()
	return scaled{a: codes(d.Operand(), d.M*d.K, one), b: codes(d.OperandB(), d.N*d.K, one), scaleA: scales(a),
		scaleB: scales(b), bias: addends(d.N), c: addends(d.M * d.N)}
}

// product is the exact product, rounded once to the type.
func (o scaled) product(d driver.MatmulDesc) []float32 {
	var value [256]float64 // e4m3 and e5m2 of 1 and -1, of which neither is drawn in the other type
	value[0x38], value[0xb8], value[0x3c], value[0xbc] = 1, -1, 1, -1
	c := make([]float32, d.M*d.N)
	for i := range d.M {
		for j := range d.N {
			sum := 0.0
			for k := range d.K {
				ofA, ofB := o.scalesOf(d, i, j, k)
				sum += value[o.a[i*d.K+k]] * value[o.b[j*d.K+k]] * float64(ofA) * float64(ofB)
			}
			if d.Bias {
				sum += float64(o.bias[j])
			}
			if d.Accumulate {
				sum += float64(o.c[i*d.N+j])
			}
			c[i*d.N+j] = rounded(d.Type, sum)
		}
	}
	return c
}

// scalesOf are the scales of element k of row i of A and of row j of B.
func (o scaled) scalesOf(d driver.MatmulDesc, i, j, k int) (ofA, ofB float32) {
	if d.BlockScales {
		block := k / driver.ScaleBlock
		return o.scaleA[block*d.M+i], o.scaleB[j/driver.ScaleBlock*(d.K/driver.ScaleBlock)+block]
	}
	return o.scaleA[i%len(o.scaleA)], o.scaleB[j%len(o.scaleB)]
}

// rounded is the nearest number of 16 bits, or the even one of two; no number here is subnormal or too large.
func rounded(t driver.Type, x float64) float32 {
	e := 0
	if x != 0 {
		e = math.Ilogb(x) - t.Digits() + 1
	}
	return float32(math.Ldexp(math.RoundToEven(math.Ldexp(x, -e)), e))
}

// badScales makes products of eight bits that no device has.
func badScales(b *bench) {
	rows := func(d *driver.MatmulDesc) { d.RowScales = true }
	blocks := func(d *driver.MatmulDesc) { d.K, d.N, d.BlockScales = 512, 128, true }
	good := driver.MatmulDesc{M: 16, K: 32, N: 16, Type: driver.BF16, Of: driver.E4M3, Transposed: true}
	for name, change := range map[string]func(*driver.MatmulDesc){
		"K of 40":                          func(d *driver.MatmulDesc) { d.K = 40 },
		"N of 24":                          func(d *driver.MatmulDesc) { d.N = 24 },
		"B as [K,N]":                       func(d *driver.MatmulDesc) { d.Transposed = false },
		"A as [K,M]":                       func(d *driver.MatmulDesc) { d.TransposedA = true },
		"e5m2 on both sides":               func(d *driver.MatmulDesc) { d.Of = driver.E5M2 },
		"e5m2 on both, by name":            func(d *driver.MatmulDesc) { d.Of, d.OfB = driver.E5M2, driver.E5M2 },
		"e5m2 beside bf16":                 func(d *driver.MatmulDesc) { d.Of, d.OfB = 0, driver.E5M2 },
		"bf16 beside e4m3":                 func(d *driver.MatmulDesc) { d.OfB = driver.BF16 },
		"e2m1 beside e4m3":                 func(d *driver.MatmulDesc) { d.OfB = driver.E2M1 },
		"e5m2 with block scales":           func(d *driver.MatmulDesc) { blocks(d); d.OfB = driver.E5M2 },
		"a result of fp32":                 func(d *driver.MatmulDesc) { d.Type = driver.FP32 },
		"a result of e4m3":                 func(d *driver.MatmulDesc) { d.Type, d.Of = driver.E4M3, 0 },
		"row scales of bf16":               func(d *driver.MatmulDesc) { d.Of, d.RowScales = 0, true },
		"rows, bias, accumulated":          func(d *driver.MatmulDesc) { rows(d); d.Bias, d.Accumulate = true, true },
		"block scales of bf16":             func(d *driver.MatmulDesc) { d.Of, d.BlockScales = 0, true },
		"block scales and rows'":           func(d *driver.MatmulDesc) { blocks(d); d.RowScales = true },
		"block scales in order":            func(d *driver.MatmulDesc) { blocks(d); d.InOrder = true },
		"12 rows with block scales":        func(d *driver.MatmulDesc) { blocks(d); d.M = 12 },
		"K of 384 with block scales":       func(d *driver.MatmulDesc) { blocks(d); d.K = 384 },
		"N of 192 with block scales":       func(d *driver.MatmulDesc) { blocks(d); d.N = 192 },
		"a bias, accumulated, with blocks": func(d *driver.MatmulDesc) { blocks(d); d.Bias, d.Accumulate = true, true },
		"a function behind it":             func(d *driver.MatmulDesc) { d.Func = "relu" },
	} {
		d := good
		change(&d)
		if _, err := b.d.MatmulCreate(d); err == nil {
			b.Errorf("%s was accepted", name)
		}
	}
}

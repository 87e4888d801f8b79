package drivertest

import (
	"encoding/binary"
	"fmt"
	"math"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/formula"
)

// products multiplies small integers, whose sums are exact in every type, so each element must be equal to the one
// computed here. Behind a function of the library, it is in the interval of that function.
func products(b *bench) {
	workspace := b.alloc(driver.WorkspaceBytes)
	for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
		for _, s := range [][3]int{{64, 64, 64}, {128, 40, 72}, {1, 16, 8}, {33, 17, 29}, {5, 1, 3},
			{7, 129, 1}} {
			for form := range 4 {
				desc := driver.MatmulDesc{M: s[0], K: s[1], N: s[2], Type: typ, Transposed: form&1 != 0,
					Bias: form&2 != 0}
				b.product(desc, workspace)
			}
		}
	}
}

// forms multiplies with A transposed, with a function of each element, and with C's contents added, three times over,
// as a ring does.
func forms(b *bench) {
	workspace := b.alloc(driver.WorkspaceBytes)
	for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
		for _, s := range [][3]int{{64, 64, 64}, {128, 40, 72}, {8, 24, 16}} {
			for form := range 1 << 4 {
				desc := driver.MatmulDesc{M: s[0], K: s[1], N: s[2], Type: typ, Transposed: form&1 != 0,
					TransposedA: form&2 != 0, Bias: form&4 != 0, Accumulate: form&8 != 0}
				if desc.TransposedA || desc.Accumulate {
					b.product(desc, workspace)
				}
				for _, f := range schedule.Epilogues() {
					if desc.Func = driver.Func(f.Word); !desc.Accumulate {
						b.product(desc, workspace)
					}
				}
			}
		}
		for _, s := range [][3]int{{33, 17, 29}, {5, 1, 3}} {
			b.product(driver.MatmulDesc{M: s[0], K: s[1], N: s[2], Type: typ, TransposedA: true}, workspace)
			b.product(driver.MatmulDesc{M: s[0], K: s[1], N: s[2], Type: typ, Transposed: true,
				Accumulate: true}, workspace)
		}
	}
}

// wide multiplies 16 bits into fp32. No type of 16 bits holds every sum of the long rows.
func wide(b *bench) {
	workspace := b.alloc(driver.WorkspaceBytes)
	for _, of := range []driver.Type{driver.BF16, driver.FP16} {
		for _, s := range [][3]int{{64, 64, 64}, {1, 16, 8}, {33, 17, 29}, {5, 1, 3}, {3, 4096, 64}} {
			for form := range 4 {
				b.product(driver.MatmulDesc{M: s[0], K: s[1], N: s[2], Type: driver.FP32, Of: of,
					Transposed: form&1 != 0, TransposedA: form&2 != 0}, workspace)
			}
		}
	}
}

func (b *bench) product(desc driver.MatmulDesc, workspace driver.Ptr) {
	b.Helper()
	m, err := b.d.MatmulCreate(desc)
	if err != nil {
		b.Errorf("%s: %v", label(desc), err)
		return
	}
	defer func() { b.must(b.d.MatmulDestroy(m)) }()
	again, err := b.d.MatmulCreate(desc) // equal products are tuned once
	if a := b.d.MatmulAlgorithm(m); a == "" || a != b.d.MatmulAlgorithm(again) {
		b.Errorf("algorithms %q and %q of equal products", a, b.d.MatmulAlgorithm(again))
	}
	b.must(err)
	by, err := b.d.MatmulBy(desc, b.d.MatmulAlgorithm(m))
	b.must(err)
	if a := b.d.MatmulAlgorithm(by); a != b.d.MatmulAlgorithm(m) {
		b.Errorf("algorithm %q of a product by %q", a, b.d.MatmulAlgorithm(m))
	}
	if _, err := b.d.MatmulBy(desc, "none"); err == nil {
		b.Errorf("a product by no algorithm")
	}
	b.must(b.d.MatmulDestroy(by))
	b.must(b.d.MatmulDestroy(again))
	o := newOperands(desc)
	size := desc.Type.Size()
	of := desc.Operand()
	a, w, bias := b.put(encode(of, o.a)), b.put(encode(of, o.b)), b.put(encode(desc.Type, o.bias))
	c := b.alloc(int64(desc.M*desc.N) * size)
	s := b.stream(driver.Low)
	times := 1
	if desc.Accumulate {
		times = accumulations
		b.must(b.d.MemcpyHtoD(c, encode(desc.Type, o.c)))
	} else {
		b.must(b.d.MemcpyHtoD(c, poison(int64(desc.M*desc.N)*size)))
	}
	if !desc.Bias {
		bias = 0
	}
	for range times {
		b.must(b.d.Matmul(m, driver.Operands{C: c, A: a, B: w, Bias: bias, Workspace: workspace}, s))
	}
	b.must(b.d.StreamSynchronize(s))
	b.compare(desc, o, b.get(c, int64(desc.M*desc.N)*size))
}

func (b *bench) compare(desc driver.MatmulDesc, o operands, data []byte) {
	b.Helper()
	got, want := decode(desc.Type, data), o.product(desc)
	for i := range want {
		if x := float64(got[i]); !(want[i].Lo <= x && x <= want[i].Hi) {
			b.Errorf("%s: element [%d,%d] is %v, want %v", label(desc), i/desc.N, i%desc.N, x, want[i])
			return
		}
	}
}

func label(d driver.MatmulDesc) string {
	return fmt.Sprintf("%s of %s m,k,n %d,%d,%d transposed %v, A %v, bias %v, function %q, accumulate %v",
		d.Type, d.Operand(), d.M, d.K, d.N, d.Transposed, d.TransposedA, d.Bias, d.Func, d.Accumulate)
}

// biasChanges calls one product with two bias vectors on two streams.
func biasChanges(b *bench) {
	desc := driver.MatmulDesc{M: 32, K: 16, N: 24, Type: driver.FP32, Transposed: true, Bias: true}
	m, err := b.d.MatmulCreate(desc)
	b.must(err)
	defer func() { b.must(b.d.MatmulDestroy(m)) }()
	o := newOperands(desc)
	a, w := b.put(encode(desc.Type, o.a)), b.put(encode(desc.Type, o.b))
	var out [2]driver.Ptr
	var sets [2]operands
	for i := range out {
		sets[i] = o
		sets[i].bias = make([]float32, desc.N)
		for j := range sets[i].bias {
			sets[i].bias[j] = float32(100*i + j)
		}
		out[i] = b.alloc(int64(desc.M*desc.N) * 4)
		s := b.stream(driver.Low)
		b.must(b.d.Matmul(m, driver.Operands{C: out[i], A: a, B: w, Bias: b.put(encode(desc.Type, sets[i].bias)),
			Workspace: b.alloc(driver.WorkspaceBytes)}, s))
	}
	b.must(b.d.CtxSynchronize())
	for i := range out {
		b.compare(desc, sets[i], b.get(out[i], int64(desc.M*desc.N)*4))
	}
}

// chunks multiplies two row blocks of an odd product in place: their addresses are aligned only to an element.
func chunks(b *bench) {
	for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
		whole := driver.MatmulDesc{M: 34, K: 27, N: 19, Type: typ, Bias: true}
		part := whole
		part.M = 17
		m, err := b.d.MatmulCreate(part)
		b.must(err)
		o, size := newOperands(whole), typ.Size()
		a, w, bias := b.put(encode(typ, o.a)), b.put(encode(typ, o.b)), b.put(encode(typ, o.bias))
		c, ws, s := b.alloc(34*19*size), b.alloc(driver.WorkspaceBytes), b.stream(driver.Low)
		for i := range driver.Ptr(2) {
			at := 17 * driver.Ptr(size) * i
			b.must(b.d.Matmul(m, driver.Operands{C: c + 19*at, A: a + 27*at, B: w, Bias: bias, Workspace: ws}, s))
		}
		b.must(b.d.StreamSynchronize(s))
		b.compare(whole, o, b.get(c, 34*19*size))
		b.must(b.d.MatmulDestroy(m))
	}
}

func badProducts(b *bench) {
	for _, desc := range []driver.MatmulDesc{
		{M: 0, K: 1, N: 1, Type: driver.BF16},
		{M: 1, K: -1, N: 1, Type: driver.BF16},
		{M: 1, K: 1, N: 0, Type: driver.FP32},
		{M: 8, K: 8, N: 8},
		{M: 8, K: 8, N: 8, Type: driver.FP32, Func: "gelu", Accumulate: true},
		{M: 8, K: 8, N: 8, Type: driver.FP32, Func: "sine"},
		{M: 8, K: 8, N: 8, Type: driver.BF16, InOrder: true, TransposedA: true},
		{M: 8, K: 8, N: 8, Type: driver.FP32, Of: driver.FP32},
		{M: 8, K: 8, N: 8, Type: driver.FP32, Of: 255},
		{M: 8, K: 8, N: 8, Type: driver.BF16, Of: driver.FP32},
		{M: 8, K: 8, N: 8, Type: driver.BF16, Of: driver.FP16},
		{M: 8, K: 8, N: 8, Type: driver.FP32, Of: driver.BF16, Bias: true},
		{M: 8, K: 8, N: 8, Type: driver.FP32, Of: driver.BF16, Func: "relu"},
		{M: 8, K: 8, N: 8, Type: driver.FP32, Of: driver.BF16, Accumulate: true},
		{M: 8, K: 8, N: 8, Type: driver.FP32, Of: driver.BF16, RowScales: true},
	} {
		if _, err := b.d.MatmulCreate(desc); err == nil {
			b.Errorf("%s was accepted", label(desc))
		}
	}
	if err := b.d.MatmulDestroy(0); err == nil {
		b.Error("destroying no product was accepted")
	}
}

// inPlace multiplies into the memory of an operand: some tiles would be written while others still read it.
func inPlace(b *bench) {
	const n = 16
	size := driver.Ptr(n * n * driver.FP32.Size())
	m, err := b.d.MatmulCreate(driver.MatmulDesc{M: n, K: n, N: n, Type: driver.FP32, Bias: true, Accumulate: true})
	b.must(err)
	defer func() { b.must(b.d.MatmulDestroy(m)) }()
	c := b.put(make([]byte, 4*size))
	w, other, bias := b.put(make([]byte, size)), c+2*size, b.put(make([]byte, size))
	ws, s := b.alloc(driver.WorkspaceBytes), b.stream(driver.Low)
	row := driver.Ptr(n * driver.FP32.Size())
	for _, x := range []struct {
		name       string
		a, b, bias driver.Ptr
	}{{"a", c, w, bias}, {"a row of a", c + size - row, w, bias}, {"b", w, c, bias},
		{"bias", w, other, c + size - row}} {
		if err := b.d.Matmul(m, driver.Operands{C: c, A: x.a, B: x.b, Bias: x.bias, Workspace: ws}, s); err == nil {
			b.Errorf("%s where the result goes was accepted", x.name)
		}
	}
	b.must(b.d.Matmul(m, driver.Operands{C: c, A: other, B: w, Bias: bias, Workspace: ws}, s))
	b.must(b.d.Matmul(m, driver.Operands{C: c, A: c + size, B: w, Bias: bias, Workspace: ws}, s))
	b.must(b.d.StreamSynchronize(s))
}

// accumulations is the number of times that a product is added to C.
const accumulations = 3

// operands of a product: integers from -2 to 2.
type operands struct{ a, b, bias, c []float32 }

func newOperands(d driver.MatmulDesc) operands {
	x := uint32(d.M*73856093 ^ d.K*19349663 ^ d.N*83492791)
	fill := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			x = x*1664525 + 1013904223
			v[i] = float32(int(x>>24)%5 - 2)
		}
		return v
	}
	return operands{a: fill(d.M * d.K), b: fill(d.K * d.N), bias: fill(d.N), c: fill(d.M * d.N)}
}

func (o operands) product(d driver.MatmulDesc) []formula.Value {
	c := make([]formula.Value, d.M*d.N)
	for i := range d.M {
		for j := range d.N {
			var sum float32
			if d.Bias {
				sum = o.bias[j]
			}
			for k := range d.K {
				at := k*d.N + j
				if d.Transposed {
					at = j*d.K + k
				}
				from := i*d.K + k
				if d.TransposedA {
					from = k*d.M + i
				}
				sum += o.a[from] * o.b[at]
			}
			if d.Accumulate {
				sum = o.c[i*d.N+j] + accumulations*sum
			}
			made := formula.ByLibrary(string(d.Func), formula.Point(float64(sum)))
			c[i*d.N+j] = formula.Value{Want: made.Want, Lo: float64(rounded(d.Type, made.Lo)),
				Hi: float64(rounded(d.Type, made.Hi))}
		}
	}
	return c
}

func poison(bytes int64) []byte {
	p := make([]byte, bytes)
	for i := range p {
		p[i] = 0xff
	}
	return p
}

// encode turns values that the type holds exactly into its bytes.
func encode(t driver.Type, v []float32) []byte {
	out := make([]byte, 0, int64(len(v))*t.Size())
	for _, f := range v {
		bits := math.Float32bits(f)
		switch t {
		case driver.FP32:
			out = binary.LittleEndian.AppendUint32(out, bits)
		case driver.BF16:
			out = binary.LittleEndian.AppendUint16(out, uint16(bits>>16))
		case driver.FP16:
			out = binary.LittleEndian.AppendUint16(out, half(bits))
		}
	}
	return out
}

// half converts a normal number or zero by moving exponent and fraction.
func half(bits uint32) uint16 {
	if bits<<1 == 0 {
		return uint16(bits >> 16)
	}
	return uint16(bits>>16&0x8000 | (bits>>23&0xff-112)<<10 | bits>>13&0x3ff)
}

func decode(t driver.Type, data []byte) []float32 {
	v := make([]float32, int64(len(data))/t.Size())
	for i := range v {
		switch t {
		case driver.FP32:
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		case driver.BF16:
			v[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(data[2*i:])) << 16)
		case driver.FP16:
			v[i] = single(binary.LittleEndian.Uint16(data[2*i:]))
		}
	}
	return v
}

func single(h uint16) float32 {
	sign, exp, frac := uint32(h>>15), uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0:
		return float32(1-2*int(sign)) * float32(frac) / (1 << 24)
	case 0x1f:
		return float32(math.NaN())
	}
	return math.Float32frombits(sign<<31 | (exp+112)<<23 | frac<<13)
}

package reference

import (
	"math"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/formula"
)

func TestHash(t *testing.T) {
	// The device computes the same; these pin both.
	for _, c := range []struct {
		seed  uint32
		index int64
		want  uint32
	}{{0, 0, 0}, {1, 0, 0xd67772ed}, {0, 1, 0x001b3979}, {7, 1 << 33, 0xeab79ea6}} {
		if got := Hash(c.seed, c.index); got != c.want {
			t.Errorf("Hash(%d, %d) = %#x, want %#x", c.seed, c.index, got, c.want)
		}
	}
}

func TestInput(t *testing.T) {
	const n = 1 << 16
	in := Input{Seed: 3, Limit: dense / 4}
	var count [3]int
	for i := range int64(n) {
		count[int(in.At(i))+1]++
	}
	for v, want := range [3]int{n / 8, n * 3 / 4, n / 8} {
		if d := count[v] - want; d > 600 || d < -600 {
			t.Errorf("%d elements are %d, want about %d", count[v], v-1, want)
		}
	}
	if v := (Input{Limit: dense}).At(5); v == 0 {
		t.Error("an element is zero at the whole density")
	}
	if v := (Input{Seed: 1}).At(5); v != 0 {
		t.Errorf("an element is %g at density 0", v)
	}
}

func TestRound(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		typ      driver.Type
		in, want float32
	}{
		{driver.BF16, 256, 256}, {driver.BF16, 257, 256}, {driver.BF16, 259, 260}, {driver.BF16, -257, -256},
		{driver.BF16, math.MaxFloat32, inf}, {driver.BF16, 0x1p-140, 0}, {driver.BF16, 0x1p-133, 0x1p-133},
		{driver.FP16, 2048, 2048}, {driver.FP16, 2049, 2048}, {driver.FP16, 2051, 2052}, {driver.FP16, 65504, 65504},
		{driver.FP16, 65519, 65504}, {driver.FP16, 65520, inf}, {driver.FP16, -1e9, -inf},
		{driver.FP16, 0x1p-14, 0x1p-14},
		{driver.FP16, 0x1p-24, 0x1p-24}, {driver.FP16, 0x1p-25, 0}, {driver.FP16, 0x1.8p-25, 0x1p-24},
		{driver.FP16, 0x1.8p-24, 0x1p-23},
		{driver.FP16, 0x1.ff8p-15, 0x1.ff8p-15}, {driver.FP16, 0x1.fffp-15, 0x1p-14}, {driver.FP16, 0x1p-26, 0},
		{driver.FP32, 1.0 / 3, 1.0 / 3},
	} {
		if got := Round(c.typ, c.in); got != c.want {
			t.Errorf("Round(%s, %g) = %g, want %g", c.typ, c.in, got, c.want)
		}
	}
	for _, typ := range []driver.Type{driver.BF16, driver.FP16} {
		if x := Round(typ, math.Float32frombits(0x7f800001)); x == x {
			t.Errorf("Round(%s, NaN) = %g", typ, x)
		}
	}
}

func TestEveryHalf(t *testing.T) {
	for _, typ := range []driver.Type{driver.BF16, driver.FP16} {
		for bits := range uint32(1 << 16) {
			x := decode(typ, bits)
			if x == x && encode(typ, x) != bits {
				t.Fatalf("%s %#x is %g and comes back as %#x", typ, bits, x, encode(typ, x))
			}
		}
	}
}

func TestDecode(t *testing.T) {
	if _, err := Decode(driver.BF16, make([]byte, 3)); err == nil {
		t.Error("three bytes of bf16 decode")
	}
	in := []float32{0, 1, -1, 0.5}
	for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
		out, err := Decode(typ, Encode(typ, in))
		if err != nil || len(out) != len(in) || out[3] != 0.5 || out[2] != -1 {
			t.Errorf("%s: %v, %v", typ, out, err)
		}
	}
}

// of computes a product of inputs.
func of(p Product, a, b, bias Input) Values {
	return p.Of(a.Values(p.Type, p.M*p.K), b.Values(p.Type, p.K*p.N), bias.Values(p.Type, p.N), Values{})
}

// TestProduct holds a product against one over indices written out.
func TestProduct(t *testing.T) {
	a, b, bias := Input{Seed: 1, Limit: dense}, Input{Seed: 2, Limit: dense}, Input{Seed: 3, Limit: dense}
	for _, p := range []Product{{}, {Transposed: true}, {TransposedA: true},
		{Transposed: true, TransposedA: true, Parts: 4}} {
		p.M, p.K, p.N, p.Type = 5, 37, 3, driver.BF16
		got := of(p, a, b, bias)
		for i := range p.M {
			for j := range p.N {
				want := bias.At(int64(j))
				for k := range p.K {
					x, y := i*p.K+k, k*p.N+j
					if p.TransposedA {
						x = k*p.M + i
					}
					if p.Transposed {
						y = j*p.K + k
					}
					want += a.At(int64(x)) * b.At(int64(y))
				}
				if got.Want[i*p.N+j] != float64(want) {
					t.Errorf("%+v, row %d, column %d: %g, want %g", p, i, j, got.Want[i*p.N+j], want)
				}
			}
		}
		if n := got.Points(); n < len(got.Want) {
			t.Errorf("%+v: %d of %d sums are one number", p, n, len(got.Want))
		}
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		k    int
		typ  driver.Type
		want uint32
	}{{1024, driver.BF16, dense}, {4096, driver.BF16, dense / 2}, {1 << 20, driver.FP16, dense / 4}, {1 << 20,
		driver.FP32, dense}} {
		if got := Limit(c.k, c.typ); got != c.want {
			t.Errorf("Limit(%d, %s) = %d, want %d", c.k, c.typ, got, c.want)
		}
	}
}

// TestBound holds products in fp32 with partial sums rounded on the way, in another
// order, against float64: they are within the bound, and results further off are not.
func TestBound(t *testing.T) {
	for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
		for _, p := range []Product{{}, {Parts: 1}, {Parts: 4}, {Func: "gelu"}} {
			p.M, p.K, p.N, p.Type = 7, 52, 11, typ
			a, b, bias := Input{Seed: 1, Real: true}, Input{Seed: 2, Real: true}, Input{Seed: 3, Real: true}
			v := of(p, a, b, bias)
			caught := 0
			for i := range v.Want {
				got := onWay(p, a, b, bias, i/p.N, i%p.N)
				if !v.Holds(i, float64(got)) {
					t.Errorf("%s %+v: %g is not in [%g, %g]", typ, p, got, v.Lo[i], v.Hi[i])
				}
				if !v.Holds(i, float64(decode(typ, encode(typ, got)+3))) {
					caught++
				}
			}
			// near zero the sum's error is larger than three units
			if typ != driver.FP32 && p.Parts == 0 && p.Func == "" && caught < len(v.Want)*9/10 {
				t.Errorf("%s: %d of %d results three units off were caught", typ, caught, len(v.Want))
			}
		}
	}
}

// TestBoundOfSmall: partial sums that travel in a type are no multiples of less than its least number, nor greater than
// its numbers.
func TestBoundOfSmall(t *testing.T) {
	for _, c := range []struct{ a, b, other, least, most float64 }{
		{0x1p-13, 0x1p-13, 0x1p-13, 0, 0x1p-24}, // twice a half of the least number, or none of it
		{0x1p-12, 0x1p-13, 0x1p-13, 0x1p-24, 0x1p-24},
		{0x1p8, 0x1p8, -0x1p7, 0x1p15, math.Inf(1)},
	} {
		p := Product{M: 1, K: 2, N: 1, Type: driver.FP16, Parts: 2}
		v := p.Of(points([]float64{c.a, c.a}), points([]float64{c.b, c.other}), Values{}, Values{})
		if !v.Holds(0, c.least) || !v.Holds(0, c.most) {
			t.Errorf("%g times %g and %g is in [%g, %g], without %g or %g", c.a, c.b, c.other, v.Lo[0], v.Hi[0],
				c.least, c.most)
		}
	}
}

// TestBoundOfBoth adds up products of which either side is known but for its last digits, as codes of inexact numbers
// are.
func TestBoundOfBoth(t *testing.T) {
	known := points([]float64{1, 1})
	unknown := Values{Want: []float64{1, 2}, Lo: []float64{0.75, 2}, Hi: []float64{1, 2.5}}
	p := Product{M: 1, K: 2, N: 1, Type: driver.FP32}
	for name, v := range map[string]Values{"A": p.Of(unknown, known, Values{}, Values{}),
		"B": p.Of(known, unknown, Values{}, Values{}), "both": p.Of(unknown, unknown, Values{}, Values{})} {
		least, most := 2.75, 3.5
		if name == "both" {
			least, most = 4.5625, 7.25
		}
		if !v.Holds(0, least) || !v.Holds(0, most) {
			t.Errorf("%s: [%g, %g] does not hold %g and %g", name, v.Lo[0], v.Hi[0], least, most)
		}
	}
}

// onWay is an element as ranks make it that pass partial sums round a ring.
func onWay(p Product, a, b, bias Input, row, column int) float32 {
	parts := max(p.Parts, 1)
	var sum float32
	for part := parts - 1; part >= 0; part-- {
		var partial float32
		for k := p.K*(part+1)/parts - 1; k >= p.K*part/parts; k-- {
			partial += Round(p.Type, a.At(int64(row*p.K+k))) * Round(p.Type, b.At(int64(k*p.N+column)))
		}
		if p.Parts > 0 {
			partial = Round(p.Type, partial)
			sum = Round(p.Type, sum+partial)
			continue
		}
		sum = partial
	}
	sum += Round(p.Type, bias.At(int64(column)))
	return Round(p.Type, float32(formula.ByLibrary(p.Func, formula.Point(float64(sum))).Want))
}

package reference

import (
	"math"
	"testing"

	"ovgen/runtime/driver"
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
	in := Input{Seed: 3, Limit: Whole / 4}
	var count [3]int
	for i := range int64(n) {
		count[int(in.At(i))+1]++
	}
	for v, want := range [3]int{n / 8, n * 3 / 4, n / 8} {
		if d := count[v] - want; d > 600 || d < -600 {
			t.Errorf("%d elements are %d, want about %d", count[v], v-1, want)
		}
	}
	if v := (Input{Limit: Whole}).At(5); v == 0 {
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
		{driver.FP16, 65519, 65504}, {driver.FP16, 65520, inf}, {driver.FP16, -1e9, -inf}, {driver.FP16, 0x1p-14, 0x1p-14},
		{driver.FP16, 0x1p-24, 0x1p-24}, {driver.FP16, 0x1p-25, 0}, {driver.FP16, 0x1.8p-25, 0x1p-24}, {driver.FP16, 0x1.8p-24, 0x1p-23},
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

func TestProduct(t *testing.T) {
	for _, transposed := range []bool{false, true} {
		p := Product{M: 5, K: 37, N: 3, Type: driver.BF16, Transposed: transposed,
			A: Input{Seed: 1, Limit: Whole}, B: Input{Seed: 2, Limit: Whole}, Bias: &Input{Seed: 3, Limit: Whole}}
		got, largest := p.Integers()
		want, bound := p.Float64()
		for i := range want {
			if float64(got[i]) != want[i] {
				t.Errorf("transposed %v, element %d: %g in integers, %g in float64", transposed, i, got[i], want[i])
			}
			if bound[i] <= 0 || bound[i] > 0.5 {
				t.Errorf("bound %g", bound[i])
			}
		}
		if largest == 0 || largest > Exact(p.Type) {
			t.Errorf("largest sum is %d", largest)
		}
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		k    int
		typ  driver.Type
		want uint32
	}{{1024, driver.BF16, Whole}, {4096, driver.BF16, Whole / 2}, {1 << 20, driver.FP16, Whole / 4}, {1 << 20, driver.FP32, Whole}} {
		if got := Limit(c.k, c.typ); got != c.want {
			t.Errorf("Limit(%d, %s) = %d, want %d", c.k, c.typ, got, c.want)
		}
	}
}

// TestBound holds a product in fp32, in another order, against float64: it is
// within the bound, and a value of the type further off is not.
func TestBound(t *testing.T) {
	for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
		p := Product{M: 7, K: 53, N: 11, Type: typ, A: Input{Seed: 1, Real: true}, B: Input{Seed: 2, Real: true}, Bias: &Input{Seed: 3, Real: true}}
		want, bound := p.Float64()
		caught := 0
		for i := range want {
			row, column := i/p.N, i%p.N
			sum := Round(typ, p.Bias.At(int64(column)))
			for k := p.K - 1; k >= 0; k-- {
				sum += Round(typ, p.A.At(int64(row*p.K+k))) * Round(typ, p.B.At(int64(k*p.N+column)))
			}
			got := Round(typ, sum)
			if d := math.Abs(float64(got) - want[i]); d > bound[i] {
				t.Errorf("%s: %g is %g from %g, the bound is %g", typ, got, d, want[i], bound[i])
			}
			if bad := decode(typ, encode(typ, got)+3); math.Abs(float64(bad)-want[i]) > bound[i] {
				caught++
			}
		}
		if typ != driver.FP32 && caught != len(want) {
			t.Errorf("%s: %d of %d results three units off were caught", typ, caught, len(want))
		}
	}
}

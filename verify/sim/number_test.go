package sim

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"ovgen/runtime/driver"
)

// TestWidths: every value of a 16-bit type survives the way to fp32 and back.
func TestWidths(t *testing.T) {
	for _, typ := range []driver.Type{driver.BF16, driver.FP16} {
		for h := range 1 << 16 {
			in := []byte{byte(h), byte(h >> 8)}
			f, out := make([]float32, 1), make([]byte, 2)
			widen(typ, f, in)
			narrow(typ, out, f)
			if nan := f[0] != f[0]; nan != (out[0] == 0xff && out[1] == 0x7f) || !nan &&
				(out[0] != in[0] || out[1] != in[1]) {
				t.Fatalf("%v %#04x becomes %v becomes %#02x%02x", typ, h, f[0], out[1], out[0])
			}
		}
	}
}

// TestRounding compares with the nearest of all values, ties to the even one,
// found by bisection in exact numbers.
func TestRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if rapid.Bool().Draw(t, "near fp16") {
			f = rapid.Float32Range(-70000, 70000).Draw(t, "value")
		}
		if f != f {
			return
		}
		if got, want := toHalf(f), nearest(f, fromHalf, 0x7c00, 65536); got != want {
			t.Errorf("%v becomes fp16 %#04x, want %#04x", f, got, want)
		}
		brain := func(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
		if got, want := toBrain(f), nearest(f, brain, 0x7f80, math.Ldexp(1, 128)); got != want {
			t.Errorf("%v becomes bf16 %#04x, want %#04x", f, got, want)
		}
	})
}

// nearest searches the positive values up to infinity, which counts as over.
func nearest(f float32, value func(uint16) float32, infinity uint16, over float64) uint16 {
	sign := uint16(math.Float32bits(f) >> 31 << 15)
	x := math.Abs(float64(f))
	if math.IsInf(x, 0) {
		return sign | infinity
	}
	at := func(h uint16) float64 {
		if h == infinity {
			return over
		}
		return float64(value(h))
	}
	lo, hi := uint16(0), infinity
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; at(mid) <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	if x >= at(hi) {
		return sign | hi
	}
	below := new(big.Float).Sub(big.NewFloat(x), big.NewFloat(at(lo)))
	above := new(big.Float).Sub(big.NewFloat(at(hi)), big.NewFloat(x))
	switch c := below.Cmp(above); {
	case c > 0, c == 0 && lo%2 == 1:
		return sign | hi
	}
	return sign | lo
}

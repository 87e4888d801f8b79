package sim

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// narrowTypes are the types of 16 bits and fewer.
func narrowTypes() []driver.Type {
	return slices.DeleteFunc(driver.Types(), func(t driver.Type) bool { return t.Bits() > 16 })
}

// TestWidths: every value of a narrow type survives the way to fp32 and back, but for infinities that saturate.
func TestWidths(t *testing.T) {
	for _, typ := range narrowTypes() {
		size := int(typ.Bits()+7) / 8
		nan := []byte{0xff, 0x7f}[2-size:]
		if typ.Digits() == 0 {
			nan[0] = 0xff
		}
		for h := range 1 << typ.Bits() {
			in := []byte{byte(h), byte(h >> 8)}[:size]
			f, out := make([]float32, 1), make([]byte, size)
			widen(typ, f, in)
			narrow(typ, out, f)
			if math.IsInf(float64(f[0]), 0) && typ.Saturates() {
				in = []byte{byte(h - 1)}
			}
			if isNaN := f[0] != f[0]; isNaN != bytes.Equal(out, nan) || !isNaN && !bytes.Equal(out, in) {
				t.Fatalf("%v %#04x becomes %v becomes %#x", typ, h, f[0], out)
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
		for _, typ := range narrowTypes() {
			if typ.Digits() == 0 {
				continue // they are rounded up
			}
			x := formatOf(typ)
			value := func(h uint16) float32 { return x.widen(uint32(h)) }
			over := 2*float64(value(uint16(x.infinity-1))) - float64(value(uint16(x.infinity-2)))
			got, want := x.narrow(f), nearest(f, value, uint16(x.infinity), over)
			sign := uint32(math.Float32bits(f)>>31) * x.sign
			if rest := want &^ (1 << 15); typ.Saturates() && uint32(rest) == x.infinity {
				want = uint16(x.greatest)
			}
			if want := uint32(want&^(1<<15)) | sign; got != want {
				t.Errorf("%v becomes %s %#04x, want %#04x", f, typ, got, want)
			}
		}
	})
}

// TestEight compares the conversions of 8 and of 4 bits with the reference's, of every code, and of every bf16 and its
// neighbours in fp32. Package templates compares the kernels' with the same.
func TestEight(t *testing.T) {
	for _, typ := range narrowTypes() {
		if !typ.Saturates() {
			continue
		}
		f, out := make([]float32, 1), make([]byte, 1)
		for code := range 1 << typ.Bits() {
			widen(typ, f, []byte{byte(code)})
			want, err := reference.Decode(typ, []byte{byte(code)})
			if err != nil {
				t.Fatal(err)
			}
			if math.Float32bits(f[0]) != math.Float32bits(want[0]) && (f[0] == f[0] || want[0] == want[0]) {
				t.Fatalf("%s %#02x becomes %v, want %v", typ, code, f[0], want[0])
			}
		}
		for high := range uint32(1 << 16) {
			for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0xffff} {
				f[0] = math.Float32frombits(high<<16 | low)
				pair := []float32{f[0], f[0]}[:max(8/typ.Bits(), 1)] // a byte
				if narrow(typ, out, pair); out[0] != reference.Encode(typ, pair)[0] {
					t.Fatalf("%v becomes %s %#02x, want %#02x", f[0], typ, out[0], reference.Encode(typ, pair)[0])
				}
			}
		}
	}
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

package templates

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// TestEight compares the kernels' conversions of 8 and of 4 bits with the reference's, of every code, and of every bf16
// and its neighbours in fp32. Package sim compares its own with the same.
func TestEight(t *testing.T) {
	headers, err := Headers()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{HostHeader, "eight.h", "units.h", "eightunits.h", "four.h", "arith.h", "scale.h",
		"powers.h"} {
		if err := os.WriteFile(filepath.Join(dir, name), headers[name], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "eight")
	gcc(t, program, append([]string{"-O1", "-I", dir, filepath.Join("testdata", "eight.cc")}, ofAll...))
	text, err := run(t, program)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	out := []byte(text)
	for _, typ := range []driver.Type{driver.E4M3, driver.E5M2, driver.E2M1, driver.UE8M0} {
		for code := range 1 << typ.Bits() {
			got := math.Float32frombits(binary.LittleEndian.Uint32(out))
			want, err := reference.Decode(typ, []byte{byte(code)})
			if err != nil {
				t.Fatal(err)
			}
			if out = out[4:]; math.Float32bits(got) != math.Float32bits(want[0]) && (got == got || want[0] == want[0]) {
				t.Fatalf("the kernels do wrong: %s %#02x becomes %v, want %v", typ, code, got, want[0])
			}
		}
		for high := range uint32(1 << 16) {
			for _, low := range lowHalves {
				x := math.Float32frombits(high<<16 | low)
				pair := []float32{x, 0}[:max(8/typ.Bits(), 1)] // a byte
				if want := reference.Encode(typ, pair); out[0] != want[0] {
					t.Fatalf("the kernels do wrong: %v becomes %s %#02x, want %#02x", x, typ, out[0], want[0])
				}
				out = out[1:]
			}
		}
	}
	for _, of := range scaleOperations {
		for high := range uint32(1 << 16) {
			for _, low := range lowHalves {
				x := math.Float32frombits(high<<16 | low)
				got, want := math.Float32frombits(binary.LittleEndian.Uint32(out)), of.want(x)
				if got != want && (got == got || want == want) {
					t.Fatalf("the kernels do wrong: %s(%v) is %v, want %v", of.name, x, got, want)
				}
				out = out[4:]
			}
		}
	}
	if len(out) > 0 {
		t.Errorf("%d bytes too many", len(out))
	}
}

// lowHalves of numbers of fp32 are bf16's, their neighbours, ties and the numbers beside these.
var lowHalves = []uint32{0, 1, 0x7fff, 0x8000, 0xffff}

// scaleOperations are those of scale.h and powers.h, in the order of testdata/eight.cc, with what they are by comparing
// sizes.
var scaleOperations = []struct {
	name string
	want func(x float32) float32
}{
	{"f_finite", func(x float32) float32 {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return 0
		}
		return x
	}},
	{"f_power", powerOf},
	{"f_up", func(x float32) float32 {
		if x != x {
			return x
		}
		return sizes[sort.Search(len(sizes)-1, func(i int) bool { return float32(math.Abs(float64(x))) <= sizes[i] })]
	}},
	{"f_loud_power", func(x float32) float32 {
		if x != x {
			return x
		}
		return powerOf(x)
	}},
}

// powerOf is the least power of two that is no less than a size, from 2^-126 to 2^126, which no number has.
func powerOf(x float32) float32 {
	i := sort.Search(2*126, func(i int) bool { return math.Abs(float64(x)) <= math.Ldexp(1, i-126) })
	return float32(math.Ldexp(1, i-126))
}

// sizes are the positive numbers of e4m3, in order.
var sizes = func() []float32 {
	var codes []byte
	for code := byte(1); code <= 0x7e; code++ {
		codes = append(codes, code)
	}
	list, err := reference.Decode(driver.E4M3, codes)
	if err != nil {
		panic(err)
	}
	return list
}()

package drivertest

import (
	"bytes"
	"fmt"
	"math"
	"sort"
	"sync"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// numbers are every number of bf16 with its neighbours in fp32, ties and the numbers beside these, and then every
// number of fp16.
func numbers() (list []float32) {
	for high := range uint32(1 << 16) {
		for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0xffff} {
			list = append(list, math.Float32frombits(high<<16|low))
		}
	}
	for bits := range 1 << 16 {
		list = append(list, decoded(driver.FP16, byte(bits), byte(bits>>8))...)
	}
	return list
}

// numbered is how many numbers there are.
const numbered = 6 << 16

// ConvertedBytes is the number of bytes that Conversions compares: of 784 codes; of each number as an element of units
// of four types, by itself, and as four operations for scales make it; and of all pairs of codes, in both halves of a
// word, in two types.
const ConvertedBytes = 784*4 + numbered*3 + numbered/2 + numbered*4 + numbered*4*4 + 4<<16*4

// Conversions compares what device code makes of all codes of 8 and 4 bits and of numbers, as the kernel conversions of
// templates/testdata/conversions.cu writes it, with the reference's.
func Conversions(t testing.TB, made []byte) {
	t.Helper()
	if len(made) != ConvertedBytes {
		t.Fatalf("%d bytes, want %d", len(made), ConvertedBytes)
	}
	x := &conversions{TB: t, made: made}
	list := numbers()
	for _, typ := range []driver.Type{driver.E4M3, driver.E5M2, driver.E2M1, driver.UE8M0} {
		for code := range 1 << typ.Bits() {
			x.same(fmt.Sprintf("%s %#02x", typ, code), driver.FP32, decoded(typ, byte(code))[:1])
		}
		want := reference.Encode(typ, list)
		x.equal(fmt.Sprintf("units of %s", typ), want)
		if typ.Bits() < 8 {
			pairs := make([]float32, 2*len(list)) // a byte for each
			for i, v := range list {
				pairs[2*i] = v
			}
			want = reference.Encode(typ, pairs)
		}
		x.equal(string(typ), want)
	}
	for _, of := range scaleOperations {
		for _, v := range list {
			x.same(fmt.Sprintf("%s(%v)", of.name, v), driver.FP32, []float32{of.want(v)})
		}
	}
	for _, typ := range []driver.Type{driver.BF16, driver.FP16} {
		for _, half := range []string{"lower", "upper"} {
			for codes := range 1 << 16 {
				want := append(decoded(driver.E4M3, byte(codes)), decoded(driver.E4M3, byte(codes>>8))...)
				x.same(fmt.Sprintf("%s of e4m3 %#04x, the %s half of a word", typ, codes, half), typ, want)
			}
		}
	}
	if len(x.made) > 0 {
		t.Errorf("%d bytes too many", len(x.made))
	}
}

// conversions reads the made bytes from their start.
type conversions struct {
	testing.TB
	made []byte
}

// next are the next bytes.
func (x *conversions) next(count int) (next []byte) {
	if len(x.made) < count {
		x.Fatalf("%d bytes are left of what was made, want %d", len(x.made), count)
	}
	next, x.made = x.made[:count], x.made[count:]
	return next
}

// equal compares bytes.
func (x *conversions) equal(what string, want []byte) {
	x.Helper()
	if got := x.next(len(want)); !bytes.Equal(got, want) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		x.Fatalf("device code does wrong: byte %d of %s is %#02x, want %#02x", i, what, got[i], want[i])
	}
}

// same compares values of a type bit by bit, but for NaNs: these have any bits.
func (x *conversions) same(what string, typ driver.Type, want []float32) {
	x.Helper()
	got := decoded(typ, x.next(len(want)*int(typ.Bits())/8)...)
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			x.Fatalf("device code does wrong: of %s it makes %v, want %v", what, got, want)
		}
	}
}

// decoded are elements of a type.
func decoded(typ driver.Type, b ...byte) []float32 {
	list, err := reference.Decode(typ, b)
	if err != nil {
		panic(err) // the types are those of this file
	}
	return list
}

// scaleOperations are those of scale.h and powers.h, in the order of the kernel, with what they are by comparing sizes.
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
		sizes := sizesOf()
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

// sizesOf are the positive numbers of e4m3, in order.
var sizesOf = sync.OnceValue(func() []float32 {
	var codes []byte
	for code := byte(1); code <= 0x7e; code++ {
		codes = append(codes, code)
	}
	return decoded(driver.E4M3, codes...)
})

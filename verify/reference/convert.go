package reference

import (
	"encoding/binary"
	"fmt"
	"math"

	"ovgen/runtime/driver"
)

// Round is x as t holds it: the nearest value, or the even one of two.
func Round(t driver.Type, x float32) float32 { return formatOf(t).round(x) }

// Encode writes values as t, little endian as devices hold them.
func Encode(t driver.Type, values []float32) []byte {
	width, f := int(t.Bits()), formatOf(t)
	b := make([]byte, t.Bytes(len(values)))
	var whole [4]byte
	for i, x := range values {
		bits, ok := f.narrow(x)
		if !ok {
			bits = encode(t, x)
		}
		if width < 8 { // the first elements of a byte are in its low bits
			b[i*width/8] |= byte(bits << (i * width % 8))
			continue
		}
		binary.LittleEndian.PutUint32(whole[:], bits)
		copy(b[i*width/8:], whole[:width/8])
	}
	return b
}

// Decode reads values of t.
func Decode(t driver.Type, b []byte) ([]float32, error) {
	width := int(t.Bits())
	if 8*len(b)%width != 0 {
		return nil, fmt.Errorf("decode %s: %d bytes are not a whole number of elements", t, len(b))
	}
	values, f := make([]float32, 8*len(b)/width), formatOf(t)
	for i := range values {
		var bits uint32
		for k := range max(width/8, 1) {
			bits |= uint32(b[i*width/8+k]) << (8 * k)
		}
		if width < 8 {
			bits = bits >> (i * width % 8) & (1<<width - 1)
		}
		x, ok := f.widen(bits)
		if !ok {
			x = decode(t, bits)
		}
		values[i] = x
	}
	return values, nil
}

// format is a type's row by its bits, for tensors of millions of elements: it converts normal numbers. It leaves zeros
// other than 0, subnormals, infinities, NaN and powers of two without digits to encode and decode.
type format struct {
	of          driver.Type
	width, drop uint32 // bits of an element; the number of digits that it has fewer than a float
	rebias      uint32 // from an element's exponent to a float's, in place in a float
	all         uint32 // the exponent of infinities
	digits      uint32
}

func formatOf(t driver.Type) format {
	digits := uint32(t.Digits())
	return format{of: t, width: uint32(t.Bits()), drop: 24 - digits, rebias: uint32(127-bias(t)) << 23,
		all: 1<<t.Exponent() - 1, digits: digits}
}

// narrow rounds to nearest, ties to even; a carry raises the exponent.
func (f format) narrow(x float32) (uint32, bool) {
	bits := math.Float32bits(x)
	size := bits &^ (1 << 31)
	switch {
	case f.digits == 0:
		return 0, false
	case bits == 0 || f.drop == 0:
		return bits, true
	case size < f.rebias+1<<23:
		return 0, false
	}
	size -= f.rebias
	size = (size + 1<<(f.drop-1) - 1 + size>>f.drop&1) >> f.drop
	return bits>>31<<(f.width-1) | size, size>>(f.digits-1) < f.all
}

// round is narrow and then widen.
func (f format) round(x float32) float32 {
	bits := math.Float32bits(x)
	size := bits &^ (1 << 31)
	switch {
	case f.digits == 0: // below
	case size == 0 || f.drop == 0:
		return x
	case size >= f.rebias+1<<23:
		size = (size + 1<<(f.drop-1) - 1 + size>>f.drop&1) >> f.drop << f.drop
		if size < f.rebias+f.all<<23 {
			return math.Float32frombits(bits&(1<<31) | size)
		}
	}
	return decode(f.of, encode(f.of, x))
}

func (f format) widen(bits uint32) (float32, bool) {
	if f.digits == 0 {
		return 0, false
	}
	if bits == 0 || f.drop == 0 {
		return math.Float32frombits(bits), true
	}
	size := bits &^ (1 << (f.width - 1))
	e := size >> (f.digits - 1)
	return math.Float32frombits(bits>>(f.width-1)<<31 | size<<f.drop + f.rebias), e != 0 && e < f.all
}

// bias is the difference between the exponent in an element and the exponent of its number.
func bias(t driver.Type) int { return 1<<(t.Exponent()-1) - 1 }

// encode is the nearest element, or the even one of two. A number that is too large becomes infinity, or the greatest
// element where the type saturates.
func encode(t driver.Type, x float32) uint32 {
	switch {
	case t == driver.FP32:
		return math.Float32bits(x)
	case t.Digits() == 0:
		return encodePower(t, math.Abs(float64(x)))
	}
	digits, size := t.Digits(), uint(t.Bits())
	infinity := uint32(1<<t.Exponent()-1) << (digits - 1)
	greatest, ones := infinity, uint32(1)<<(size-1)-1
	if !t.NaN() {
		greatest = ones
	} else if t.Finite() {
		greatest = ones - 1
	} else if t.Saturates() {
		greatest--
	}
	var sign uint32
	if math.Signbit(float64(x)) {
		sign = 1 << (size - 1)
	}
	switch size := math.Abs(float64(x)); {
	case x != x && t.Saturates():
		return ones
	case x != x:
		return sign | infinity | 1<<(digits-2)
	case size == 0:
		return sign
	case math.IsInf(size, 0):
		return sign | greatest
	default:
		e := max(math.Ilogb(size), 1-bias(t))
		n := math.RoundToEven(math.Ldexp(size, digits-1-e)) // a carry raises the exponent
		return sign | min(uint32(e+bias(t)-1)<<(digits-1)+uint32(n), greatest)
	}
}

// encodePower is the least power of two that is not below a size, or the greatest power.
func encodePower(t driver.Type, size float64) uint32 {
	nan := uint32(1)<<t.Exponent() - 1
	if size != size {
		return nan
	}
	fraction, e := math.Frexp(size) // the fraction is at least one half, and one half where the size is a power of two
	if fraction == .5 {
		e--
	}
	switch {
	case size == 0 || e+bias(t) < 0:
		return 0
	case math.IsInf(size, 1):
		return nan - 1
	}
	return min(uint32(e+bias(t)), nan-1)
}

func decode(t driver.Type, bits uint32) float32 {
	switch {
	case t == driver.FP32:
		return math.Float32frombits(bits)
	case t.Digits() == 0 && bits == 1<<t.Exponent()-1:
		return float32(math.NaN())
	case t.Digits() == 0:
		return float32(math.Ldexp(1, int(bits)-bias(t)))
	}
	digits, size := t.Digits(), uint(t.Bits())
	all := uint32(1)<<t.Exponent() - 1
	exponent, fraction := bits>>(digits-1)&all, bits&(1<<(digits-1)-1)
	x := math.Ldexp(float64(fraction|1<<(digits-1)), int(exponent)-bias(t)-digits+1)
	switch {
	case exponent == 0: // subnormal
		x = math.Ldexp(float64(fraction), 2-bias(t)-digits)
	case exponent == all && t.Finite() && t.NaN() && fraction == 1<<(digits-1)-1,
		exponent == all && !t.Finite() && fraction != 0:
		x = math.NaN()
	case exponent == all && !t.Finite():
		x = math.Inf(1)
	}
	if bits>>(size-1)&1 == 1 {
		x = math.Copysign(x, -1)
	}
	return float32(x)
}

package reference

import (
	"encoding/binary"
	"fmt"
	"math"

	"ovgen/runtime/driver"
)

// Round is x as t holds it: the nearest value, the even one of two.
func Round(t driver.Type, x float32) float32 { return decode(t, encode(t, x)) }

// Encode writes values as t, little endian as devices hold them.
func Encode(t driver.Type, values []float32) []byte {
	size := int(t.Size())
	b := make([]byte, 0, len(values)*size)
	for _, x := range values {
		b = append(b, binary.LittleEndian.AppendUint32(nil, encode(t, x))[:size]...)
	}
	return b
}

// Decode reads values of t.
func Decode(t driver.Type, b []byte) ([]float32, error) {
	size := int(t.Size())
	if len(b)%size != 0 {
		return nil, fmt.Errorf("decode %s: %d bytes are not a whole number of elements", t, len(b))
	}
	values := make([]float32, len(b)/size)
	for i := range values {
		var bits uint32
		for k := range size {
			bits |= uint32(b[i*size+k]) << (8 * k)
		}
		values[i] = decode(t, bits)
	}
	return values, nil
}

// bias is what an element's exponent has more than its number's.
func bias(t driver.Type) int { return 1<<(t.Exponent()-1) - 1 }

// encode is the nearest element, the even one of two. Too large becomes infinity, or the greatest
// where the type has none.
func encode(t driver.Type, x float32) uint32 {
	if t == driver.FP32 {
		return math.Float32bits(x)
	}
	digits, size := t.Digits(), uint(t.Size())*8
	infinity := uint32(1<<t.Exponent()-1) << (digits - 1)
	greatest := infinity
	if t.Finite() {
		greatest = 1<<(size-1) - 2
	}
	var sign uint32
	if math.Signbit(float64(x)) {
		sign = 1 << (size - 1)
	}
	switch size := math.Abs(float64(x)); {
	case x != x && t.Finite():
		return sign | greatest + 1
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

func decode(t driver.Type, bits uint32) float32 {
	if t == driver.FP32 {
		return math.Float32frombits(bits)
	}
	digits, size := t.Digits(), uint(t.Size())*8
	all := uint32(1)<<t.Exponent() - 1
	exponent, fraction := bits>>(digits-1)&all, bits&(1<<(digits-1)-1)
	x := math.Ldexp(float64(fraction|1<<(digits-1)), int(exponent)-bias(t)-digits+1)
	switch {
	case exponent == 0: // subnormal
		x = math.Ldexp(float64(fraction), 2-bias(t)-digits)
	case exponent == all && t.Finite() && fraction == 1<<(digits-1)-1, exponent == all && !t.Finite() && fraction != 0:
		x = math.NaN()
	case exponent == all && !t.Finite():
		x = math.Inf(1)
	}
	if bits>>(size-1)&1 == 1 {
		x = math.Copysign(x, -1)
	}
	return float32(x)
}

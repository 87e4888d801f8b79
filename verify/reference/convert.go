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
	b := make([]byte, 0, int64(len(values))*t.Size())
	for _, x := range values {
		if t == driver.FP32 {
			b = binary.LittleEndian.AppendUint32(b, encode(t, x))
		} else {
			b = binary.LittleEndian.AppendUint16(b, uint16(encode(t, x)))
		}
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
		if size == 4 {
			values[i] = decode(t, binary.LittleEndian.Uint32(b[4*i:]))
		} else {
			values[i] = decode(t, uint32(binary.LittleEndian.Uint16(b[2*i:])))
		}
	}
	return values, nil
}

func encode(t driver.Type, x float32) uint32 {
	switch t {
	case driver.BF16:
		return uint32(toBF16(x))
	case driver.FP16:
		return uint32(toFP16(x))
	}
	return math.Float32bits(x)
}

func decode(t driver.Type, bits uint32) float32 {
	switch t {
	case driver.BF16:
		return math.Float32frombits(bits << 16)
	case driver.FP16:
		return fromFP16(uint16(bits))
	}
	return math.Float32frombits(bits)
}

func toBF16(x float32) uint16 {
	b := math.Float32bits(x)
	if x != x {
		return uint16(b>>16) | 0x40 // stays a NaN when only low bits said so
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

func toFP16(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b >> 16 & 0x8000)
	exponent, fraction := int(b>>23&0xff)-127, b&0x7fffff
	switch {
	case x != x:
		return sign | 0x7e00
	case exponent > 15:
		return sign | 0x7c00
	case exponent >= -14: // a carry out of the fraction raises the exponent, up to infinity
		return sign | uint16(nearest(uint32(exponent+15)<<23|fraction, 13))
	case exponent >= -25: // subnormal: the leading one becomes part of the fraction
		return sign | uint16(nearest(fraction|1<<23, uint(-1-exponent)))
	}
	return sign
}

// nearest is x without its low bits, rounded to the nearest, ties to even.
func nearest(x uint32, drop uint) uint32 {
	half := uint32(1) << (drop - 1)
	return (x + half - 1 + x>>drop&1) >> drop
}

func fromFP16(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		x := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(x) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"

	"ovgen/runtime/device"
)

// form is a type of numbers in conversions. Conversions pass through fp32, which holds every number of each form.
type form struct {
	size    int     // in bytes
	endless float32 // the least number that would become infinite
	widen   func(to []float32, from []byte)
	narrow  func(to []byte, from []float32) // rounds to nearest, ties to even
}

// forms of the types that Read returns, by their names in the format.
var forms = map[string]form{
	"BF16": {2, 0x1.ffp127, func(to []float32, from []byte) {
		for i := range to {
			to[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(from[2*i:])) << 16)
		}
	}, func(to []byte, from []float32) {
		for i, x := range from {
			binary.LittleEndian.PutUint16(to[2*i:], bf16(x))
		}
	}},
	"F16": {2, 65520, func(to []float32, from []byte) {
		for i := range to {
			to[i] = fromFP16(binary.LittleEndian.Uint16(from[2*i:]))
		}
	}, func(to []byte, from []float32) {
		for i, x := range from {
			binary.LittleEndian.PutUint16(to[2*i:], fp16(x))
		}
	}},
	"F32": {4, float32(math.Inf(1)), func(to []float32, from []byte) {
		for i := range to {
			to[i] = math.Float32frombits(binary.LittleEndian.Uint32(from[4*i:]))
		}
	}, func(to []byte, from []float32) {
		for i, x := range from {
			binary.LittleEndian.PutUint32(to[4*i:], math.Float32bits(x))
		}
	}},
}

// names are the format's names of the types that Read returns.
var names = map[device.Type]string{device.BF16: "BF16", device.FP16: "F16", device.FP32: "F32"}

// Parts of an fp32.
const (
	signBit  = 1 << 31
	infinity = 0xff << 23
	quiet    = 1 << 22 // of a NaN
)

// bf16 rounds to the nearest bf16. A NaN stays one.
func bf16(x float32) uint16 {
	b := math.Float32bits(x)
	if b&^signBit > infinity {
		return uint16((b | quiet) >> 16)
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// fp16 rounds to the nearest fp16. A NaN stays one.
func fp16(x float32) uint16 {
	b := math.Float32bits(x)
	sign, b := uint16(b&signBit>>16), b&^signBit
	switch {
	case b > infinity:
		return sign | 0x7e00
	case b < 0x38800000: // below 2^-14: a subnormal counts in steps of 2^-24, as an fp32 from .5 to 1 does
		return sign | uint16(math.Float32bits(math.Float32frombits(b)+.5)-math.Float32bits(.5))
	}
	return sign | uint16(min((b-112<<23+0xfff+b>>13&1)>>13, 0x7c00))
}

// fromFP16 returns the value of an fp16.
func fromFP16(h uint16) float32 {
	sign, b := uint32(h&0x8000)<<16, uint32(h&0x7fff)<<13
	if b >= 0x7c00<<13 { // infinity or a NaN
		return math.Float32frombits(sign | infinity | b)
	}
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(b)*0x1p112))
}

// convert converts numbers from one form to another. An error says that a number is too large.
func convert(raw []byte, from, to form) ([]byte, error) {
	made := make([]byte, len(raw)/from.size*to.size)
	var room [4096]float32
	for rest := made; len(rest) > 0; {
		block := room[:min(len(room), len(rest)/to.size)]
		from.widen(block, raw)
		for _, x := range block {
			if (x >= to.endless || x <= -to.endless) && !math.IsInf(float64(x), 0) {
				return nil, fmt.Errorf("%g is too large", x)
			}
		}
		to.narrow(rest, block)
		raw, rest = raw[len(block)*from.size:], rest[len(block)*to.size:]
	}
	return made, nil
}

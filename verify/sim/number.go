package sim

import (
	"math"
	"unsafe"

	"ovgen/runtime/driver"
)

// widen turns elements of a type into fp32.
func widen(t driver.Type, dst []float32, src []byte) {
	if len(dst) == 0 {
		return
	}
	if t == driver.FP32 {
		copy(dst, unsafe.Slice((*float32)(unsafe.Pointer(&src[0])), len(dst)))
		return
	}
	from := unsafe.Slice((*uint16)(unsafe.Pointer(&src[0])), len(dst))
	if t == driver.BF16 {
		for i, h := range from {
			dst[i] = math.Float32frombits(uint32(h) << 16)
		}
		return
	}
	for i, h := range from {
		dst[i] = fromHalf(h)
	}
}

// narrow rounds fp32 to a type, to nearest, ties to even.
func narrow(t driver.Type, dst []byte, src []float32) {
	if len(src) == 0 {
		return
	}
	if t == driver.FP32 {
		copy(unsafe.Slice((*float32)(unsafe.Pointer(&dst[0])), len(src)), src)
		return
	}
	to := unsafe.Slice((*uint16)(unsafe.Pointer(&dst[0])), len(src))
	if t == driver.BF16 {
		for i, f := range src {
			to[i] = toBrain(f)
		}
		return
	}
	for i, f := range src {
		to[i] = toHalf(f)
	}
}

// toBrain rounds to bf16; NaN becomes the one that GPUs write.
func toBrain(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return 0x7fff
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// toHalf rounds to fp16; too large becomes infinity.
func toHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign, b := uint16(b>>16&0x8000), b&0x7fffffff
	switch {
	case b > 0x7f800000:
		return 0x7fff
	case b >= 0x477ff000: // halfway above the greatest fp16
		return sign | 0x7c00
	case b >= 0x38800000: // normal
		return sign | uint16((b-0x38000000+0xfff+b>>13&1)>>13)
	}
	// subnormal: adding 0.5 puts its last bit where fp32 rounds
	return sign | uint16(math.Float32bits(math.Float32frombits(b)+0.5)-0x3f000000)
}

func fromHalf(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0:
		f := float32(frac) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(f))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

package sim

import (
	"math"
	"sync"
	"unsafe"

	"ovgen/runtime/driver"
)

// format is the number format of an element type.
type format struct {
	drop     uint   // digits of an fp32 that the type lacks
	sign     uint32 // the sign's bit
	rebias   uint32 // from an fp32's exponent to an element's, in place
	least    uint32 // the least normal number, as an fp32
	step     uint32 // an fp32 whose last digit has the value of the least subnormal
	infinity uint32 // or the NaN of a type without an infinity; above all numbers in a type with neither
	greatest uint32
	over     uint32 // the result for numbers that are too large
	powers   bool   // the type has only powers of two
}

func formatOf(t driver.Type) format {
	exponent, digits := uint32(t.Exponent()), uint32(t.Digits())
	if digits == 0 {
		return format{powers: true}
	}
	bias := uint32(1)<<(exponent-1) - 1
	f := format{drop: uint(24 - digits), sign: 1 << (exponent + digits - 1), rebias: (127 - bias) << 23,
		least: (128 - bias) << 23}
	f.infinity = (1<<exponent - 1) << (digits - 1)
	f.greatest = f.infinity - 1
	switch {
	case !t.NaN():
		f.infinity, f.greatest = f.sign, f.sign-1
	case t.Finite():
		f.infinity, f.greatest = f.sign-1, f.sign-2
	}
	if f.over = f.infinity; t.Saturates() {
		f.over = f.greatest
	}
	if exponent == 8 {
		f.least = 0 // as in an fp32
	} else {
		f.step = (152 - bias - digits) << 23
	}
	return f
}

// widened has, for each type of at most 16 bits, all its elements as fp32. Each list is made once.
var widened sync.Map

func (f format) widen(bits uint32) float32 {
	switch {
	case f.powers && bits == 0:
		return math.Float32frombits(1 << 22) // half the least normal number
	case f.powers && bits == 255:
		return float32(math.NaN())
	case f.powers:
		return math.Float32frombits(bits << 23)
	}
	sign, rest := bits&f.sign, bits&(f.sign-1)
	wide := rest<<f.drop + f.rebias
	switch nan := f.infinity == f.sign-1; {
	case nan && rest == f.infinity || !nan && rest > f.infinity:
		wide = 0x7f800000 | rest<<f.drop&0x7fffff
		if nan {
			wide = 0x7fc00000
		}
	case !nan && rest == f.infinity:
		wide = 0x7f800000
	case f.step != 0 && wide < f.least: // subnormal
		wide = math.Float32bits(math.Float32frombits(f.step+rest) - math.Float32frombits(f.step))
	}
	if sign != 0 {
		wide |= 1 << 31
	}
	return math.Float32frombits(wide)
}

// narrow rounds to nearest, ties to even. A number that is too large becomes infinity, or the greatest number; a NaN
// becomes the NaN that GPUs write.
func (f format) narrow(x float32) uint32 {
	b := math.Float32bits(x)
	sign, b := b>>31*f.sign, b&0x7fffffff
	switch {
	case f.powers && b > 0x7f800000:
		return 255
	case f.powers && b <= 1<<22:
		return 0
	case f.powers: // digits take a size up to the next exponent
		return min((b+1<<23-1)>>23, 254)
	case b > 0x7f800000:
		return f.sign - 1
	}
	if b < f.least { // subnormal: adding the step puts its last digit where fp32 rounds
		return sign | math.Float32bits(math.Float32frombits(b)+math.Float32frombits(f.step)) - f.step
	}
	if b -= f.rebias; f.drop > 0 {
		b = (b + 1<<(f.drop-1) - 1 + b>>f.drop&1) >> f.drop
	}
	if b > f.greatest {
		b = f.over
	}
	return sign | b
}

// table lists all elements of a type as fp32.
func table(t driver.Type) []float32 {
	if x, ok := widened.Load(t); ok {
		return x.([]float32)
	}
	f := formatOf(t)
	list := make([]float32, 1<<t.Bits())
	for i := range list {
		list[i] = f.widen(uint32(i))
	}
	x, _ := widened.LoadOrStore(t, list)
	return x.([]float32)
}

// widen turns elements of a type into fp32.
func widen(t driver.Type, dst []float32, src []byte) {
	if len(dst) == 0 {
		return
	}
	at := unsafe.Pointer(&src[0])
	switch t.Bits() {
	case 32:
		copy(dst, unsafe.Slice((*float32)(at), len(dst)))
	case 16:
		all := table(t)
		for i, x := range unsafe.Slice((*uint16)(at), len(dst)) {
			dst[i] = all[x]
		}
	case 8:
		all := table(t)
		for i, x := range src[:len(dst)] {
			dst[i] = all[x]
		}
	case 4:
		all := table(t)
		for i := range dst {
			dst[i] = all[src[i/2]>>(i%2*4)&15]
		}
	}
}

// narrow rounds fp32 to a type, to nearest, ties to even.
func narrow(t driver.Type, dst []byte, src []float32) {
	if len(src) == 0 {
		return
	}
	at, f := unsafe.Pointer(&dst[0]), formatOf(t)
	switch t.Bits() {
	case 32:
		copy(unsafe.Slice((*float32)(at), len(src)), src)
	case 16:
		to := unsafe.Slice((*uint16)(at), len(src))
		for i, x := range src {
			to[i] = uint16(f.narrow(x))
		}
	case 8:
		for i, x := range src {
			dst[i] = byte(f.narrow(x))
		}
	case 4:
		for i, x := range src {
			kept := dst[i/2] & (15 << (4 - i%2*4))
			dst[i/2] = kept | byte(f.narrow(x))<<(i%2*4)
		}
	}
}

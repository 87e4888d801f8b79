package reference

import (
	"math"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// gates are the functions of each element that kernels of their own apply. Of fp32: off is what a GPU's own exponential
// and division may be off, of the result; it grows with the exponential's argument where that is rounded.
var gates = map[schedule.FuncKind]struct {
	function
	off func(x float64) float64
}{
	schedule.ApplySiLU:   {function{of: silu, slope: 1.1, unit: gateUnit}, func(float64) float64 { return 16 * single }},
	schedule.ApplySwiGLU: {function{of: silu, slope: 1.1, unit: gateUnit}, func(float64) float64 { return 16 * single }},
	schedule.ApplyGELU: {functions[schedule.ApplyGELU],
		func(x float64) float64 { return (16 + 8*math.Abs(x+0.05*x*x*x)) * single }},
	schedule.ApplyReLU: {functions[schedule.ApplyReLU], func(float64) float64 { return 0 }},
}

// gateUnit is a whole number: silu maps a positive multiple of it to itself and any other to 0,
// exactly in fp32.
const gateUnit = 128

func silu(x float64) float64 { return x / (1 + math.Exp(-x)) }

// off is how far off an element may be.
func (v Values) off(i int) float64 {
	if v.Bound == nil {
		return 0
	}
	return v.Bound[i]
}

// gated is a function of each element, times another tensor's where there is one, rounded once; bounded asks for bounds
// where the tensor has none.
func (v Values) gated(do schedule.FuncKind, up *Values, t driver.Type, bounded bool) Values {
	f := gates[do]
	made := Values{Want: make([]float64, len(v.Want)), Largest: v.Largest}
	if bounded = bounded || v.Bound != nil; bounded {
		made.Bound = make([]float64, len(v.Want))
	}
	for i, x := range v.Want {
		y, other, offOther := f.of(x), 1.0, 0.0
		if up != nil {
			other, offOther = up.Want[i], up.off(i)
		}
		made.Want[i] = y * other
		if bounded {
			off := f.slope*v.off(i) + f.off(x)*math.Abs(y)
			made.Bound[i] = rounding(made.Want[i], off*math.Abs(other)+(math.Abs(y)+off)*offOther, t)
		}
	}
	if !bounded { // as the type holds them: an element far below zero is zero
		for i, x := range made.Want {
			made.Want[i] = float64(formatOf(t).round(t, float32(x)))
		}
	}
	return made
}

// normed divides each row of so many columns by the root of the mean of its squares, and multiplies it by a weight.
// The result is never exact, so it always has bounds. Of a row x with errors e, the mean m of squares is off by 2 *
// mean(|x| e) + mean(e²) and by rounding, (columns + 8) * 2^-24 of it; the root halves what is relative, to first
// order, and the product adds x's own error.
func (v Values) normed(weight Values, columns int, t driver.Type) Values {
	made := Values{Want: make([]float64, len(v.Want)), Bound: make([]float64, len(v.Want))}
	for first := 0; first < len(v.Want); first += columns {
		mean, err := schedule.RMSNormEpsilon, 0.0
		for i := first; i < first+columns; i++ {
			mean += v.Want[i] * v.Want[i] / float64(columns)
			err += (2*math.Abs(v.Want[i])*v.off(i) + v.off(i)*v.off(i)) / float64(columns)
		}
		scale := 1 / math.Sqrt(mean)
		relative := err/mean + float64(columns+16)*single
		for i := first; i < first+columns; i++ {
			w := weight.Want[i-first]
			made.Want[i] = v.Want[i] * scale * w
			made.Bound[i] = rounding(made.Want[i],
				math.Abs(made.Want[i])*relative+v.off(i)*scale*math.Abs(w)*(1+relative), t)
		}
	}
	return made
}

// rounding is a bound after a result that may be so far off is rounded to a type.
func rounding(want, off float64, t driver.Type) float64 {
	return off + unit(t)*(math.Abs(want)+off) + subnormal(t)
}

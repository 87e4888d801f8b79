package reference

import (
	"math"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// gateUnit is a whole number: silu maps a positive multiple of it to itself and any other to 0,
// exactly in fp32.
const gateUnit = 128

func silu(x float64) float64 { return x / (1 + math.Exp(-x)) }

// Of fp32: what a GPU's own exponential and division may be off, of the result.
const gateError = 16 * single

// off is how far off an element may be.
func (v Values) off(i int) float64 {
	if v.Bound == nil {
		return 0
	}
	return v.Bound[i]
}

// gated is silu of a tensor, times another one where there is one, rounded once; bounded asks for bounds where the
// tensor has none.
func (v Values) gated(up *Values, t driver.Type, bounded bool) Values {
	made := Values{Want: make([]float64, len(v.Want)), Largest: v.Largest}
	if bounded = bounded || v.Bound != nil; bounded {
		made.Bound = make([]float64, len(v.Want))
	}
	for i, x := range v.Want {
		y, other, offOther := silu(x), 1.0, 0.0
		if up != nil {
			other, offOther = up.Want[i], up.off(i)
		}
		made.Want[i] = y * other
		if bounded {
			off := 1.1*v.off(i) + gateError*math.Abs(y)
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

package reference

import (
	"math"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// Off is how far off an element may be.
func (v Values) Off(i int) float64 {
	if v.Bound == nil {
		return 0
	}
	return v.Bound[i]
}

// gated is a function of each element, times another tensor's where there is one, rounded once; bounded asks for bounds
// where the tensor has none.
func gated(f schedule.Func, v Values, all map[string]Values, p *Problem, bounded bool) Values {
	made, each := Values{Want: make([]float64, len(v.Want)), Largest: v.Largest}, elementwise(f.Do)
	if bounded = bounded || v.Bound != nil; bounded {
		made.Bound = make([]float64, len(v.Want))
	}
	for i, x := range v.Want {
		y, other, offOther := each.Of(x), 1.0, 0.0
		for _, name := range f.In {
			other, offOther = all[name].Want[i], all[name].Off(i)
		}
		made.Want[i] = y * other
		if bounded {
			off := each.Slope*v.Off(i) + each.Kernel(x)
			made.Bound[i] = rounding(made.Want[i], off*math.Abs(other)+(math.Abs(y)+off)*offOther, p.Type)
		}
	}
	if !bounded { // as the type holds them: an element far below zero is zero
		for i, x := range made.Want {
			made.Want[i] = float64(formatOf(p.Type).round(p.Type, float32(x)))
		}
	}
	return made
}

// normed divides each row by the root of the mean of its squares, and multiplies it by a weight.
// The result is never exact, so it always has bounds. Of a row x with errors e, the mean m of squares is off by 2 *
// mean(|x| e) + mean(e²) and by rounding, (columns + 8) * 2^-24 of it; the root halves the relative error, to first
// order, and the product adds the error of x.
func normed(f schedule.Func, v Values, all map[string]Values, p *Problem, _ bool) Values {
	weight, columns := all[f.In[0]], p.Elements(f.In[0])
	made := Values{Want: make([]float64, len(v.Want)), Bound: make([]float64, len(v.Want))}
	for first := 0; first < len(v.Want); first += columns {
		mean, err := f.AddedToSquares(), 0.0
		for i := first; i < first+columns; i++ {
			mean += v.Want[i] * v.Want[i] / float64(columns)
			err += (2*math.Abs(v.Want[i])*v.Off(i) + v.Off(i)*v.Off(i)) / float64(columns)
		}
		scale := 1 / math.Sqrt(mean)
		relative := err/mean + float64(columns+16)*single
		for i := first; i < first+columns; i++ {
			w := weight.Want[i-first]
			made.Want[i] = v.Want[i] * scale * w
			made.Bound[i] = rounding(made.Want[i],
				math.Abs(made.Want[i])*relative+v.Off(i)*scale*math.Abs(w)*(1+relative), p.Type)
		}
	}
	return made
}

// rounding is a bound after a result that may be so far off is rounded to a type.
func rounding(want, off float64, t driver.Type) float64 {
	return off + unit(t)*(math.Abs(want)+off) + subnormal(t)
}

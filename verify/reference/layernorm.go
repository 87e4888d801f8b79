package reference

import (
	"math"

	"ovgen/schedule"
)

// normedAboutMean takes its mean from each row, divides the rest by the root of the mean of its
// squares, multiplies it by a weight and adds a bias. The result is never exact: there are always bounds. Of a row x
// with errors e, the mean is off by mean(e) and by rounding; the rest by that and by its own rounding; and from there
// it is as for normed. Where the mean of squares may be wholly wrong, so may the root.
func normedAboutMean(f schedule.Func, v Values, all map[string]Values, p *Problem, _ bool) Values {
	weight, bias, columns := all[f.In[0]], all[f.In[1]], p.Elements(f.In[0])
	made := Values{Want: make([]float64, len(v.Want)), Bound: make([]float64, len(v.Want))}
	left, off := make([]float64, columns), make([]float64, columns)
	n := float64(columns)
	for first := 0; first < len(v.Want); first += columns {
		mean, size, meanOff := 0.0, 0.0, 0.0
		for i := range columns {
			mean, size = mean+v.Want[first+i]/n, size+math.Abs(v.Want[first+i])/n
			meanOff += v.Off(first+i) / n
		}
		meanOff += (n + 2) * single * (size + meanOff)
		squares, squaresOff := f.AddedToSquares(), 0.0
		for i := range columns {
			left[i], off[i] = v.Want[first+i]-mean, meanOff+v.Off(first+i)
			off[i] += single * (math.Abs(left[i]) + off[i])
			squares += left[i] * left[i] / n
			squaresOff += (2*math.Abs(left[i])*off[i] + off[i]*off[i]) / n
		}
		scale, relative := 1/math.Sqrt(squares), squaresOff/squares+(n+16)*single
		for i := range columns {
			w, b := weight.Want[i], bias.Want[i]
			want := left[i]*scale*w + b
			wrong := math.Abs(left[i]*scale*w)*relative + off[i]*scale*math.Abs(w)*(1+relative)
			if relative > .5 {
				wrong = (math.Abs(left[i]) + off[i]) * math.Abs(w) / math.Sqrt(f.AddedToSquares()) * 2
			}
			made.Want[first+i] = want
			made.Bound[first+i] = rounding(want, wrong+2*single*(math.Abs(want)+math.Abs(b)+wrong), p.Type)
		}
	}
	return made
}

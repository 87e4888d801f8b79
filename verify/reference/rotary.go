package reference

import (
	"math"

	"ovgen/schedule"
)

// rows is how many a tensor has.
func (p *Problem) rows(name string) int {
	n, _ := p.Extents.Of(p.Tensor(name).Axes[0].Extent) // Check has seen every extent
	return n
}

// turned turns the pairs of columns of each row by the angles that a table has for the row: of a head as
// wide as the table, column j and the one half a head further on. It is exact where the elements and the angles are
// integers; bounded asks for bounds where the tensor has none.
func turned(f schedule.Func, v Values, all map[string]Values, p *Problem, bounded bool) Values {
	table, rows := all[f.In[0]], p.rows(f.In[0])
	made := Values{Want: make([]float64, len(v.Want)), Largest: 2 * v.Largest}
	if bounded = bounded || v.Bound != nil; bounded {
		made.Bound = make([]float64, len(v.Want))
	}
	columns, width := len(v.Want)/rows, len(table.Want)/rows
	half := width / 2
	for i := range v.Want {
		j := i % columns % width
		angle := i/columns*width + j%half
		cosine, sine := table.Want[angle], table.Want[angle+half]
		partner := i + half
		if j >= half {
			partner = i - half
		} else {
			sine = -sine
		}
		x, y := v.Want[i]*cosine, v.Want[partner]*sine
		made.Want[i] = x + y
		if bounded {
			off := v.Off(i)*math.Abs(cosine) + v.Off(partner)*math.Abs(sine)
			made.Bound[i] = rounding(made.Want[i], off+2*single*(math.Abs(x)+math.Abs(y)+off), p.Type)
		}
	}
	return made
}

// turn is of a rotary embedding, and draws its table: an element is a sum of two.
func turn(f schedule.Func, x drawn, d map[string]drawn) drawn {
	d[f.In[0]] = drawn{1, 1}
	return drawn{2 * x.density, x.unit}
}

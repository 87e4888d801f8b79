package attention

import (
	"math"

	"ovgen/generated/rotaryattention"
)

// matrix has rows of columns, one after another.
type matrix struct {
	rows, columns int
	at            []float64
}

func newMatrix(rows, columns int) matrix { return matrix{rows, columns, make([]float64, rows*columns)} }

func (m matrix) row(i int) []float64 { return m.at[i*m.columns:][:m.columns] }

// columnsOf are columns of each row.
func (m matrix) columnsOf(from, count int) matrix {
	made := newMatrix(m.rows, count)
	for i := range m.rows {
		copy(made.row(i), m.row(i)[from:])
	}
	return made
}

// layer is the whole half of a layer: all ranks' rows and weights.
type layer struct {
	rotaryattention.Shape
	a, norm, angles, wq, wk, wv, wo matrix
}

// made is the layer's result in float64.
func (l *layer) made() matrix {
	x := newMatrix(l.M, l.K)
	for i := range l.M {
		squares := 0.0
		for _, v := range l.a.row(i) {
			squares += v * v / float64(l.K)
		}
		for k, v := range l.a.row(i) {
			x.row(i)[k] = v / math.Sqrt(squares+1e-5) * l.norm.at[k]
		}
	}
	query, key, value := times(x, l.wq), times(x, l.wk), times(x, l.wv)
	l.turn(query)
	l.turn(key)
	c := times(l.attention(query, key, value), l.wo)
	for i, v := range l.a.at {
		c.at[i] += v
	}
	return c
}

// times is a bᵀ.
func times(a, b matrix) matrix {
	c := newMatrix(a.rows, b.rows)
	for i := range a.rows {
		for j := range b.rows {
			sum, y := 0.0, b.row(j)
			for k, x := range a.row(i) {
				sum += x * y[k]
			}
			c.row(i)[j] = sum
		}
	}
	return c
}

// turn turns column j of each head and its partner by the row's angle.
func (l *layer) turn(m matrix) {
	half := l.W / 2
	for i := range m.rows {
		for first := 0; first < m.columns; first += l.W {
			head, angle := m.row(i)[first:][:l.W], l.angles.row(i)
			for j := range half {
				x, y := head[j], head[j+half]
				head[j], head[j+half] = x*angle[j]-y*angle[j+half], y*angle[j]+x*angle[j+half]
			}
		}
	}
}

// attention is each row's mean of the values up to it, by the softmax of query times key. Several heads of queries
// share one of keys.
func (l *layer) attention(query, key, value matrix) matrix {
	o := newMatrix(l.M, l.N)
	for head := range l.N / l.W {
		q, shared := head*l.W, head*(l.N2/l.W)/(l.N/l.W)*l.W
		for i := range l.M {
			weights, sum := make([]float64, i+1), 0.0
			for k := range weights {
				score := 0.0
				for c := range l.W {
					score += query.row(i)[q+c] * key.row(k)[shared+c]
				}
				weights[k] = math.Exp(score / math.Sqrt(float64(l.W)))
				sum += weights[k]
			}
			for k, w := range weights {
				for c := range l.W {
					o.row(i)[q+c] += w / sum * value.row(k)[shared+c]
				}
			}
		}
	}
	return o
}

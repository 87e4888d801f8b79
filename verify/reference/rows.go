package reference

import (
	"math"
	"runtime"
	"slices"
	"sync"
)

// inRows divides rows, each with that much work, among all processors: do gets the first row and the row behind the
// last.
func inRows(rows, work int, do func(first, end int)) {
	const least = 1 << 16 // work for which a goroutine pays
	pieces := max(min(runtime.GOMAXPROCS(0), rows, rows*work/least), 1)
	var g sync.WaitGroup
	for i := range pieces {
		g.Go(func() { do(rows*i/pieces, rows*(i+1)/pieces) })
	}
	g.Wait()
}

// weight is the right operand of a product, with the data that all rows need.
type weight struct {
	b          []float64        // [K,N]
	offs       []float64        // the greatest error of each element; nil where all are known
	magnitudes func() []float64 // of b
	largest    float64          // the largest of the magnitudes
	grid       int              // of b
	points     bool
	wild       []bool // the columns in which an element may be infinite or NaN; nil where none is
}

func (p Product) newWeight(b Values) *weight {
	w := &weight{b: b.Want}
	w.grid, w.points = b.grid(0, 1, len(b.Want))
	if !w.points {
		w.offs = make([]float64, len(b.Want))
		for i := range w.offs {
			w.offs[i] = b.off(i)
		}
	}
	if p.Transposed {
		w.b = transpose(b.Want, p.N, p.K)
		if w.offs != nil {
			w.offs = transpose(w.offs, p.N, p.K)
		}
	}
	for _, x := range w.b {
		w.largest = max(w.largest, math.Abs(x))
	}
	w.wild = w.wildColumns(p.N)
	w.magnitudes = sync.OnceValue(func() []float64 { return magnitudes(w.b) })
	return w
}

// wildColumns finds the columns in which an element, or how far it may be off, is no finite number.
func (w *weight) wildColumns(n int) []bool {
	finite := func(x float64) bool { return math.Abs(x) < math.Inf(1) }
	if finite(w.largest) && !slices.ContainsFunc(w.offs, func(x float64) bool { return !finite(x) }) {
		return nil
	}
	wild := make([]bool, n)
	for i, x := range w.b {
		wild[i%n] = wild[i%n] || !finite(x) || w.offs != nil && !finite(w.offs[i])
	}
	return wild
}

func magnitudes(v []float64) []float64 {
	made := make([]float64, len(v))
	for i, x := range v {
		made[i] = math.Abs(x)
	}
	return made
}

// transpose transposes [rows, columns] by blocks that fit into a processor's cache.
func transpose(v []float64, rows, columns int) []float64 {
	const block = 16
	t := make([]float64, len(v))
	for at := 0; at < columns; at += block {
		for i := range rows {
			for j := at; j < min(at+block, columns); j++ {
				t[j*rows+i] = v[i*columns+j]
			}
		}
	}
	return t
}

// multiply adds a row times [K,N] to c, in the order of K. It leaves out zeros, and takes four rows of b at a time.
func multiply(c, a, b []float64) {
	n := len(c)
	var x [4]float64
	var line [4][]float64
	have := 0
	for k, y := range a {
		if y == 0 {
			continue
		}
		x[have], line[have] = y, b[k*n:(k+1)*n]
		if have++; have == len(x) {
			addFour(c, x, line)
			have = 0
		}
	}
	for i := range have {
		for j, y := range line[i] {
			c[j] += x[i] * y
		}
	}
}

func addFour(c []float64, x [4]float64, line [4][]float64) {
	p, q, r, s := line[0][:len(c)], line[1][:len(c)], line[2][:len(c)], line[3][:len(c)]
	w, x1, y, z := x[0], x[1], x[2], x[3]
	for j := range c {
		c[j] = c[j] + w*p[j] + x1*q[j] + y*r[j] + z*s[j]
	}
}

package reference

import (
	"math"
	"math/rand/v2"
	"slices"

	"ovgen/schedule"
	"ovgen/verify/formula"
)

// The numbers that operands are drawn from decide how many results have one right value, and never which values are
// right: intervals say that.

// drawn describes the values of a tensor: all are multiples of 2^grid, or real ones of any kind, whose grid is 0.
// density is the share of its elements that are not zero or, for a result, the variance of its elements divided by
// 2^grid.
type drawn struct {
	density float64
	grid    int
	real    bool
}

// drawing has the distribution of each tensor's values: drawn for inputs, derived for results.
type drawing struct {
	*Problem
	values map[string]drawn
	exact  bool // all sums and functions are the same on all devices
}

const (
	// hiddenVariance is the variance, on their grid, of sums that later operations read: enough that a function leaves
	// about half of them different from zero, little enough that later sums stay exact.
	hiddenVariance = 4
	// leastTerms is the least number of terms of a sum, on average, that are not zero: with fewer a test would see too
	// little.
	leastTerms = 1. / 64
)

// draws draws the operands so that sums are exact, and the functions of sums that go on, where that can be.
//
// A product of K terms with deviations a and b has sums that deviate by a*b*sqrt(K). Sums that later operations read
// have hiddenVariance. Sums that end the chain deviate sigmas times less than the largest value that the type holds
// exactly.
func (p *Problem) draws() *drawing {
	if p.drawn != nil {
		return p.drawn
	}
	d := &drawing{Problem: p, values: map[string]drawn{}, exact: true}
	for _, s := range p.steps {
		if s.Does == Calls {
			d.values[s.C] = d.handed(s)
			continue
		}
		made := d.draw(s)
		for _, name := range s.Terms {
			made = d.join(made, d.values[name])
		}
		for _, name := range []string{s.Bias, s.Added} {
			if name != "" {
				made = d.add(name, made, s)
			}
		}
		d.values[s.C] = d.made(s, made)
	}
	p.drawn = d
	return d
}

// Most is the greatest magnitude up to which all multiples of a result's grid are values of the type.
func (p *Problem) Most(result string) float64 {
	if !p.Chained() {
		return float64(Exact(p.Type))
	}
	return math.Ldexp(float64(Exact(p.Type)), p.draws().values[result].grid)
}

// need notes that results are exact only where a condition holds.
func (d *drawing) need(condition bool) { d.exact = d.exact && condition }

// add is a sum after an operand was added to it; an operand that was not drawn yet is drawn on the sum's grid. The end
// of a chain is rounded once, whatever is added to it; a sum that later operations read has to be exact.
func (d *drawing) add(name string, sum drawn, s Step) drawn {
	other, known := d.values[name]
	switch {
	case !known:
		d.values[name] = drawn{1, sum.grid, false}
		return sum
	case !d.goesOn(s.C) && !s.changed():
		return sum
	}
	return d.join(sum, other)
}

// join is the sum of two sums, which is exact.
func (d *drawing) join(sum, other drawn) drawn {
	grid := min(sum.grid, other.grid)
	on := func(x drawn) float64 { return math.Ldexp(x.density, 2*(x.grid-grid)) }
	sum = drawn{on(sum) + on(other), grid, sum.real || other.real}
	d.fits(sum)
	return sum
}

// fits notes that a sum has to be exact in the type, up to sigmas deviations from zero.
func (d *drawing) fits(sum drawn) { d.need(math.Sqrt(sum.density)*sigmas <= d.most(sum.grid)) }

// handed draws the operands of a call, whose result has elements of each operand.
func (d *drawing) handed(s Step) drawn {
	made := drawn{0, math.MaxInt, false}
	for _, name := range s.In {
		if _, known := d.values[name]; !known {
			d.values[name] = drawn{density: 1}
		}
		of := d.values[name]
		made = drawn{max(made.density, of.density), min(made.grid, of.grid), made.real || of.real}
	}
	return made
}

// draw draws the operands of a step and returns the distribution of its product.
func (d *drawing) draw(s Step) drawn {
	grid := d.gridOf(s)
	a, known := d.values[s.A]
	if s.Does != Multiplies {
		if !known {
			a = drawn{1, grid, false}
			if _, quantised := d.quantised(s.A); quantised {
				a.density = squaresOfRows
			}
			d.values[s.A] = a
		}
		return a
	}
	terms := s.terms()
	if !known {
		a = drawn{density: min(1, math.Sqrt(d.variance(s.C, grid)/terms))}
		d.values[s.A] = a
	}
	b, known := d.values[s.B]
	if !known {
		least := leastBit(d.TypeOf(s.B))
		b = drawn{min(1, d.variance(s.C, grid)/(terms*a.density)), max(grid-a.grid, least), false}
		d.values[s.B] = b
	}
	d.need(terms*b.density >= leastTerms)
	sum := drawn{terms * a.density * b.density, a.grid + b.grid, a.real}
	d.fits(sum)
	return sum
}

// variance is the greatest variance that a sum may have.
func (d *drawing) variance(name string, grid int) float64 {
	if d.goesOn(name) {
		return hiddenVariance
	}
	most := d.most(grid) / sigmas
	return most * most
}

// most is the number of steps of a grid from zero to the largest sum.
func (d *drawing) most(grid int) float64 {
	return min(float64(Exact(d.Type)), math.Ldexp(1, bias(d.Type)-grid))
}

// goesOn reports whether an operation, or a function, reads a sum.
func (d *drawing) goesOn(name string) bool {
	return d.readLater(name) || slices.ContainsFunc(d.steps, func(s Step) bool { return s.C == name && s.changed() })
}

// readLater reports whether another operation reads a result.
func (d *drawing) readLater(name string) bool {
	return slices.ContainsFunc(d.steps, func(s Step) bool {
		takes := func(f schedule.Func) bool { return slices.Contains(f.Reads(), name) }
		return s.A == name || s.B == name || slices.Contains(s.In, name) || slices.ContainsFunc(s.Made, takes)
	})
}

// gridOf is the grid that a step's sums need so that all functions of its result, and of copies of it, are exact: 0
// where there are none, or no grid is enough. Where formulas make a result for the caller alone, sums are of any size,
// since the interval of an element is one value of its type or close to one.
func (d *drawing) gridOf(s Step) int {
	const most = 10
	grid := 0
	for !d.exactOn(s, grid) && (d.readLater(s.C) || !s.changed()) {
		if grid++; grid > most {
			grid = 0
			break
		}
	}
	for _, o := range d.steps {
		if o.A == s.C && o.Does == Copies && !s.changed() && s.Func == "" {
			grid = max(grid, d.gridOf(o))
		}
	}
	return grid
}

// exactOn reports whether a step's functions make integers that are the same on all devices of small multiples of
// 2^grid.
func (d *drawing) exactOn(s Step, grid int) bool {
	var x []formula.Value
	for k := range sampled {
		x = append(x, formula.Point(math.Ldexp(float64((k-sampled/2)%9), grid)))
	}
	return !slices.ContainsFunc(d.sample(s, x), func(v formula.Value) bool {
		return !v.IsPoint() || !v.IsFinite() || formula.LeastBit(v.Lo) < 0
	})
}

// sampled is the number of elements that are tried: whole heads of any usual width.
const sampled = 512

// sample is what a step's functions make of some elements, with operands as they are drawn, or of 1 and -1.
func (d *drawing) sample(s Step, x []formula.Value) []formula.Value {
	made := make([]formula.Value, len(x))
	for i, v := range x {
		made[i] = formula.ByLibrary(s.Func, v)
	}
	functions := d.valued(s)
	if len(functions) == 0 {
		return made
	}
	row := formula.Row{X: made, Param: d.param, Width: d.width, Operand: func(name string, i int) formula.Value {
		return formula.Point(math.Ldexp(float64(1-2*int(Hash(1, int64(i))&1)), d.values[name].grid))
	}}
	rounded := newValues(len(x))
	for i, v := range row.Of(schedule.Nodes(d.trees(functions)...)) {
		rounded.set(i, v, formatOf(d.Type))
		made[i] = rounded.At(i)
	}
	return made
}

// made is the distribution of what a step's functions make of sums that are distributed so. It draws the operands that
// are not drawn yet.
func (d *drawing) made(s Step, x drawn) drawn {
	if s.Func == "" && !s.changed() {
		return x
	}
	for _, f := range s.Made {
		for _, name := range f.Reads() {
			if _, known := d.values[name]; !known {
				d.values[name] = drawn{density: 1}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	elements := make([]formula.Value, sampled)
	for i := range elements {
		e := random.NormFloat64() * math.Sqrt(x.density)
		if !x.real {
			e = math.Round(e)
		}
		elements[i] = formula.Point(math.Ldexp(float64(float32(e)), x.grid))
	}
	grid, squares, exact := math.MaxInt, 0.0, true
	for _, v := range d.sample(s, elements) {
		grid, squares = min(grid, formula.LeastBit(v.Want)), squares+v.Want*v.Want/sampled
		exact = exact && v.IsPoint() && v.IsFinite()
	}
	real := grid < 0
	d.need(exact && !real)
	switch {
	case squares == 0 || math.IsInf(squares, 0) || math.IsNaN(squares):
		return drawn{1, 0, true} // of an unknown size
	case real:
		return drawn{squares, 0, true}
	}
	grid = min(grid, 20)
	return drawn{math.Ldexp(squares, -2*grid), grid, false}
}

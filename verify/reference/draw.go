package reference

import (
	"math"
	"slices"

	"ovgen/schedule"
)

// drawn describes the values of a tensor. density is the share of its elements that are not zero or, for a result, the
// variance of its elements in units; unit is a number that divides all elements.
type drawn struct {
	density float64
	unit    int
}

// drawing has the distribution of each tensor's values: drawn for inputs, derived for results.
type drawing struct {
	*Problem
	values map[string]drawn
	// units: functions get multiples of their units, for which they are exact.
	units bool
	exact bool
	real  bool // a function makes results that are no integers, whatever its operands are
}

const (
	// hiddenVariance is the variance, in their unit, of sums that later operations read: enough that a function leaves
	// about half of them different from zero, little enough that later sums stay exact.
	hiddenVariance = 4
	// leastTerms is the least number of terms of a sum, on average, that are not zero: with fewer a test would see too
	// little.
	leastTerms = 1. / 64
)

// draws draws the operands so that all sums and functions are exact on integers. Where that can't be, for example where
// an operand is read again with another unit, it draws them without units, and results are within bounds.
func (p *Problem) draws() *drawing {
	if p.drawn == nil {
		p.drawn = p.drawOnce()
	}
	return p.drawn
}

func (p *Problem) drawOnce() *drawing {
	d := p.drawAll(true)
	if d.exact || d.real || !p.Chained() {
		d.exact = !d.real
		return d
	}
	d = p.drawAll(false)
	d.exact = false
	return d
}

// Unit divides every sum of integer inputs that is a result, before an earlier result is added to it: that sum is
// rounded once, on a device and here.
func (p *Problem) Unit() int {
	unit := 1
	if p.Chained() {
		for name, d := range p.draws().values {
			if p.Result(name) {
				unit = max(unit, d.unit)
			}
		}
		return unit
	}
	for _, s := range p.steps {
		unit = max(unit, p.unitOfLibrary(s.Func))
	}
	return unit
}

// drawAll draws the operands of a chain. A product of K terms with deviations a and b has sums that deviate by
// a*b*sqrt(K). Sums that later operations read have hiddenVariance. Sums that end the chain deviate sigmas times less
// than the largest value that the type holds exactly.
func (p *Problem) drawAll(units bool) *drawing {
	d := &drawing{Problem: p, values: map[string]drawn{}, units: units, exact: true}
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
		if s.Func != "" || s.changed() {
			d.need(made.unit%d.ownUnit(s) == 0)
		}
		for _, f := range d.valued(s) {
			made = d.made(f, made)
		}
		d.values[s.C] = made
	}
	return d
}

// need notes that results are exact only where a condition holds.
func (d *drawing) need(condition bool) { d.exact = d.exact && condition }

// add is a sum after an operand was added to it; an operand that was not drawn yet is drawn in the sum's unit. The end
// of a chain is rounded once, whatever is added to it; a sum that later operations read has to be exact.
func (d *drawing) add(name string, sum drawn, s Step) drawn {
	other, known := d.values[name]
	switch {
	case !known:
		d.values[name] = drawn{1, sum.unit}
		return sum
	case !d.goesOn(s.C):
		return sum
	}
	return d.join(sum, other)
}

// join is the sum of two sums, which is exact.
func (d *drawing) join(sum, other drawn) drawn {
	unit := min(sum.unit, other.unit) // powers of two: both are multiples of it
	in := func(x drawn) float64 { return x.density * math.Pow(float64(x.unit/unit), 2) }
	sum = drawn{in(sum) + in(other), unit}
	d.fits(sum)
	return sum
}

// fits notes that a sum has to be exact in the type, up to sigmas deviations from zero.
func (d *drawing) fits(sum drawn) {
	d.need(math.Sqrt(sum.density)*sigmas <= d.most(sum.unit))
}

// handed draws the operands of a call, whose result has elements of each operand.
func (d *drawing) handed(s Step) drawn {
	made := drawn{}
	for _, name := range s.In {
		if _, known := d.values[name]; !known {
			d.values[name] = drawn{1, 1}
		}
		made.density = max(made.density, d.values[name].density)
		if made.unit == 0 || d.values[name].unit < made.unit {
			made.unit = d.values[name].unit // powers of two: multiples of a larger one are multiples of it
		}
	}
	return made
}

// draw draws the operands of a step and returns the distribution of its product.
func (d *drawing) draw(s Step) drawn {
	unit := d.unitOf(s)
	a, known := d.values[s.A]
	if s.Does != Multiplies {
		if !known {
			d.values[s.A] = drawn{1, unit}
		}
		if _, quantised := d.quantised(s.A); quantised && !known {
			d.values[s.A] = drawn{squaresOfRows, unit}
		}
		return d.values[s.A]
	}
	terms := s.terms()
	if !known {
		a = drawn{min(1, math.Sqrt(d.variance(s.C, unit)/terms)), 1}
		d.values[s.A] = a
	}
	b, known := d.values[s.B]
	if !known {
		b = drawn{min(1, d.variance(s.C, unit*a.unit)/(terms*a.density)), unit}
		d.values[s.B] = b
	}
	d.need(terms*b.density >= leastTerms)
	sum := drawn{terms * a.density * b.density, a.unit * b.unit}
	d.fits(sum)
	if s.Func != "" {
		sum.density /= 2
	}
	return sum
}

// ownUnit is the unit for which the functions of a step are exact.
func (d *drawing) ownUnit(s Step) int {
	unit := 1
	if !d.units {
		return unit
	}
	unit = max(unit, d.unitOfLibrary(s.Func))
	for _, f := range d.valued(s) {
		u, whole := d.unitOfFunc(f)
		unit, d.real = max(unit, u), d.real || !whole
	}
	return unit
}

// unitOf returns the number that must divide the sums of a step, so that all functions of the step's result, and of
// copies of it, are exact.
func (d *drawing) unitOf(s Step) int {
	unit := d.ownUnit(s)
	for _, o := range d.steps {
		if o.A == s.C && o.Does == Copies && !s.changed() && s.Func == "" {
			unit = max(unit, d.unitOf(o))
		}
	}
	return unit
}

// variance is the greatest variance that a sum may have.
func (d *drawing) variance(name string, unit int) float64 {
	if d.goesOn(name) {
		return hiddenVariance
	}
	most := d.most(unit) / sigmas
	return most * most
}

// most is the number of units that a sum may reach.
func (d *drawing) most(unit int) float64 {
	return min(float64(Exact(d.Type)), math.Ldexp(1, bias(d.Type))/float64(unit))
}

// goesOn reports whether an operation, or a function, reads a sum.
func (d *drawing) goesOn(name string) bool {
	return slices.ContainsFunc(d.steps, func(s Step) bool {
		takes := func(f schedule.Func) bool { return slices.Contains(f.Reads(), name) }
		return s.A == name || slices.Contains(s.In, name) || slices.ContainsFunc(s.Made, takes) ||
			s.C == name && s.changed()
	})
}

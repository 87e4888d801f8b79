package reference

import (
	"math"
	"slices"

	"ovgen/schedule"
	"ovgen/verify/functions"
)

// function is a function that a kernel of its own applies.
type function struct {
	// of is what it makes of x, with bounds where bounded asks for them.
	of func(f schedule.Func, x Values, v map[string]Values, p *Problem, bounded bool) Values
	// leaves is the distribution of what it makes of x. It draws the operands that nobody has drawn.
	leaves  func(f schedule.Func, x drawn, d map[string]drawn) drawn
	inexact bool // of integers too: there are always bounds
}

// ofRows are the functions of more than one element of a tensor.
var ofRows = map[schedule.FuncKind]function{
	schedule.ApplyRMSNorm:   {normed, norm, true},
	schedule.ApplyLayerNorm: {normedAboutMean, norm, true},
	schedule.ApplyRotary:    {turned, turn, false},
	schedule.ApplyFromFP32:  {narrowed, as, false},
}

// functionOf is a function of rows, or one of each element, of which there may be a second tensor.
func functionOf(f schedule.Func) (x function, known bool) {
	if x, known = ofRows[f.Do]; known {
		return x, true
	}
	x = function{of: gated, leaves: half}
	if len(f.In) > 0 {
		x.leaves = gate
	}
	return x, elementwise(f.Do).Kernel != nil
}

// ofKernel reports whether a kernel of its own applies a function of an operation: no product does.
func ofKernel(o schedule.Op, f schedule.Func) bool {
	_, known := functionOf(f)
	return known && (len(o.In) == 1 || !ofProduct(f.Do))
}

// ofProduct reports whether products apply a function.
func ofProduct(do schedule.FuncKind) bool { return elementwise(do).Product != nil }

// elementwise is a function of each element; of no function, it is zero.
func elementwise(do schedule.FuncKind) functions.Function {
	f, _ := functions.Find(string(do))
	return f
}

// apply is a step's result after the functions that no product applies.
func (s Step) apply(x Values, v map[string]Values, p *Problem, bounded bool) Values {
	for _, f := range s.Then {
		known, _ := functionOf(f)
		x = known.of(f, x, v, p, bounded)
	}
	return x
}

// Chained reports whether operations read what others make, or apply functions that no product applies.
func (p *Problem) Chained() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return len(s.Then) > 0 || p.Result(s.A) })
}

// Exact reports whether results are exact on integer inputs; else they are within bounds.
func (p *Problem) Exact() bool {
	return !slices.ContainsFunc(p.steps, func(s Step) bool {
		return slices.ContainsFunc(s.Then, func(f schedule.Func) bool { return ofRows[f.Do].inexact })
	})
}

// HostOnly reports whether operations apply functions, or call some, that only the host makes apart from a program.
func HostOnly(operations []schedule.Op) bool {
	return slices.ContainsFunc(operations, func(o schedule.Op) bool {
		return o.Call != "" ||
			slices.ContainsFunc(o.Then, func(f schedule.Func) bool { return f.Cast() || ofKernel(o, f) })
	})
}

// drawn describes the values of a tensor: the share of its elements that are not zero or, of a result, the variance of
// its elements; and the number of which they are multiples.
type drawn struct {
	density float64
	unit    int
}

// hiddenVariance of sums that go on, in their unit: enough that about half of what a function leaves of them differs
// from zero, little enough that later sums stay exact.
const hiddenVariance = 4

// Unit divides every sum of integer inputs that is a result, before an earlier result is added to it: that sum is
// rounded once, on a device and here.
func (p *Problem) Unit() int {
	unit := 1
	if p.Chained() {
		for name, d := range p.drawn() {
			if p.Result(name) {
				unit = max(unit, d.unit)
			}
		}
		return unit
	}
	for _, s := range p.steps {
		unit = max(unit, elementwise(s.Func).Unit)
	}
	return unit
}

// drawn draws the operands of a chain so that its sums are exact in the type: of a product of K terms with deviations a
// and b the sum deviates by a*b*sqrt(K). Sums that go on have hiddenVariance; those that end the chain deviate sigmas
// times less than what the type holds.
func (p *Problem) drawn() map[string]drawn {
	d := map[string]drawn{}
	for _, s := range p.steps {
		if s.Does == Calls {
			d[s.C] = handed(s, d)
			continue
		}
		d[s.C] = p.draw(s, d)
		for _, name := range []string{s.Bias, s.Added} {
			if _, known := d[name]; !known && name != "" {
				d[name] = drawn{1, d[s.C].unit}
			}
		}
		for _, f := range s.Then {
			known, _ := functionOf(f)
			d[s.C] = known.leaves(f, d[s.C], d)
		}
	}
	return d
}

// handed draws the operands of a call, whose result has elements of each.
func handed(s Step, d map[string]drawn) drawn {
	made := drawn{}
	for _, name := range s.In {
		if _, known := d[name]; !known {
			d[name] = drawn{1, 1}
		}
		made.density = max(made.density, d[name].density)
		if made.unit == 0 || d[name].unit < made.unit {
			made.unit = d[name].unit // powers of two: multiples of any larger one
		}
	}
	return made
}

// draw draws the operands of a step and returns the distribution of its product.
func (p *Problem) draw(s Step, d map[string]drawn) drawn {
	unit := p.unitOf(s)
	if s.Does != Multiplies {
		if _, known := d[s.A]; !known {
			d[s.A] = drawn{1, unit}
		}
		return d[s.A]
	}
	a, known := d[s.A]
	if !known {
		a = drawn{min(1, math.Sqrt(p.variance(s.C, unit)/float64(s.K))), 1}
		d[s.A] = a
	}
	variance := p.variance(s.C, unit*a.unit)
	if _, drawnBefore := d[s.B]; !drawnBefore {
		d[s.B] = drawn{min(1, variance/(float64(s.K)*a.density)), unit}
	}
	sum := drawn{float64(s.K) * a.density * d[s.B].density, unit * a.unit}
	if s.Func != "" {
		sum.density /= 2
	}
	return sum
}

// unitOf is the unit that the functions of what a step makes are exact on, its own and those of copies of it.
func (p *Problem) unitOf(s Step) int {
	unit := max(elementwise(s.Func).Unit, 1)
	for _, f := range s.Then {
		unit = max(unit, elementwise(f.Do).Unit)
	}
	for _, o := range p.steps {
		if o.A == s.C && o.Does == Copies && len(s.Then) == 0 && s.Func == "" {
			unit = max(unit, p.unitOf(o))
		}
	}
	return unit
}

// variance is the most that a sum may have.
func (p *Problem) variance(name string, unit int) float64 {
	goesOn := slices.ContainsFunc(p.steps, func(s Step) bool {
		takes := func(f schedule.Func) bool { return slices.Contains(f.In, name) }
		return s.A == name || slices.Contains(s.In, name) || slices.ContainsFunc(s.Then, takes) ||
			s.C == name && len(s.Then) > 0
	})
	if goesOn {
		return hiddenVariance
	}
	most := min(float64(Exact(p.Type)), math.Ldexp(1, bias(p.Type))/float64(unit)) / sigmas
	return most * most
}

// half is of a function that takes half of the elements to zero.
func half(_ schedule.Func, x drawn, _ map[string]drawn) drawn { return drawn{x.density / 2, x.unit} }

// gate is of a function with a second tensor. Products of two deviate further at times: taken for twice the deviation.
func gate(f schedule.Func, x drawn, d map[string]drawn) drawn {
	up := d[f.In[0]]
	return drawn{4 * x.density / 2 * up.density, x.unit * up.unit}
}

// norm is of a function of rows, and draws its operands.
func norm(f schedule.Func, _ drawn, d map[string]drawn) drawn {
	for _, name := range f.In {
		if _, known := d[name]; !known {
			d[name] = drawn{1, 1}
		}
	}
	return drawn{1, 1}
}

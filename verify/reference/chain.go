package reference

import (
	"math"
	"slices"

	"ovgen/schedule"
)

// ofKernel reports whether no product applies a function of an operation.
func ofKernel(o schedule.Op, f schedule.Func) bool {
	switch f.Do {
	case schedule.ApplySiLU, schedule.ApplySwiGLU, schedule.ApplyRMSNorm, schedule.ApplyLayerNorm,
		schedule.ApplyRotary:
		return true
	}
	return len(o.In) == 1 && f.Elementwise()
}

// apply is a step's result after the functions that no product applies.
func (s Step) apply(x Values, v map[string]Values, p *Problem, bounded bool) Values {
	for _, f := range s.Then {
		switch f.Do {
		case schedule.ApplySiLU, schedule.ApplyGELU, schedule.ApplyReLU:
			x = x.gated(f.Do, nil, p.Type, bounded)
		case schedule.ApplySwiGLU:
			up := v[f.In[0]]
			x = x.gated(f.Do, &up, p.Type, bounded)
		case schedule.ApplyRotary:
			x = x.turned(v[f.In[0]], p.rows(f.In[0]), p.Type, bounded)
		case schedule.ApplyRMSNorm:
			x = x.normed(v[f.In[0]], p.Elements(f.In[0]), p.Type)
		case schedule.ApplyLayerNorm:
			x = x.normedAboutMean(v[f.In[0]], v[f.In[1]], p.Elements(f.In[0]), p.Type)
		}
	}
	return x
}

// Chained reports whether operations read what others make, or apply functions that no product applies.
func (p *Problem) Chained() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return len(s.Then) > 0 || p.Result(s.A) })
}

// Exact reports whether results are exact on integer inputs; else they are within bounds.
func (p *Problem) Exact() bool {
	return !p.applies(schedule.ApplyRMSNorm) && !p.applies(schedule.ApplyLayerNorm)
}

// HostOnly reports whether operations apply functions, or call some, that only the host makes apart from a program.
func HostOnly(operations []schedule.Op) bool {
	return slices.ContainsFunc(operations, func(o schedule.Op) bool {
		return o.Call != "" || slices.ContainsFunc(o.Then, func(f schedule.Func) bool { return ofKernel(o, f) })
	})
}

func (p *Problem) applies(do schedule.FuncKind) bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool {
		return slices.ContainsFunc(s.Then, func(f schedule.Func) bool { return f.Do == do })
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
		unit = max(unit, functions[s.Func].unit)
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
			d[s.C] = leaves[f.Do](f, d[s.C], d)
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
	if f := functions[s.Func]; f.of != nil {
		sum.density /= 2
	}
	return sum
}

// unitOf is the unit that the functions of what a step makes are exact on, its own and those of copies of it.
func (p *Problem) unitOf(s Step) int {
	unit := max(functions[s.Func].unit, 1)
	for _, f := range s.Then {
		unit = max(unit, gates[f.Do].unit)
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

// leaves has the distribution of each function's result.
var leaves = map[schedule.FuncKind]func(f schedule.Func, x drawn, d map[string]drawn) drawn{
	schedule.ApplySiLU:      half,
	schedule.ApplyGELU:      half,
	schedule.ApplyReLU:      half,
	schedule.ApplySwiGLU:    gate,
	schedule.ApplyRotary:    turn,
	schedule.ApplyRMSNorm:   norm,
	schedule.ApplyLayerNorm: norm,
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

package reference

import (
	"slices"

	"ovgen/schedule"
	"ovgen/verify/functions"
)

// function is a function that no product applies: a kernel does nothing else.
type function struct {
	// of computes the function of x, with bounds where bounded asks for them.
	of func(f schedule.Func, x Values, v map[string]Values, p *Problem, bounded bool) Values
	// leaves is the distribution of the function's results. It draws the operands that nobody has drawn.
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

// functionOf returns a function of rows or a function of each element; the latter may have a second tensor.
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

// ofKernel reports whether a separate kernel applies a function of an operation: no product does.
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

// Chained reports whether an operation reads an earlier result, or applies a function that no product applies.
func (p *Problem) Chained() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return len(s.Then) > 0 || p.Result(s.A) })
}

// Exact reports whether results are exact on integer inputs; else they are within bounds.
func (p *Problem) Exact() bool { return p.draws().exact }

// HostOnly reports whether only the host makes the results apart from a program: operations apply functions, or call
// some, that no plain product has, or results are within bounds alone.
func (p *Problem) HostOnly() bool {
	return !p.Exact() || slices.ContainsFunc(p.Ops, func(o schedule.Op) bool {
		return o.Call != "" ||
			slices.ContainsFunc(o.Then, func(f schedule.Func) bool { return f.Cast() || ofKernel(o, f) })
	})
}

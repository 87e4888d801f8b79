package reference

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/formula"
)

// TypeOf is the type of a tensor's elements: fp32 where the tensor says so, or the problem's type.
func (p *Problem) TypeOf(name string) driver.Type {
	if p.Tensor(name).Type == schedule.FP32 {
		return driver.FP32
	}
	return p.Type
}

// apply is a step's result after the functions that no product applies, each rounded once.
func (s Step) apply(x Values, v map[string]Values, p *Problem) Values {
	for _, f := range s.Then {
		x = p.function(s.C, true, x, v, p.schedule().Tree(f))
	}
	if len(s.Made) == 0 {
		return x
	}
	var trees []schedule.Expr
	for _, f := range s.Made {
		trees = append(trees, p.schedule().Tree(f))
	}
	return p.function(s.C, false, x, v, trees...)
}

// function is what formulas make of a result, row by row; contracted says that its kernel's products may go into sums
// unrounded.
func (p *Problem) function(result string, contracted bool, x Values, v map[string]Values,
	trees ...schedule.Expr) Values {
	sizes := p.sized().Sizes(result)
	columns := sizes[len(sizes)-1]
	nodes, made := schedule.Nodes(trees...), newValues(len(x.Want))
	row := formula.Row{X: make([]formula.Value, columns), Param: param, Width: p.width, Contracted: contracted}
	lies := map[string]schedule.Lies{}
	for _, o := range schedule.Operands(nodes) {
		lies[o.Tensor] = o.Lies
	}
	for i := range len(x.Want) / max(columns, 1) {
		for j := range row.X {
			row.X[j] = x.At(i*columns + j)
		}
		row.Operand = func(name string, at int) formula.Value {
			return v[name].At(p.firstOf(name, lies[name], i, columns) + at)
		}
		for j, y := range row.Of(nodes) {
			made.set(i*columns+j, y, p.TypeOf(result))
		}
	}
	return made
}

// firstOf is the first element of an operand's part for a row.
func (p *Problem) firstOf(name string, lies schedule.Lies, row, columns int) int {
	switch lies {
	case schedule.InPlace:
		return row * columns
	case schedule.ByRow:
		return row
	case schedule.OfTable:
		sizes := p.sized().Sizes(name)
		return row % sizes[0] * sizes[1] // batches share a table
	}
	return 0
}

func (p *Problem) width(e schedule.Extent) int {
	n, _ := p.Extents.Of(e) // Check has seen every extent
	return n
}

// param is a number of the Shape.
func param(string) float64 { return schedule.DefaultEpsilon }

// ofKernel reports whether a separate kernel applies a function of an operation: no product and no sum does.
func ofKernel(o schedule.Op, f schedule.Func) bool {
	return f.Do == "" || f.ByKernel() && !(len(o.In) == 2 && f.ByProduct())
}

// changed reports whether kernels of their own apply functions to a step's result.
func (s Step) changed() bool { return len(s.Then)+len(s.Made) > 0 }

// Chained reports whether an operation reads an earlier result, or applies a function that no product applies.
func (p *Problem) Chained() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.changed() || p.Result(s.A) })
}

// HostOnly reports whether only the host makes the results apart from a program: operations apply functions, or call
// some, that no plain product has, or integers are drawn of which products are not exact.
func (p *Problem) HostOnly() bool {
	return !p.draws().exact || slices.ContainsFunc(p.Ops, func(o schedule.Op) bool {
		return o.Call != "" || p.schedule().MadeFrom(o) < len(o.Then) ||
			slices.ContainsFunc(o.Then, func(f schedule.Func) bool { return f.Cast() || ofKernel(o, f) })
	})
}

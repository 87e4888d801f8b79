package reference

import (
	"cmp"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/formula"
	"ovgen/verify/reading"
)

// TypeOf is the type of a tensor's elements: the tensor's type, or the problem's.
func (p *Problem) TypeOf(name string) driver.Type {
	if own, is := driver.ParseType(string(p.Tensor(name).Type)); is {
		return own
	}
	return p.Type
}

// apply is a step's result after the functions that formulas apply: those of a sum together, rounded once, and those
// behind together, rounded once.
func (s Step) apply(x Values, v map[string]Values, p *Problem) Values {
	own := s.Made
	if s.Finish > 0 {
		own = s.Made[s.Finish:]
		typ := p.Type
		if len(own) == 0 {
			typ = p.TypeOf(s.C)
		}
		x = p.function(s.C, x, v, p.trees(s.Made[:s.Finish]), typ)
	}
	if len(own) == 0 {
		if scale := p.Tensor(s.C).Scale; scale != "" {
			v[scale] = v[p.Tensor(s.A).Scale] // eight bits are copied with their scales
		}
		return x
	}
	trees := p.trees(own)
	if scale := p.Tensor(s.C).Scale; scale != "" {
		divisor, _ := schedule.Divisor(trees) // Validate has seen that it divides
		columns, _ := p.columns(s.C)
		made := p.function(s.C, x, v, divisor, p.TypeOf(scale))
		if width := schedule.DividesHeads(trees); width != "" {
			v[scale] = made.blocks(columns, p.width(width))
		} else {
			v[scale] = made.column(columns)
		}
	}
	return p.function(s.C, x, v, trees, p.TypeOf(s.C))
}

func (p *Problem) trees(list []schedule.Func) (trees []schedule.Expr) {
	for _, f := range list {
		trees = append(trees, p.schedule().Tree(f))
	}
	return trees
}

// columns is the number of columns of a row of a result. parts is the number of these rows in one row of all ranks:
// where each rank's part of a row has a scale, such a part is a row. Where the result or its operand has scales of
// blocks, a block is a row.
func (p *Problem) columns(result string) (columns, parts int) {
	if o, made := p.schedule().Maker(result); made && p.schedule().Block(o) > 0 {
		return int(p.schedule().Block(o)), 1
	}
	sizes := p.sized().Sizes(result)
	columns, parts = sizes[len(sizes)-1], 1
	if p.schedule().InParts(result) {
		parts = p.Extents[schedule.D]
	}
	return columns / parts, parts
}

// function applies formulas to a result, row by row, and rounds to a type.
func (p *Problem) function(result string, x Values, v map[string]Values, trees []schedule.Expr,
	typ driver.Type) Values {
	columns, parts := p.columns(result)
	rows := len(x.Want) / max(columns, 1)
	nodes, made, f := schedule.Nodes(trees...), newValues(len(x.Want)), formatOf(typ)
	of := map[string]operand{}
	for _, o := range schedule.Operands(nodes) {
		of[o.Tensor] = p.operand(o, v[o.Tensor], rows, columns, parts)
	}
	inRows(rows, columns*len(nodes), func(first, end int) {
		row := formula.Row{X: make([]formula.Value, columns), Param: p.param, Width: p.width}
		for i := first; i < end; i++ {
			for j := range row.X {
				row.X[j] = x.At(i*columns + j)
			}
			row.Operand = func(name string, at int) formula.Value { return of[name].at(i, at) }
			for j, y := range row.Of(nodes) {
				made.set(i*columns+j, y, f)
			}
		}
	})
	return made
}

// operand is a tensor that a function reads: stride elements for each rows of the result. After rows such groups it
// begins again.
type operand struct {
	Values
	stride, each, rows int
}

// at is an element of an operand's part for a row.
func (o operand) at(row, i int) formula.Value { return o.At(row/o.each%o.rows*o.stride + i) }

// operand is the layout of an operand beside a result. Where parts is above 1, each rank makes a part of a row, and
// parts rows of the result are one row of all ranks.
func (p *Problem) operand(o schedule.Operand, v Values, rows, columns, parts int) operand {
	switch o.Lies {
	case schedule.InPlace:
		return operand{v, columns, 1, rows}
	case schedule.ByRow:
		return operand{v, 1, parts, rows}
	case schedule.OfTable: // all batches share one table
		sizes := p.sized().Sizes(o.Tensor)
		return operand{v, sizes[1], parts, sizes[0]}
	case schedule.ByColumn:
		return operand{v, columns, 1, parts}
	}
	return operand{v, 0, 1, rows}
}

func (p *Problem) width(e schedule.Extent) int {
	n, _ := p.Extents.Of(e) // Check has seen every extent
	return n
}

// param is a number of the Shape.
func (p *Problem) param(name string) float64 {
	if name != schedule.Epsilon {
		return reading.Number(name)
	}
	return cmp.Or(p.Epsilon, schedule.DefaultEpsilon)
}

// changed reports whether formulas are applied to a step's result.
func (s Step) changed() bool { return len(s.Made) > 0 }

// Chained reports whether an operation reads an earlier result, or applies a function that no product can apply.
func (p *Problem) Chained() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.changed() || p.Result(s.A) })
}

// HostOnly reports whether only the host can make the results without the program: operations apply functions, or make
// calls, that no plain product has; or only a weight has eight bits; or scales are of ranks' parts of rows; or the
// integers are drawn so that products are not exact.
func (p *Problem) HostOnly() bool {
	if !p.draws().exact || slices.ContainsFunc(p.steps, func(s Step) bool { return s.Narrow || s.Finish > 0 }) {
		return true
	}
	return slices.ContainsFunc(p.Ops, func(o schedule.Op) bool {
		return p.schedule().InParts(o.In[0]) || o.Call != "" || len(p.schedule().Own(o)) > 0 ||
			len(o.In) == 1 && len(o.Then) > 0 || len(p.schedule().Terms(o)) > 0 || p.schedule().InFP32(o)
	})
}

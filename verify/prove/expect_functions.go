package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// ofProduct is how many of the functions belong to the product: a bias, and then one that the library of products
// applies to each element.
func ofProduct(op schedule.Op) int {
	n := 0
	if n < len(op.Then) && op.Then[n].Do == schedule.AddBias {
		n++
	}
	if n < len(op.Then) && op.Then[n].ByProduct() && op.Then[n].Elementwise() {
		n++
	}
	return n
}

// functions applies functions to a chunk, one after the other: to its elements with the elements of tensors, or to its
// rows.
func (x *expectation) functions(op schedule.Op, list []schedule.Func, made expr, out []rune, rank int,
	bound map[rune]interval) (expr, error) {
	if from := x.madeFrom(op); from < len(op.Then) {
		if len(list) != len(op.Then)-from {
			return stale, fmt.Errorf("no rule for what leaves the product of %s", op)
		}
		return x.formulas(op, list, made, out, rank, bound)
	}
	for _, f := range list {
		if !f.ByKernel() || f.ByProduct() && len(op.In) > 1 || f.Norm() && !x.wholeRows(f, bound[out[len(out)-1]]) {
			return stale, fmt.Errorf("no rule for %s of %s", f, op)
		}
		name, args := withEpsilon(string(f.Do), f.AddedToSquares()), []expr{made}
		for i := range f.In {
			if f.Do == schedule.ApplyRotary {
				table, err := x.turning(f.In[i], rank, bound[out[0]])
				if err != nil {
					return stale, err
				}
				name, args = ofHeads(name, table.width), append(args, table.expr)
				continue
			}
			arg, err := x.beside(f, i, out, rank, bound)
			if err != nil {
				return stale, err
			}
			args = append(args, arg)
		}
		made = x.applied(name, args)
	}
	return made, nil
}

// ofHeads is the name of a function of heads so wide; 0: it knows none.
func ofHeads(function string, width int64) string {
	if width == 0 {
		return function
	}
	return fmt.Sprintf("%s of heads of %d", function, width)
}

// withEpsilon is the name of a norm that adds a number to the mean of squares; 0: of another function.
func withEpsilon(function string, epsilon float64) string {
	if epsilon == 0 {
		return function
	}
	return fmt.Sprintf("%s with epsilon %g", function, epsilon)
}

// wholeRows reports whether columns are all that the row has which a norm takes.
func (x *expectation) wholeRows(f schedule.Func, columns interval) bool {
	if !f.Row(0) || len(f.In) == 0 {
		return false
	}
	p, declared := x.tensors[f.In[0]]
	if !declared || len(p.Axes) != 1 {
		return false
	}
	width, err := p.extent(p.Axes[0].Extent)
	return err == nil && columns == interval{0, width}
}

// beside is operand i of a function of a chunk: a row for all of its rows, or a tensor's chunk of the same rows.
func (x *expectation) beside(f schedule.Func, i int, out []rune, rank int, bound map[rune]interval) (expr, error) {
	if !f.Row(i) {
		part, err := x.boxOf(out, bound)
		if err != nil {
			return stale, err
		}
		return x.chunk(f.In[i], rank, part)
	}
	row, err := x.operand(f.In[i], rank, box{bound[out[len(out)-1]]})
	if err == nil && severalRows(out, bound) {
		row = x.row(row)
	}
	return row, err
}

// severalRows reports whether a result has more than one row there.
func severalRows(out []rune, bound map[rune]interval) bool {
	return slices.ContainsFunc(out[:len(out)-1], func(l rune) bool { return bound[l].len() > 1 })
}

// table is some rows of a rotary embedding's angles.
type table struct {
	expr
	width int64
}

// turning are all columns of some rows of a table.
func (x *expectation) turning(name string, rank int, rows interval) (table, error) {
	p, declared := x.tensors[name]
	if !declared || len(p.Axes) != 2 {
		return table{}, fmt.Errorf("no table %s of rows and columns is declared", name)
	}
	width, err := p.extent(p.Axes[1].Extent)
	if err != nil {
		return table{}, err
	}
	e, err := x.chunk(name, rank, box{rows, interval{0, width}})
	return table{e, width}, err
}

// behind are the terms that the functions add to a sum of partial results: tensors, and then rows.
func (x *expectation) behind(op schedule.Op, out []rune, rank int, bound map[rune]interval) (list []expr, err error) {
	var rows []expr
	for i, f := range op.Then[:x.madeFrom(op)] {
		if f.Do == schedule.ApplyToFP32 && i == len(op.Then)-1 {
			continue // of the sum
		}
		if len(f.In) != 1 || f.Do != schedule.AddBias && f.Do != schedule.AddTensor {
			return nil, fmt.Errorf("no rule for %s behind a sum", f)
		}
		axes := out
		if f.Do == schedule.AddBias {
			axes = out[len(out)-1:]
		}
		part, err := x.boxOf(axes, bound)
		if err != nil {
			return nil, err
		}
		if f.Do == schedule.AddTensor {
			added, err := x.chunk(f.In[0], rank, part)
			if err != nil {
				return nil, err
			}
			list = append(list, added)
			continue
		}
		added, err := x.operand(f.In[0], rank, part)
		if err != nil {
			return nil, err
		}
		if severalRows(out, bound) {
			added = x.row(added)
		}
		rows = append(rows, added)
	}
	return append(list, rows...), nil
}

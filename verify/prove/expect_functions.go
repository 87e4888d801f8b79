package prove

import (
	"fmt"

	"ovgen/schedule"
)

// ofProduct is how many of the functions belong to the product: a bias, and then one that the library of products
// applies to each element.
func ofProduct(op schedule.Op) int {
	n := 0
	if n < len(op.Then) && op.Then[n].Do == schedule.AddBias {
		n++
	}
	if n < len(op.Then) && (op.Then[n].Do == schedule.ApplyGELU || op.Then[n].Do == schedule.ApplyReLU) {
		n++
	}
	return n
}

// functions applies functions to a chunk, one after the other: to its elements and those of tensors, or to its
// rows.
func (x *expectation) functions(op schedule.Op, list []schedule.Func, made expr, out []rune, rank int,
	bound map[rune]interval) (expr, error) {
	for _, f := range list {
		args := []expr{made}
		switch f.Do {
		case schedule.ApplySiLU:
		case schedule.ApplyGELU, schedule.ApplyReLU:
			if len(op.In) > 1 {
				return stale, fmt.Errorf("no rule for %s of %s", f, op)
			}
		case schedule.ApplySwiGLU:
			part, err := x.boxOf(out, bound)
			if err != nil {
				return stale, err
			}
			up, err := x.chunk(f.In[0], rank, part)
			if err != nil {
				return stale, err
			}
			args = append(args, up)
		case schedule.ApplyRotary:
			table, err := x.turning(f.In[0], rank, bound[out[0]])
			if err != nil {
				return stale, err
			}
			made = x.applied(ofHeads(string(f.Do), table.width), append(args, table.expr))
			continue
		case schedule.ApplyRMSNorm, schedule.ApplyLayerNorm:
			for _, name := range f.In {
				row, err := x.operand(name, rank, box{bound[out[len(out)-1]]})
				if err != nil {
					return stale, err
				}
				if bound[out[0]].len() > 1 {
					row = x.row(row)
				}
				args = append(args, row)
			}
		default:
			return stale, fmt.Errorf("no rule for %s of %s", f, op)
		}
		made = x.applied(string(f.Do), args)
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
	for _, f := range op.Then {
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
		if bound[out[0]].len() > 1 {
			added = x.row(added)
		}
		rows = append(rows, added)
	}
	return append(list, rows...), nil
}

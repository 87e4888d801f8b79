package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// severalRows reports whether a result has more than one row within the bounds.
func severalRows(out []rune, bound map[rune]interval) bool {
	return slices.ContainsFunc(out[:len(out)-1], func(l rune) bool { return bound[l].len() > 1 })
}

// behind lists the terms that an operation's functions add to a sum of partial results: tensors first, and then rows.
func (x *expectation) behind(op schedule.Op, out []rune, rank int, bound map[rune]interval) (list []expr, err error) {
	var rows []expr
	for _, f := range x.functions(op).with {
		if f.Joins {
			continue // ahead of the sum
		}
		axes, tensor, row := out, f.Adds(), f.AddsRow()
		switch {
		case row != "":
			axes = out[len(out)-1:]
		case tensor == "":
			return nil, fmt.Errorf("no rule for %s behind a sum", f)
		}
		part, err := x.boxOf(axes, bound)
		if err != nil {
			return nil, err
		}
		if tensor != "" {
			added, err := x.chunk(tensor, rank, part)
			if err != nil {
				return nil, err
			}
			list = append(list, added)
			continue
		}
		added, err := x.operand(row, rank, part)
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

// functions are the functions of an operation, read once, since each chunk asks for them.
type functions struct {
	with  []schedule.Func // the kernel of the result applies them
	own   []schedule.Func // a kernel of their own applies them
	nodes []schedule.Node // of the functions in own, together
	key   string          // of the nodes
}

func (x *expectation) functions(op schedule.Op) *functions {
	f, known := x.then[op.Out]
	if !known {
		from := x.Schedule.MadeFrom(op)
		f = &functions{with: op.Then[:from], own: op.Then[from:]}
		var trees []schedule.Expr
		for _, own := range f.own {
			trees = append(trees, x.Schedule.Tree(own))
		}
		f.nodes = schedule.Nodes(trees...)
		f.key = schedule.Key(f.nodes)
		x.then[op.Out] = f
	}
	return f
}

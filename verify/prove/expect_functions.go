package prove

import (
	"ovgen/schedule"
)

// summed is the sum of an operation's partial results and of the tensors that functions add to it, with the local
// functions behind, rounded once.
func (x *expectation) summed(op schedule.Op, list []expr, out []rune, rank int, bound map[rune]interval) (expr, error) {
	added, behind := x.Schedule.Summed(op)
	for _, tensor := range added {
		part, err := x.boxOf(out, bound)
		if err != nil {
			return stale, err
		}
		term, err := x.chunk(tensor, rank, part)
		if err != nil {
			return stale, err
		}
		list = append(list, term)
	}
	sum := x.sum(list)
	if !x.Schedule.Partial(op) && len(list) == 2 && len(added) == 1 { // the product adds to it
		sum = x.add(list[1], list[0])
	}
	var trees []schedule.Expr
	for _, f := range behind {
		trees = append(trees, x.Schedule.Tree(f))
	}
	nodes, columns := schedule.Nodes(trees...), int64(0)
	var args []expr
	var elements []int64
	for _, operand := range schedule.Operands(nodes) {
		arg, err := x.besideFormula(operand, out, rank, bound)
		if err != nil {
			return stale, err
		}
		if operand.Lies != schedule.InPlace {
			columns = bound[out[len(out)-1]].len()
		}
		args, elements = append(args, arg), append(elements, x.element(operand.Tensor))
	}
	elements = append(elements, x.element(op.Out))
	if len(x.functions(op).own) > 0 { // which read it rounded
		elements[len(elements)-1] = x.ElementBits
	}
	return x.unrounded(schedule.Key(nodes), columns, elements, sum, args...), nil
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

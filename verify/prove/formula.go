package prove

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// A formula is an unknown function: of two that have one key, of rows that are as long, of heads that are as wide and
// of elements of the same types, the results are equal where the operands are. A key says what a formula does to which
// operand, and how each one lies.

// copies is the key of a formula that makes x and nothing of it.
var copies = schedule.Key(schedule.Nodes(schedule.X))

// formula is the result of a formula by its key, of operands. Columns of a row, widths of heads and bits of elements
// belong to what it does. Columns count where an element depends on its own. The type of the plan and fp32 are one
// where they have as many bytes: between them a cast is a copy.
func (e *expressions) formula(key string, columns int64, heads, elements []int64, args []expr) expr {
	if key == copies && elements[0] == elements[1] {
		return args[0]
	}
	form := fmt.Sprintf("%s of rows of %d, heads of %d, elements of %d bits", key, columns, heads, elements)
	if columns == 0 && len(heads) == 0 { // no operand lies otherwise than in place
		e.alone[form] = true
	}
	return e.applied(form, args)
}

// eachRow says that an operand which lies so has a part for each row of the result.
func eachRow(l schedule.Lies) bool { return l != schedule.ByColumn && l != schedule.ByHead }

// make is a formula, chunk by chunk. An operand in place is cut like the result, and one with a part for each row into
// as many chunks, each as large a part of its whole. One for all rows is whole, and so are the rows of each chunk.
func (s *symbols) make(n int32, o *ops.Op, reads []*chunks, to *chunks) ([]expr, *Counterexample) {
	if len(reads) != 1+len(o.Lies) {
		return nil, s.wrong(n, fmt.Sprintf("a formula of %d operands reads %d", len(o.Lies), len(reads)-1))
	}
	if why := s.unlike(o, reads, to); why != "" {
		return nil, s.wrong(n, why)
	}
	var elements []int64
	for _, a := range reads {
		elements = append(elements, a.element)
	}
	elements = append(elements, to.element)
	made := make([]expr, len(to.list))
	for i := range to.list {
		var args []expr
		for k, a := range reads {
			if !eachRow(o.LiesOf(k)) {
				for j := range a.list {
					if a.list[j].expr == stale {
						return nil, s.misread(n, a, j)
					}
				}
				args = append(args, s.tuple(a.exprs()))
				continue
			}
			if a.list[i].expr == stale {
				return nil, s.misread(n, a, i)
			}
			args = append(args, a.list[i].expr)
		}
		made[i] = s.formula(o.Form, o.Columns, o.Heads, elements, args)
	}
	return made, nil
}

// unlike says which operand of a formula has chunks that no chunk of the result is made of; empty: none has.
func (s *symbols) unlike(o *ops.Op, reads []*chunks, to *chunks) string {
	for k, a := range reads {
		switch {
		case o.LiesOf(k) == schedule.InPlace && !alike(a, to):
			return fmt.Sprintf("a formula of chunks of %v bytes does not make chunks of %v", a.sizes, to.sizes)
		case eachRow(o.LiesOf(k)) && !proportional(a, to):
			return fmt.Sprintf("an operand in chunks of %v bytes has no rows of chunks of %v", a.sizes, to.sizes)
		}
		if o.LiesOf(k) == schedule.ByColumn {
			for _, size := range to.sizes {
				if row := a.in(to); row == 0 || size%row != 0 {
					return fmt.Sprintf("a row of %d bytes does not fit each row of a chunk of %d", row, size)
				}
			}
		}
	}
	return ""
}

// formulas are what an operation's functions make of a chunk together, from the first that a kernel of its own makes.
func (x *expectation) formulas(op schedule.Op, made expr, out []rune, rank int, bound map[rune]interval) (expr, error) {
	f := x.functions(op)
	if len(f.own) == 0 {
		return made, nil
	}
	nodes := f.nodes
	args, columns, elements := []expr{made}, bound[out[len(out)-1]], []int64{8 * x.ElementSize}
	if len(op.In) == 1 && !x.Schedule.Partial(op) { // else a kernel has added it up
		elements[0] = x.element(op.In[0])
	}
	for _, operand := range schedule.Operands(nodes) {
		arg, err := x.besideFormula(operand, out, rank, bound)
		if err != nil {
			return stale, err
		}
		args, elements = append(args, arg), append(elements, x.element(operand.Tensor))
	}
	elements = append(elements, x.element(op.Out))
	var heads []int64
	for _, e := range schedule.Heads(nodes) {
		width, err := x.extent(e)
		if err != nil {
			return stale, err
		}
		if columns.lo%width != 0 || columns.hi%width != 0 {
			return stale, fmt.Errorf("heads of %d columns are not whole in columns %v", width, columns)
		}
		heads = append(heads, width)
	}
	knows := schedule.ReachOf(nodes) > schedule.Local || len(heads) > 0 ||
		slices.ContainsFunc(schedule.Operands(nodes), func(o schedule.Operand) bool {
			return o.Lies != schedule.InPlace
		})
	if !knows {
		columns = interval{}
	}
	if block := x.Schedule.Block(op); knows && block > 0 { // a row is a block
		if columns.lo%block != 0 || columns.hi%block != 0 {
			return stale, fmt.Errorf("blocks of %d columns are not whole in columns %v", block, columns)
		}
		return x.formula(f.key, block, heads, elements, args), nil
	}
	whole := interval{0, x.columns(op.Out, x.ranks-1).hi}
	if x.Schedule.InParts(op.Out) {
		whole = x.columns(op.Out, rank)
	}
	if schedule.ReachOf(nodes) == schedule.InRow && (whole.len() == 0 || columns != whole) {
		return stale, fmt.Errorf("%s takes whole rows, and columns %v are there", f.own, columns)
	}
	return x.formula(f.key, columns.len(), heads, elements, args), nil
}

// element is how many bits a tensor's elements have.
func (x *expectation) element(tensor string) int64 {
	return cmp.Or(x.tensors[tensor].Type.Bits(), 8*x.ElementSize)
}

// besideFormula is an operand of a formula of a chunk.
func (x *expectation) besideFormula(operand schedule.Operand, out []rune, rank int, bound map[rune]interval) (expr,
	error) {
	last := len(out) - 1
	switch operand.Lies {
	case schedule.InPlace:
		part, err := x.boxOf(out, bound)
		if err != nil {
			return stale, err
		}
		return x.chunk(operand.Tensor, rank, part)
	case schedule.ByColumn:
		return x.operand(operand.Tensor, rank, box{bound[out[last]]})
	case schedule.ByHead:
		width, err := x.width(operand.Tensor)
		if err != nil {
			return stale, err
		}
		return x.operand(operand.Tensor, rank, box{{0, width}})
	case schedule.ByRow:
		part, err := x.boxOf(out[:last], bound)
		if err != nil {
			return stale, err
		}
		if block := x.block(operand.Tensor); block > 0 {
			part[last] = interval{bound[out[last]].lo / block, bound[out[last]].hi / block}
		}
		return x.chunk(operand.Tensor, rank, part)
	}
	width, err := x.width(operand.Tensor)
	if err != nil {
		return stale, err
	}
	return x.chunk(operand.Tensor, rank, box{bound[out[last-1]], {0, width}})
}

// width is the last extent of a tensor.
func (x *expectation) width(tensor string) (int64, error) {
	p, declared := x.tensors[tensor]
	if !declared || len(p.Axes) == 0 {
		return 0, fmt.Errorf("no tensor %s of heads is declared", tensor)
	}
	return p.extent(p.Axes[len(p.Axes)-1].Extent)
}

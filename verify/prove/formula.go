package prove

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// A formula is an unknown function. Two formulas have equal results for equal operands if they have the same key,
// equally long rows, equally wide heads and elements of the same types. A key says what a formula does to which
// operand, and how each operand lies.

// copies is the key of a formula that returns x unchanged.
var copies = schedule.Key(schedule.Nodes(schedule.X))

// formula is the result of the formula with this key. The columns of a row, the widths of heads and the bits of
// elements are part of the function; columns only where an element depends on the columns. The plan's type and fp32 are
// one type where they have equally many bytes: then a cast between them is a copy.
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

// eachRow reports whether an operand with this layout has a part for each row of the result.
func eachRow(l schedule.Lies) bool { return l != schedule.ByColumn && l != schedule.ByHead }

// make computes a formula, chunk by chunk. An operand in place is cut like the result. An operand with a part for each
// row has equally many chunks, and each is the same fraction of its whole. An operand for all rows is whole, and so are
// the rows of each chunk.
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
		args, c := s.arguments(n, o, reads, i)
		if c != nil {
			return nil, c
		}
		made[i] = s.formula(o.Form, o.Columns, o.Heads, elements, args)
	}
	return made, nil
}

// arguments are what the last reads of an operation have for a chunk of its result.
func (s *symbols) arguments(n int32, o *ops.Op, last []*chunks, chunk int) (args []expr, _ *Counterexample) {
	first := len(o.Reads()) - len(last)
	for k, a := range last {
		if !eachRow(o.LiesOf(first + k)) {
			for j := range a.list {
				if a.list[j].expr == stale {
					return nil, s.misread(n, a, j)
				}
			}
			args = append(args, s.tuple(a.exprs()))
			continue
		}
		if a.list[chunk].expr == stale {
			return nil, s.misread(n, a, chunk)
		}
		args = append(args, a.list[chunk].expr)
	}
	return args, nil
}

// finish applies a sum's formulas to what it has added up for each chunk, before that is rounded.
func (s *symbols) finish(n int32, o *ops.Op, sums []expr, beside []*chunks, to *chunks) ([]expr, *Counterexample) {
	if why := s.unlike(o, beside, to); why != "" {
		return nil, s.wrong(n, why)
	}
	var elements []int64
	for _, a := range append(beside, to) {
		elements = append(elements, a.element)
	}
	for i, sum := range sums {
		args, c := s.arguments(n, o, beside, i)
		if c != nil {
			return nil, c
		}
		sums[i] = s.widened(o, s.unrounded(o.Form, o.Columns, elements, sum, args...))
	}
	return sums, nil
}

// unrounded is the result of the formula with this key on a sum that is not rounded yet, rounded once; without a key it
// is the sum. elements are the bits of an element of each further operand, and of the result.
func (e *expressions) unrounded(key string, columns int64, elements []int64, sum expr, args ...expr) expr {
	if key == "" || key == copies {
		return sum
	}
	form := fmt.Sprintf("unrounded %s of rows of %d, elements of %d bits", key, columns, elements)
	if columns == 0 { // no operand lies otherwise than in place
		e.alone[form] = true
	}
	return e.applied(form, append([]expr{sum}, args...))
}

// unlike says which of an operation's last reads has chunks that do not fit the chunks of the result, and is empty if
// none has.
func (s *symbols) unlike(o *ops.Op, last []*chunks, to *chunks) string {
	first := len(o.Reads()) - len(last)
	for k, a := range last {
		k += first
		switch {
		case o.LiesOf(k) == schedule.InPlace && !alike(a, to):
			return fmt.Sprintf("a formula of chunks of %v bytes does not make chunks of %v", a.sizes, to.sizes)
		case eachRow(o.LiesOf(k)) && !proportional(a, to):
			return fmt.Sprintf("an operand in chunks of %v bytes has no rows of chunks of %v", a.sizes, to.sizes)
		}
		if o.LiesOf(k) == schedule.ByColumn {
			if row := 8 * a.Bytes / a.element; row != o.Columns {
				return fmt.Sprintf("a row of %d elements is none of a result with rows of %d", row, o.Columns)
			}
			for _, size := range to.sizes {
				if row := a.in(to); row == 0 || size%row != 0 {
					return fmt.Sprintf("a row of %d bytes does not fit each row of a chunk of %d", row, size)
				}
			}
		}
	}
	return ""
}

// formulas is the result of an operation's functions on a chunk, from the first function on that a separate kernel
// computes.
func (x *expectation) formulas(op schedule.Op, made expr, out []rune, rank int, bound map[rune]interval) (expr, error) {
	f := x.functions(op)
	if len(f.own) == 0 {
		return made, nil
	}
	nodes := f.nodes
	args, columns, elements := []expr{made}, bound[out[len(out)-1]], []int64{x.ElementBits}
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

// element is the number of bits of an element of a tensor.
func (x *expectation) element(tensor string) int64 {
	return cmp.Or(x.tensors[tensor].Type.Bits(), x.ElementBits)
}

// besideFormula is the expression of an operand of a formula, for one chunk of the result.
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

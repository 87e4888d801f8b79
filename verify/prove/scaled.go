package prove

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// Operands of eight bits are multiplied with their scales: both operands of a product, or the second one alone. There
// is one scale for the whole operand, or one for each row; then the scales are cut into chunks as the rows are. To the
// proof, an operand with its scales is one operand: an unknown function of both. So an operand with the scales of other
// rows, or of another run, is a different operand.

// factors are the operands of a product.
type factors = ops.Factors[*chunks]

// bytesOfScale is the number of bytes of a scale.
const bytesOfScale = 4

// scaled returns the factors of a product with each matrix multiplied by its scales.
func (s *symbols) scaled(n int32, o *ops.Op, x factors, to *chunks) (factors, *Counterexample) {
	was := x
	for i, of := range []struct{ matrix, scales **chunks }{ops.A: {&x.A, &x.ScaleA}, ops.B: {&x.B, &x.ScaleB}} {
		if *of.scales == nil {
			continue
		}
		a, scales := **of.matrix, *of.scales
		if len(a.list) == 0 || len(scales.list) == 0 {
			return x, s.wrong(n, "a product has as many scales as it says")
		}
		one := scales.Bytes == bytesOfScale
		switch list := a.list; {
		case ops.Side(i) == ops.B || a.apart != nil: // a product takes it whole
			a.list = []*cell{{s.times(s.tuple(a.exprs()), s.tuple(scales.exprs())), list[0].by}}
		case o.InBlocks && len(scales.list) == 1 && even(&a):
			a.list = s.timesColumns(list, scales.list[0].expr)
		case o.InBlocks, !one && !proportional(&a, scales):
			return x, s.wrong(n, fmt.Sprintf("%s is cut otherwise than its scales in %s", a.At, scales.At))
		case one:
			a.list = nil
			for _, x := range list {
				a.list = append(a.list, &cell{s.times(x.expr, scales.list[0].expr), x.by})
			}
		default:
			a.list = s.timesEach(list, scales)
		}
		*of.matrix = &a
	}
	return x, s.rowsOfScales(n, o, was, to)
}

// timesEach multiplies each chunk by its scales. The scales are cut like the chunks.
func (s *symbols) timesEach(list []*cell, scales *chunks) (made []*cell) {
	for i, x := range list {
		made = append(made, &cell{s.times(x.expr, scales.list[i].expr), x.by})
	}
	return made
}

// timesColumns multiplies each of the equal chunks of rows by their scales, which lie block by block: the scales of
// some rows are columns of all scales.
func (s *symbols) timesColumns(list []*cell, scales expr) (made []*cell) {
	for i, x := range list {
		made = append(made, &cell{s.times(x.expr, s.columnsOf(scales, i, len(list))), x.by})
	}
	return made
}

// scaledTerms lists what a sum adds up, with each term multiplied by the scales of its rows. The scales follow all
// terms among the reads.
func (s *symbols) scaledTerms(n int32, o *ops.Op, reads []*chunks) ([]*chunks, *Counterexample) {
	made, scalesOf, others := ops.SummandsOf(o, slices.Clone(reads))
	for i, a := range made {
		one, scales := *a, scalesOf[i]
		if !proportional(a, scales) || 8*a.Bytes/a.element != 8*scales.Bytes/scales.element*o.Scaled {
			return nil, s.wrong(n, fmt.Sprintf("%s is cut otherwise than its scales in %s, or has not one for each %d",
				a.At, scales.At, o.Scaled))
		}
		for j, x := range a.list {
			if x.expr == stale {
				return nil, s.misread(n, a, j)
			}
			if scales.list[j].expr == stale {
				return nil, s.misread(n, scales, j)
			}
		}
		one.list = s.timesEach(a.list, scales)
		made[i] = &one
	}
	return slices.Concat(made, others), nil
}

// rowsOfScales is the counterexample of scales whose number is neither one nor the number of rows.
func (s *symbols) rowsOfScales(n int32, o *ops.Op, x factors, to *chunks) *Counterexample {
	a, b, c := x.A.Bytes/s.size(x.A), x.B.Bytes/s.size(x.B), to.Bytes/s.size(to)
	m := rowsOf(a, b, c)
	if m == 0 || c%m != 0 {
		return nil // no product has these sizes
	}
	for side, of := range []struct {
		rows, elements int64
		scales         *chunks
	}{ops.A: {m, a, x.ScaleA}, ops.B: {c / m, b, x.ScaleB}} {
		if of.scales == nil {
			continue
		}
		all := bytesOfScale * o.ScalesOf(ops.Side(side), of.rows, of.elements/of.rows)
		if bytes := of.scales.Bytes; (bytes != bytesOfScale || o.InBlocks) && bytes != all {
			return s.wrong(n, fmt.Sprintf("%d rows have scales of %d bytes", of.rows, bytes))
		}
	}
	return nil
}

// size is the number of bytes of an element of a product's operand. Such elements are whole bytes.
func (s *symbols) size(a *chunks) int64 {
	return cmp.Or(s.model.Buffers[s.model.index(a.At.Buffer)].Element, s.want.ElementBits) / 8
}

// times is an operand with its scales.
func (e *expressions) times(x, scales expr) expr { return e.applied("scaled", []expr{x, scales}) }

// times is an operand multiplied by the scales of the box's rows, where the tensor has scales.
func (x *expectation) times(operand expr, tensor string, rank int, part box) (expr, error) {
	t, _ := x.Schedule.Tensor(tensor)
	scale, scaled := x.tensors[t.Scale]
	if !scaled {
		return operand, nil
	}
	rows := box{part[0]}
	switch {
	case t.Summands():
		rows[1] = part[1]
		if x.block(t.Scale) > 0 {
			rows[2] = cutBy(part[2], scale.Axes[2])
		}
	case scale.OfSquares():
		rows = box{cutBy(part[0], scale.Axes[0]), cutBy(part[1], scale.Axes[1])}
	case scale.ByBlock():
		scales, err := x.blockByBlock(t.Scale, rank, box{cutBy(part[1], scale.Axes[0]), part[0]})
		return x.expressions.times(operand, scales), err
	case scale.OfParts():
		of := part[1].lo / max(x.columns(tensor, 0).len(), 1)
		if part[1] != x.columns(tensor, int(of)) {
			return stale, fmt.Errorf("columns %v of %s are no rank's part, and it has scales of these", part[1], tensor)
		}
		rows[1] = interval{of, of + 1}
	case !scale.OfRows():
		rows = box{{0, 1}}
	}
	of := x.operand
	if x.Schedule.Made(tensor) {
		of = x.output
	}
	scales, err := of(t.Scale, rank, rows)
	return x.expressions.times(operand, scales), err
}

// blockByBlock is the expression of the scales of some rows, which lie block by block: of columns of a chunk that an
// input has.
func (x *expectation) blockByBlock(scale string, rank int, part box) (expr, error) {
	of, _ := x.Schedule.ScaledBy(scale)
	if x.Schedule.Made(of.Name) {
		return x.output(scale, rank, part)
	}
	h, err := x.find(scale, rank, part)
	if err == nil {
		return x.tuple(x.chunksOf(scale, h)), nil
	}
	for r, boxes := range x.boxes[scale] {
		for i, b := range boxes {
			if n := part[1].len(); (r == rank || x.tensors[scale].sharded()) && b[0] == part[0] && n > 0 &&
				b[1].lo <= part[1].lo && part[1].hi <= b[1].hi && b[1].len()%n == 0 && (part[1].lo-b[1].lo)%n == 0 {
				whole := x.given(x.buffer(scale), int32(r), x.run, int32(i))
				return x.columnsOf(whole, int((part[1].lo-b[1].lo)/n), int(b[1].len()/n)), nil
			}
		}
	}
	return stale, err
}

// cutBy is the interval of blocks, on an axis of scales, that an interval of columns covers.
func cutBy(of interval, blocks schedule.Axis) interval {
	_, n, _ := blocks.Extent.Blocks()
	return interval{of.lo / n, of.hi / n}
}

// leaveScales stores the scales that a formula or a call writes beside its result. A chunk has one scale a row. The
// scales of a chunk are an unknown function of the same operands as the chunk. Those of heads lie head by head: they
// are one chunk, whatever the chunks of their rows are.
func (s *symbols) leaveScales(n int32, scales, to *chunks, made []expr) *Counterexample {
	count, elements, o := 8*scales.Bytes/scales.element, 8*to.Bytes/to.element, s.operation(n)
	var left []expr
	for _, e := range made {
		left = append(left, s.scalesOf(e))
	}
	switch {
	case count == 0 || elements%count != 0 || o.Kind == ops.Call && scales.element != 8*bytesOfScale:
	case o.Kind == ops.Apply && inHeads(o, elements/count) && len(scales.list) == 1 && even(to):
		return s.write(n, false, scales, []expr{s.columnsBeside(left)})
	case proportional(scales, to) && (o.Kind != ops.Apply || elements/count == o.Columns):
		return s.write(n, false, scales, left)
	}
	return s.wrong(n, fmt.Sprintf("%s has no scale for each row of %s", scales.At, to.At))
}

// inHeads reports whether scales, one for so many elements, are of heads and not of rows.
func inHeads(o *ops.Op, width int64) bool {
	return width != o.Columns && slices.Contains(o.Heads, width)
}

// scalesOf is the expression of the scales of a chunk that has been made.
func (e *expressions) scalesOf(made expr) expr { return e.applied("scales of", []expr{made}) }

// scalesMade is the expected expression of the scales of some rows of a result. The result's formulas or call make
// them, or a copied operand has them.
func (x *expectation) scalesMade(of schedule.Tensor, rank int, rows box) (expr, error) {
	if op, _ := x.Schedule.Maker(of.Name); len(op.Then) == 0 && op.Call == "" {
		from, _ := x.Schedule.Tensor(op.In[0])
		if x.Schedule.Made(from.Name) {
			return x.output(from.Scale, rank, rows)
		}
		return x.operand(from.Scale, rank, rows)
	}
	last := len(of.Axes) - 1
	columns, err := x.extent(of.Axes[last].Extent)
	if err != nil {
		return stale, err
	}
	whole := interval{0, columns}
	if scale := x.tensors[of.Scale]; scale.ByBlock() {
		_, n, _ := scale.Axes[0].Extent.Blocks()
		return x.headsMade(of.Name, rank, interval{rows[0].lo * n, rows[0].hi * n}, rows[1])
	}
	if block := x.block(of.Scale); block > 0 {
		whole = interval{rows[last].lo * block, rows[last].hi * block}
	}
	if x.Schedule.InParts(of.Name) {
		whole = x.columns(of.Name, int(rows[1].lo))
	}
	rows[last] = whole
	made, err := x.output(of.Name, rank, rows)
	return x.expressions.scalesOf(made), err
}

// headsMade is the expected expression of scales that lie head by head: of some columns of rows, which are made in
// parts.
func (x *expectation) headsMade(tensor string, rank int, columns, rows interval) (expr, error) {
	var list []expr
	parts := x.rowsMade(tensor, rows)
	for _, part := range parts {
		if part.len()*int64(len(parts)) != rows.len() {
			return stale, fmt.Errorf("rows %v of %s are made in unequal parts, and their scales lie block by block",
				rows, tensor)
		}
		made, err := x.output(tensor, rank, box{part, columns})
		if err != nil {
			return stale, err
		}
		list = append(list, x.expressions.scalesOf(made))
	}
	return x.columnsBeside(list), nil
}

// block is the number of columns that have one scale, where scales are of blocks, and else 0.
func (x *expectation) block(scale string) int64 {
	axes := x.tensors[scale].Axes
	if len(axes) == 0 {
		return 0
	}
	_, columns, _ := axes[len(axes)-1].Extent.Blocks()
	return columns
}

// elementsOf is the number of bits that an element of a read must have, given the bits of the result's elements.
func elementsOf(o *ops.Op, reads []*chunks, read *chunks, result int64) int64 {
	x, _ := ops.FactorsOf(o, reads)
	summands, beside := ops.FinishOf(o, reads)
	terms, scales, _ := ops.SummandsOf(o, summands)
	switch {
	case slices.Contains(beside, read): // its formulas have the types
		return read.element
	case slices.Contains(terms, read):
		return schedule.E4M3.Bits()
	case slices.Contains(scales, read):
		return 8 * bytesOfScale
	case o.Scales == 0:
		return result
	case read == x.A:
		return o.ElementOf(ops.A, result)
	case read == x.B:
		return o.ElementOf(ops.B, result)
	case read == x.ScaleA, read == x.ScaleB:
		return 8 * bytesOfScale
	}
	return result
}

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
		case !one && !proportional(&a, scales), o.InBlocks && len(scales.list) != 1:
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
	return cmp.Or(s.model.Buffers[s.model.index(a.At.Buffer)].Element/8, s.want.ElementSize)
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
	case scale.ByBlock():
		if rows = (box{cutBy(part[1], scale.Axes[0]), part[0]}); scale.OfSquares() {
			rows = box{cutBy(part[0], scale.Axes[0]), cutBy(part[1], scale.Axes[1])}
		}
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

// cutBy is the interval of blocks, on an axis of scales, that an interval of columns covers.
func cutBy(of interval, blocks schedule.Axis) interval {
	_, n, _ := blocks.Extent.Blocks()
	return interval{of.lo / n, of.hi / n}
}

// leaveScales stores the scales that a formula or a call writes beside its result. A chunk has one scale a row. The
// scales of a chunk are an unknown function of the same operands as the chunk.
func (s *symbols) leaveScales(n int32, scales, to *chunks, made []expr) *Counterexample {
	count, elements := 8*scales.Bytes/scales.element, 8*to.Bytes/to.element
	if o := s.operation(n); count == 0 || !proportional(scales, to) || elements%count != 0 ||
		o.Kind == ops.Apply && elements/count != o.Columns && !inHeads(o, elements/count, scales) ||
		o.Kind == ops.Call && scales.element != 8*bytesOfScale {
		return s.wrong(n, fmt.Sprintf("%s has no scale for each row of %s", scales.At, to.At))
	}
	var left []expr
	for _, e := range made {
		left = append(left, s.scalesOf(e))
	}
	return s.write(n, false, scales, left)
}

// inHeads reports whether scales are of heads of that width. Such scales lie head by head, so the scales of some rows
// lie together only where there are no other rows.
func inHeads(o *ops.Op, width int64, scales *chunks) bool {
	return slices.Contains(o.Heads, width) && len(scales.list) == 1
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
		whole, rows[0] = interval{rows[0].lo * n, rows[0].hi * n}, rows[1]
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
		return 8 * o.ElementOf(ops.A, result/8)
	case read == x.B:
		return 8 * o.ElementOf(ops.B, result/8)
	case read == x.ScaleA, read == x.ScaleB:
		return 8 * bytesOfScale
	}
	return result
}

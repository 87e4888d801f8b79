package explore

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Operands of eight bits are multiplied by scales of fp32: one scale, or one for each row. In memory a scale is two
// numbers where the plan's elements have 16 bits.

// dequantised returns the factors of a product with each matrix multiplied by its scales. A matrix is nil if the number
// of its scales is neither one nor the number of its rows.
func (m *machine) dequantised(o *ops.Op, of ops.Factors[[]Number], size int) ops.Factors[[]Number] {
	rowsOfA, _, rowsOfB, ok := extents(len(of.A), len(of.B), size)
	if !ok {
		return ops.Factors[[]Number]{}
	}
	if o.Scales == 2 {
		of.A = m.unscaled(o, ops.A, of.A, of.ScaleA, rowsOfA)
	}
	if o.Scales > 0 {
		of.B = m.unscaled(o, ops.B, of.B, of.ScaleB, rowsOfB)
	}
	return of
}

// unscaled is a matrix with that number of rows, multiplied by its scales.
func (m *machine) unscaled(o *ops.Op, side ops.Side, of, scales []Number, rows int) (made []Number) {
	count := len(scales) * int(m.ElementBits) / int(schedule.FP32.Bits())
	depth := len(of) / rows
	if count == 0 || (count != 1 || o.InBlocks) && int64(count) != o.ScalesOf(side, int64(rows), int64(depth)) {
		return nil
	}
	scales, made = elementsOf(scales, count), make([]Number, len(of))
	for j, x := range of {
		at := int(o.ScaleAt(side, int64(j/depth), int64(j%depth), int64(rows), int64(depth)))
		made[j] = scaledBy(side, x, scales[at%count])
	}
	return made
}

// scaledTerms lists what a sum adds up, with each term multiplied by the scales of its rows, which follow all terms.
// It is nil where a term does not have a scale for each of its rows.
func scaledTerms(o *ops.Op, operands [][]Number) (made [][]Number) {
	terms, scalesOf, others := ops.SummandsOf(o, operands)
	if len(terms) < o.ScaledTerms {
		return nil
	}
	for i, codes := range terms {
		scales, term := elementsOf(scalesOf[i], len(codes)/int(max(o.Scaled, 1))), make([]Number, len(codes))
		if len(scales)*int(o.Scaled) != len(codes) {
			return nil
		}
		for j, x := range codes {
			term[j] = scaledBy(ops.A, x, scales[j/int(o.Scaled)])
		}
		made = append(made, term)
	}
	return append(made, others...)
}

// scaledBy is an element of an operand, multiplied by its scale. The side counts: with the scales of A and B exchanged,
// a product has another result, since the sums are multiplied by A's scale first.
func scaledBy(operand ops.Side, x, scale Number) Number {
	return times(x, mixed(hashed("scale"), uint64(operand), uint64(scale)))
}

// scaled is an element of an operation's operand, multiplied by its scale where it has scales.
func (m *meaning) scaled(run int, x Number, operand ops.Side, t *tensor, at []int64) Number {
	of := []int64{0}
	switch {
	case t.scale == "":
		return x
	case t.inParts:
		of = []int64{at[0], at[1] / t.inRow}
	case len(t.blocks) == 1: // block by block
		of = []int64{at[1] / t.blocks[0], at[0]}
	case len(t.blocks) == 2:
		of = []int64{at[0] / t.blocks[0], at[1] / t.blocks[1]}
	case t.block > 0: // side by side
		last := len(at) - 1
		of = append(slices.Clone(at[:last]), at[last]/t.block)
	case t.ofRows:
		of = at[:len(at)-1]
	}
	return scaledBy(operand, x, m.read(t.scale, m.element(run, t.scale, of)))
}

// inRow is the number of columns of a row of a tensor. Where the tensor has scales of each rank's part, a row is such a
// part. Where its maker works on blocks of columns, a row is a block.
func (m *meaning) inRow(t *tensor) int64 {
	if block := m.Schedule.Block(t.op); t.made && block > 0 {
		return block
	}
	columns := t.sizes[len(t.sizes)-1]
	if t.inParts {
		columns /= int64(m.Extents[schedule.D])
	}
	return columns
}

// beside lists the scales that formulas or a call leave beside their result. It is nil for a workspace, whose contents
// are unknown.
func (x *search) beside(s *state, st *step, scales []int32) (made []Number) {
	if st.op.Kind == ops.Call && st.op.LeavesScales {
		count := x.size(scales) * int(x.ElementBits) / int(schedule.FP32.Bits())
		operands := digests(x.operands(s, st))
		for i := range count {
			made = append(made, asStored(scaleCalled(st.op.Form, operands, i), x.size(scales) > count)...)
		}
		return made
	}
	step, _ := st.op.Node.(hostir.Step)
	f, _ := hostir.Applied(step.Do)
	divisor, divides := schedule.Divisor(f.Makes)
	if !st.op.LeavesScales || !divides || st.op.Columns < 1 {
		return nil
	}
	w := walkOf(st.op, f.Makes, x.operands(s, st), x.size(st.results[0]))
	if w == nil {
		return nil
	}
	all, columns := w.all(divisor), int(st.op.Columns)
	width := columns
	if head := schedule.DividesHeads(f.Makes); head != "" {
		width = w.width(head)
	}
	halved := x.size(scales) == 2*(len(all)/width)
	for head := 0; head < columns; head += width { // first one head of all rows, then the next
		for i := head; i < len(all); i += columns {
			made = append(made, asStored(all[i], halved)...)
		}
	}
	return made
}

// asStored is a number of fp32 as memory has it: two halves where the plan's elements have 16 bits.
func asStored(n Number, halved bool) []Number {
	if halved {
		return halves(n)
	}
	return []Number{n}
}

// scaleCalled is the i-th scale that a call makes, given the digest of a rank's part of each operand.
func scaleCalled(name string, operands []uint64, i int) Number {
	return calledOn(name+" scales", operands, i)
}

// scaleMade is the scale of a row of a result of eight bits, or of a rank's part of a row: the operand's scale where
// the result is a copy, or else the scale that the result's maker computes.
func (m *meaning) scaleMade(run int, scales string, at []int64) Number {
	of, _ := m.Schedule.ScaledBy(scales)
	op, _ := m.Schedule.Maker(of.Name)
	if op.Call != "" {
		return m.callScale(run, op, at)
	}
	if len(op.Then) == 0 {
		return m.element(run, m.tensor(op.In[0]).scale, at)
	}
	divisor, _ := schedule.Divisor(m.trees(m.Schedule.Own(op))) // Validate has seen that it divides
	last := len(of.Axes) - 1
	row, column := at[:last:last], int64(0)
	if blocks := m.tensor(of.Name).blocks; len(blocks) > 0 {
		row, column = at[1:], at[0]*blocks[0]
	} else if len(at) > last {
		column = at[last] * m.tensor(of.Name).inRow
	}
	made, first := m.formulas(run, op, divisor, append(slices.Clone(row), column))
	return made[column-first]
}

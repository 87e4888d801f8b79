package explore

import (
	"math"

	"ovgen/verify/ops"
)

// inGroups are the operations of a launch of tiles. Where a part stands for groups of tiles with words of their own, it
// becomes two parts, one for each half of a rank's rows. Other launches stay as they are.
func (b *rankBuilder) inGroups(list []ops.Op) []ops.Op {
	if !list[0].ByBlocks {
		return list
	}
	rows, parts := int64(0), 0
	for _, o := range list {
		if o.Kind == ops.Product {
			rows = rowsOf(o)
		}
		parts = max(parts, o.Part)
	}
	if rows <= 0 {
		b.report(WellFormed, "rank %d: no product has this form: %s", b.rank, &list[0])
		return list
	}
	var all []ops.Op
	for _, o := range list {
		for group := range int64(blocks) {
			one := b.ofGroup(o, rows, group)
			if o.Part > 0 {
				one.Part += int(group) * parts
			}
			all = append(all, one)
		}
	}
	return all
}

// rowsOf is the rows of a linear's result: m is the root of mk mn / nk.
func rowsOf(o ops.Op) int64 {
	x := o.Factors()
	mk, nk, mn := float64(x.A.Bytes), float64(x.B.Bytes), float64(o.Result().Bytes)
	return int64(math.Round(math.Sqrt(mk * mn / nk)))
}

// ofGroup is a group's part of an operation: its rows of each use but the weights and a bias, and its words.
func (b *rankBuilder) ofGroup(o ops.Op, rows, group int64) ops.Op {
	part := b.part(o, group, 1)
	if len(o.Uses) == 0 {
		return part
	}
	part.Uses = nil
	weight, result := o.Factors().B, o.Result().Bytes
	from, to := rows*group/blocks, rows*(group+1)/blocks
	for i, u := range o.Uses {
		if whole := &o.Uses[i] == weight || o.Kind == ops.Sum && u.Bytes != result; !whole {
			row := u.Bytes / rows
			u.At.Offset, u.Bytes = u.At.Offset+from*row, (to-from)*row
		}
		part.Uses = append(part.Uses, u)
	}
	return part
}

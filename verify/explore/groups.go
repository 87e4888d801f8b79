package explore

import (
	"math"
	"slices"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// inGroups returns the operations of a launch of tiles. A part that stands for several groups of tiles, each with its
// own words, becomes two parts, one for each half of a rank's rows. Other launches stay as they are, and so does one on
// memory whose columns are cut: no range there has a half of the rows.
func (b *rankBuilder) inGroups(list []ops.Op) []ops.Op {
	if !list[0].ByBlocks || b.cutInColumns(list) {
		return list
	}
	rows, parts := b.rowsOf(list), 0
	for _, o := range list {
		parts = max(parts, o.Part)
	}
	if rows <= 0 {
		b.report(WellFormed, "rank %d: no product has this form: %s", b.rank, &list[0])
		return list
	}
	var all []ops.Op
	for _, o := range list {
		for group := range int64(blocks) {
			one := b.part(o, group, 1)
			if len(o.Uses) > 0 {
				one.Uses = ofGroup(o, rows, group)
			}
			if o.Part > 0 {
				one.Part += int(group) * parts
			}
			all = append(all, one)
		}
	}
	return all
}

// rowsOf is the number of rows of the result of a launch's last linear: the root of mk * mn / nk, in elements. It is 0
// where there is no linear.
func (m *machine) rowsOf(launch []ops.Op) (rows int64) {
	count := func(u ops.Use) float64 { return float64(m.count(u)) }
	for _, o := range launch {
		if o.Kind == ops.Product {
			x := o.Factors()
			rows = int64(math.Round(math.Sqrt(count(*x.A) * count(o.Result()) / count(*x.B))))
		}
	}
	return rows
}

// rowsInGroups is rowsOf for a launch of tiles whose parts become those of two groups, and 0 for another launch by
// blocks.
func (m *machine) rowsInGroups(launch []ops.Op) int64 {
	if !slices.ContainsFunc(launch, func(o ops.Op) bool { return o.Part > 0 }) || m.cutInColumns(launch) {
		return 0
	}
	return m.rowsOf(launch)
}

// ofGroup lists the uses of an operation, cut to a group's rows. The weights and operands by column stay whole.
func ofGroup(o ops.Op, rows, group int64) (uses []ops.Use) {
	weight := o.Factors().B
	from, to := rows*group/blocks, rows*(group+1)/blocks
	for i, u := range o.Uses {
		if whole := &o.Uses[i] == weight || o.LiesOf(i) == schedule.ByColumn; !whole {
			row := u.Bytes / rows
			u.At.Offset, u.Bytes = u.At.Offset+from*row, (to-from)*row
		}
		uses = append(uses, u)
	}
	return uses
}

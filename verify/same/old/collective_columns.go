package old

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// columnExchange gives each rank its part of the columns of all rows where it had rows of all columns, or the other way
// round. The part that a rank has of another's rows and columns is a part of the rows on one side, which lies together,
// and of the columns on the other.
func columnExchange(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.share("A")
	a, c := hostir.Columns, hostir.Chunk
	if overRanks(d.buffer("A").Tensor, 1) {
		a, c = c, a
		d.cut("A", schedule.D)
		d.cutColumns("C")
	} else {
		d.cutColumns("A")
		d.cut("C", schedule.D)
	}
	return d.exchange(c, a("A", hostir.Rank),
		func(from hostir.Expr) hostir.View { return a("A", hostir.Rank).At(from) })
}

// columnGather copies every rank's columns of A to their place in each row of C.
func columnGather(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.share("A")
	d.cutColumns("C")
	return d.exchange(hostir.Columns, hostir.Whole("A"),
		func(from hostir.Expr) hostir.View { return hostir.Whole("A").At(from) })
}

// cutColumns lets a buffer be indexed by a part of its columns a rank.
func (d *draft) cutColumns(name string) {
	b := d.buffer(name)
	rows, columns := b.Tensor.Axes[0], b.Tensor.Axes[1]
	columns.Outer = append(slices.Clone(columns.Outer), schedule.DIDx(schedule.D))
	b.Rows = elements(schedule.Tensor{Axes: []schedule.Axis{rows}})
	b.Chunk = elements(schedule.Tensor{Axes: []schedule.Axis{rows, columns}})
}

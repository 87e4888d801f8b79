package lower

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Variables of Buffer.Counts: a rank, and a chunk of its buffer.
const (
	countRank  = "q"
	countChunk = "c"
)

// uneven says that a tensor's parts have extents of their own.
func (d *draft) uneven(name string) bool {
	t, _ := d.schedule.Tensor(name)
	axis, split, ok := t.Sharded()
	return ok && t.Axes[axis].Outer[split].Uneven
}

// counted gives the chunks of a buffer the counts that Bind is called with, of rows; of
// elements where rows have different lengths. New makes room for the most rows
// that a part may have, or else for all of the tensor, which one rank may have.
func (d *draft) counted(name string, counts hostir.Expr) {
	b := d.buffer(name)
	b.Counts = counts
	rows, columns := b.Tensor.Axes[0], b.Tensor.Axes[1:]
	if len(columns) == 2 {
		rows, columns = columns[1], nil
	}
	b.Chunk = hostir.Const(1)
	if len(columns) > 0 {
		b.Chunk = elements(schedule.Tensor{Axes: columns})
	}
	most := extent(rows.Extent)
	if m, ok := d.most(name); ok {
		most = extent(m)
	} else if e, ok := d.program.Balanced(); ok && counts.Equal(hostir.Var(countRank)) {
		most = rowsOfFirst(e)
	}
	b.Elements = times(most, b.Chunk)
}

// allParts is all of a buffer whose parts differ.
func allParts(buffer string) hostir.View {
	return hostir.Chunks(buffer, hostir.Const(0), hostir.Size)
}

// rowsOfFirst are the rows of the first of balanced parts, which has the most.
func rowsOfFirst(e schedule.Extent) hostir.Expr {
	return hostir.Div(hostir.Sub(hostir.Add(extent(e), hostir.Size), hostir.Const(1)), hostir.Size)
}

// most is the bound on the rows of a tensor's uneven parts.
func (d *draft) most(name string) (schedule.Extent, bool) {
	t, _ := d.schedule.Tensor(name)
	axis, split, ok := t.Sharded()
	if !ok || t.Axes[axis].Outer[split].Most == "" {
		return "", false
	}
	return t.Axes[axis].Outer[split].Most, true
}

// unbounded refuses a bound on uneven parts where room is made for all rows of a rank.
func (d *draft) unbounded() error {
	for i, t := range d.schedule.Tensors {
		j, k, ok := t.Sharded()
		if ok && t.Axes[j].Outer[k].Most != "" {
			return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d].Most", i, j, k),
				Msg: "an all-to-all makes room for M elements a rank, whatever its parts are", Hint: "leave it out"}
		}
	}
	return nil
}

// gatherPadded lets every part travel as a chunk of one size, padding and all, between buffers
// of the plan, so the bytes on the links don't depend on the counts. From there the caller's
// stream copies the counted rows one after another into C, each part's while the next one
// travels.
func gatherPadded(d *draft) error {
	most, ok := d.most("A")
	if !ok {
		return &schedule.FieldError{Path: d.at(), Msg: "only uneven parts whose most is known can be padded",
			Hint: "set Uneven and Most of A's split over the ranks"}
	}
	if err := d.tensors(); err != nil {
		return err
	}
	chunk := hostir.Var(countChunk)
	d.cut("C", schedule.D)
	d.counted("A", hostir.Var(countRank))
	d.counted("C", chunk)
	columns := d.buffer("A").Tensor.Axes[1]
	d.memory(padded, extent(columns.Extent), schedule.Dim(schedule.D), schedule.Dim(most), columns)
	b := d.buffer(padded)
	b.Shared, b.Counts, b.Room = true, chunk, hostir.Mul(extent(most), extent(columns.Extent))
	d.semaphores(ready, read)
	from := hostir.Var("from")
	room := func(v hostir.View) hostir.View {
		v.Padded = true
		return v
	}
	d.program.Body = []hostir.Node{
		hostir.Set(mainRef, hostir.Chunk(padded, hostir.Rank), hostir.Whole("A")),
		hostir.Post(mainRef, ready, every).Described("peers may read the own part"),
		d.fork(copySet),
		hostir.Set(mainRef, hostir.Chunk("C", hostir.Rank), hostir.Whole("A")),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, room(hostir.Chunk(padded, from)), room(hostir.Remote(padded, from, from))),
			hostir.After(mainRef, copyRef),
			hostir.Set(mainRef, hostir.Chunk("C", from), hostir.Chunk(padded, from))),
		hostir.Post(copyRef, read, every).Described("the own part may be overwritten afterwards"),
		hostir.Wait(copyRef, read, every),
		join(copySet),
	}
	return nil
}

// scatterShot lets every rank sum its rows of all ranks' A, reading them over the link.
// It needs no memory of the plan, whose size uneven rows would leave open.
func scatterShot(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	d.share("A")
	d.cut("A", schedule.D)
	if d.uneven("C") {
		a := d.buffer("A")
		a.Counts = hostir.Var(countChunk)
		a.Chunk = elements(schedule.Tensor{Axes: a.Tensor.Axes[2:]})
		d.counted("C", hostir.Var(countRank))
	}
	d.semaphores(ready, read)
	d.program.Body = d.ownShot("A")
	return nil
}

package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Variables of Buffer.Counts: the chunk of the rank's buffer whose count is meant.
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
// elements where the rows themselves are what differs. What New makes room for is all
// of the tensor, which one rank may have.
func (d *draft) counted(name string, counts hostir.Expr) {
	b := d.buffer(name)
	b.Counts = counts
	rows, columns := b.Tensor.Axes[0], b.Tensor.Axes[1:]
	if len(columns) == 2 {
		rows, columns = columns[1], nil
	}
	b.Chunk = hostir.Const(1)
	if len(columns) > 0 {
		b.Chunk = elements(schedule.Tensor{Axes: columns}, true)
	}
	b.Elements = elements(schedule.Tensor{Axes: append([]schedule.Axis{schedule.Dim(rows.Extent)}, columns...)}, true)
}

// scatterShot lets every rank sum its rows of all ranks' A, reading them over the link.
// It needs no memory of the plan, whose size uneven rows would leave open.
func scatterShot(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	d.program.Streams = []hostir.StreamSet{{Name: mainName}}
	d.share("A")
	d.cut("A", schedule.D)
	if d.uneven("C") {
		a := d.buffer("A")
		a.Counts = hostir.Var(countChunk)
		a.Chunk = elements(schedule.Tensor{Axes: a.Tensor.Axes[2:]}, true)
		d.counted("C", hostir.Var(countRank))
	}
	d.semaphores(ready, read)
	d.program.Body = append(list[hostir.Node](described(post(mainRef, ready, every), "peers may read A")), d.launch("shot",
		wait(mainRef, ready, every),
		described(sum(mainRef, whole("C"), each(remote("A", hostir.Var(ofRank), hostir.Rank))), "own rows, in the order of ranks"),
		post(mainRef, read, every))...)
	d.program.Body = append(d.program.Body, wait(mainRef, read, every))
	return nil
}

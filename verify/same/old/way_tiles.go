package old

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var tilings = []lowering{
	by(gather, func(d *draft, w schedule.Tiles) error {
		t, err := d.tiles(w, tilesOfGather, "schedule.Pull")
		if err != nil {
			return err
		}
		return gatherTiles(d, t)
	}),
	by(reduce, func(d *draft, w schedule.Tiles) error {
		t, err := d.tiles(w, tilesOfScatter, "schedule.Slots")
		if err != nil {
			return err
		}
		if w.Cluster > 1 {
			return d.refusal("Cluster", "leave it out",
				"sums wait for all blocks of the peers, and clusters of blocks may not all run at the same time")
		}
		return scatterTiles(d, t)
	}),
}

// Tiles by shape, measured on H200s: wide ones where they leave no multiprocessor idle.
var (
	tilesOfGather = []hostir.Tile{{Columns: 112, Cluster: 2}, {Columns: 128, Cluster: 1}, {Columns: 176, Cluster: 2},
		{Columns: 224, Cluster: 2, Together: true}}
	tilesOfScatter = []hostir.Tile{{Columns: 128, Cluster: 1}, {Columns: 144, Cluster: 1},
		{Columns: 256, Cluster: 1, Together: true}}
)

// tiles are the kernels that a way asks for, or the kernels for each shape. Where there are none, the hint is another
// way.
func (d *draft) tiles(w schedule.Tiles, byShape []hostir.Tile, another string) ([]hostir.Tile, error) {
	d.with.carriage = carriage{signals: true, fused: true}
	const most = 192 // columns of a tile that one warpgroup has registers for
	switch {
	case w.Columns != 0 && (w.Columns < 64 || w.Columns%16 != 0):
		return nil, d.refusal("Columns", "use 112, 128 or 224", "a tile has a multiple of 16 columns, from 64 on")
	case w.Columns > most && !w.Together:
		return nil, d.refusal("Columns", "use at most 192, or set Together",
			"one warpgroup has no registers for as many")
	case slices.Contains(d.schedule.Types, schedule.FP32):
		return nil, &schedule.FieldError{Path: d.at, Msg: "tiles are made of bf16 and fp16",
			Hint: "set Types to those, or use " + another}
	}
	if _, two := d.schedule.Tensor("B2"); two || d.form.kind != linear {
		return nil, &schedule.FieldError{Path: d.at, Msg: "tiles are those of one linear",
			Hint: "use " + another}
	}
	if w == (schedule.Tiles{}) {
		return byShape, nil
	}
	return []hostir.Tile{{Columns: cmp.Or(w.Columns, 128), Cluster: cmp.Or(w.Cluster, 1), Together: w.Together}}, nil
}

// units asks for rows of whole units of 16 bytes. Rows of an operand have the given number of elements.
func (d *draft) units(k hostir.Divide) {
	d.program.Checks = append(d.program.Checks, k, hostir.Divide{Extent: schedule.N, By: "8"})
}

// gatherTiles is one launch that pulls all shards and multiplies each when it is there.
func gatherTiles(d *draft, t []hostir.Tile) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	d.semaphores(ready, read)
	product := d.product(mainRef, hostir.Whole("C"), hostir.Whole("A"), "")
	if product.Do.(hostir.Product).Func != "" {
		return &schedule.FieldError{Path: d.at, Msg: "tiles apply no function", Hint: "use schedule.Pull"}
	}
	d.units(hostir.Divide{Extent: schedule.K, By: "8"})
	const index = "i"
	d.add(
		hostir.Post(mainRef, ready, every).Described("peers may read A"),
		hostir.Wait(mainRef, ready, every),
		hostir.Do(mainRef, hostir.Tiles{Tiles: t, To: hostir.Whole("C"), Gathered: hostir.Whole(g),
			Own: hostir.Whole("A"), B: hostir.Whole("B"), Bias: d.bias(),
			Shards: hostir.Whole("A").At(hostir.Ahead(hostir.Var(index))).Over(index, hostir.Const(1), hostir.Size)}),
		hostir.Post(mainRef, read, every),
		hostir.Wait(mainRef, read, every).Described("A may be overwritten afterwards"),
	)
	return nil
}

// scatterTiles is one launch that multiplies the peers' rows into their slots, then this rank's rows, and adds up.
func scatterTiles(d *draft, t []hostir.Tile) error {
	if err := d.reduceBuffers(slots); err != nil {
		return err
	}
	d.with.byBlocks = true // by groups of tiles
	d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	d.semaphores(free, arrived)
	product := d.rowsOf(mainRef, hostir.Chunk(slots, hostir.Rank), hostir.Rank)
	if product.Do.(hostir.Product).Func != "" {
		return &schedule.FieldError{Path: d.at, Msg: "tiles apply no function", Hint: "use schedule.Slots"}
	}
	if d.has("Added") {
		return &schedule.FieldError{Path: d.at, Msg: "tiles add no tensor to their sum", Hint: "use schedule.Slots"}
	}
	d.units(hostir.Divide{Extent: schedule.K, By: schedule.D, Times: 8})
	d.summed = true
	const index = "i"
	to := hostir.Remote(slots, hostir.Ahead(hostir.Var(index)), hostir.Rank)
	d.add(
		postFree(),
		hostir.Wait(mainRef, free, every),
		hostir.Do(mainRef, hostir.Scatter{Tiles: t, To: hostir.Whole("C"), Slots: hostir.Whole(slots),
			Peers: to.Over(index, hostir.Const(1), hostir.Size), Own: hostir.Chunk(slots, hostir.Rank),
			A: hostir.Whole("A"), B: hostir.Whole("B"), Bias: d.bias()}).
			Described("own rows last, and once, in the order of ranks"),
		hostir.Post(mainRef, arrived, every),
		hostir.Wait(mainRef, arrived, every))
	return nil
}

// bias is the bias of a linear, or no view.
func (d *draft) bias() hostir.View {
	if d.has("Bias") {
		return hostir.Whole("Bias")
	}
	return hostir.View{}
}

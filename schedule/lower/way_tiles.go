package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var tilings = []lowering{by(gather, func(d *draft, w schedule.Tiles) error {
	d.with.carriage = carriage{signals: true, fused: true}
	const most = 160 // columns of a tile that one warpgroup has registers for
	switch {
	case w.Columns != 0 && (w.Columns < 64 || w.Columns%16 != 0):
		return d.refusal("Columns", "use 112, 128 or 224", "a tile has a multiple of 16 columns, from 64 on")
	case w.Columns > most && !w.Together:
		return d.refusal("Columns", "use at most 160, or set Together", "one warpgroup has no registers for as many")
	}
	return gatherTiles(d, hostir.Tile{Columns: cmp.Or(w.Columns, 128), Cluster: cmp.Or(w.Cluster, 1),
		Together: w.Together})
})}

// gatherTiles is one launch that pulls all shards and multiplies each when it is there.
func gatherTiles(d *draft, t hostir.Tile) error {
	if slices.Contains(d.schedule.Types, schedule.FP32) {
		return &schedule.FieldError{Path: d.at, Msg: "tiles are made of bf16 and fp16",
			Hint: "set Types to those, or use schedule.Pull"}
	}
	if _, two := d.schedule.Tensor("B2"); two || d.form.kind != linear {
		return &schedule.FieldError{Path: d.at, Msg: "tiles are those of one linear", Hint: "use schedule.Pull"}
	}
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	d.program.Streams = []hostir.StreamSet{{Name: mainName}}
	d.semaphores(ready, read)
	product := d.product(mainRef, hostir.Whole("C"), hostir.Whole("A"), "")
	if product.Func != "" {
		return &schedule.FieldError{Path: d.at, Msg: "tiles apply no function", Hint: "use schedule.Pull"}
	}
	for _, extent := range []schedule.Extent{schedule.K, schedule.N} {
		d.program.Checks = append(d.program.Checks, hostir.Divide{Extent: extent, By: "8"}) // rows of 16 bytes
	}
	const index = "i"
	d.add(
		hostir.Post(mainRef, ready, every).Described("peers may read A"),
		hostir.Wait(mainRef, ready, every),
		hostir.TilesOf(mainRef, t, hostir.Whole("C"), hostir.Whole(g), hostir.Whole("A"),
			hostir.Whole("A").At(hostir.Ahead(hostir.Var(index))).Over(index, hostir.Const(1), hostir.Size),
			product.Reads[1], product.Reads[2:]...),
		hostir.Post(mainRef, read, every),
		hostir.Wait(mainRef, read, every).Described("A may be overwritten afterwards"),
	)
	return nil
}

package lower

import "ovgen/schedule/hostir"

// gatherOnce pulls balanced shards, and then multiplies all rows at once.
func gatherOnce(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	d.semaphores(ready, read)
	from := hostir.Var("from")
	d.add(hostir.Post(mainRef, ready, every).Described("peers may read A"),
		d.fork(copySet),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(copyRef, ready, from),
			hostir.Set(copyRef, hostir.Chunk(g, from), hostir.Whole("A").At(from))),
		hostir.Set(mainRef, hostir.Chunk(g, hostir.Rank), hostir.Whole("A")),
		hostir.After(mainRef, copyRef))
	d.add(d.multiplied(mainRef, allParts("C"), allParts(g))...)
	d.add(hostir.Post(copyRef, read, every).Described("A may be overwritten afterwards"),
		hostir.Wait(copyRef, read, every),
		join(copySet))
	return nil
}

package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// bareGatherShot reads all shards by one kernel, straight into C.
func bareGatherShot(d *draft) error {
	if d.uneven("A") {
		return &schedule.FieldError{Path: d.at(), Msg: "one kernel reads shards of one size only",
			Hint: "use schedule.Get"}
	}
	if err := d.tensors(); err != nil {
		return err
	}
	d.cut("C", schedule.D)
	d.add(d.collect("C")...)
	return nil
}

// collect copies every rank's A, in the order of ranks, to a buffer that they fill.
func (d *draft) collect(to string) []hostir.Node {
	d.share("A")
	d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	d.semaphores(ready, read)
	return []hostir.Node{
		hostir.Post(mainRef, ready, every).Described("peers may read A"),
		hostir.Wait(mainRef, ready, every),
		hostir.Collect(mainRef, hostir.Whole(to), hostir.Whole("A").At(hostir.Var(hostir.RankIndex)).EachRank()),
		hostir.Post(mainRef, read, every).Described("A may be overwritten afterwards"),
		hostir.Wait(mainRef, read, every),
	}
}

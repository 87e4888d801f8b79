package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// workStreams are the compute streams: one a step, or a number taken in turn.
func workStreams(d *draft) hostir.StreamSet {
	set := hostir.StreamSet{Name: workName, First: hostir.Const(0), Count: hostir.Size}
	set.Falling = d.schedule.Streams.Priority == schedule.Falling
	if n := d.schedule.Streams.Compute; n > 0 {
		d.program.Constants[poolName] = int64(n)
		set.Count = hostir.Var(poolName)
	} else if d.schedule.Pipeline.OwnShard == schedule.InPlace {
		set.First = hostir.Const(1)
	}
	return set
}

// poolRef is the compute stream of step i.
func poolRef(d *draft) hostir.StreamRef {
	return hostir.StreamAt(workName, poolIndex(d, step))
}

// poolIndex is the number of a step's compute stream.
func poolIndex(d *draft, step hostir.Expr) hostir.Expr {
	if d.schedule.Streams.Compute > 0 {
		return hostir.Mod(step, hostir.Var(poolName))
	}
	return step
}

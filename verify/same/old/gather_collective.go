package old

import (
	"ovgen/schedule/hostir"
)

// gatherCollective gathers a chunk of every shard by one collective a step, and
// multiplies the chunks as one: nvFuser's collective pipeline. All ranks meet before
// the first chunk and after the last, so that the chunks need no signals of their own.
func gatherCollective(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	d.semaphores(ready, read)
	set, work := workStreams(d), poolRef(d)
	if d.with.compute == 0 {
		set.First, set.Count = hostir.Const(0), hostir.Var(chunksName)
	}
	d.add(hostir.Post(mainRef, ready, every), hostir.Wait(mainRef, ready, every))
	all := func(buffer string) hostir.View {
		return hostir.Chunks(buffer, hostir.Mul(step, hostir.Size), hostir.Size)
	}
	// gathering copies this rank's part of the chunk, and pulls every peer's, r+1 first.
	gathering := func(s hostir.StreamRef) []hostir.Node {
		of := func(rank hostir.Expr) hostir.View {
			return hostir.Chunk(g, hostir.Add(hostir.Mul(step, hostir.Size), rank))
		}
		from := hostir.Ahead(hostir.Var(hostir.RankIndex))
		return []hostir.Node{
			hostir.Set(s, of(hostir.Rank), hostir.Chunk("A", step)),
			hostir.Loop(hostir.RankIndex, one, hostir.Size,
				hostir.Set(s, of(from), hostir.Remote("A", from, step)))}
	}
	multiplying := d.multiplied(work, all("C"), all(g))
	if !d.with.withStep {
		d.add(d.fork(copySet, set),
			chunks("", append(gathering(copyRef), hostir.After(work, copyRef))...),
			chunks("", multiplying...),
			join(copySet, set))
	} else {
		d.fork(set)
		joined := hostir.After(mainRef, work)
		joined.Origin = joinAt
		started := hostir.Synchronize{Origin: forkAt, Streams: []hostir.StreamRef{work},
			On: []hostir.StreamRef{mainRef}}
		d.add(chunks("start: its own loop", started),
			chunks("", append(append(gathering(work), multiplying...), joined)...))
	}
	d.add(hostir.Post(mainRef, read, every), hostir.Wait(mainRef, read, every))
	return nil
}

// chunks is the loop over the steps of the stream axis.
func chunks(remark string, body ...hostir.Node) hostir.For {
	l := hostir.Loop(stepIndex, hostir.Const(0), hostir.Var(chunksName), body...)
	l.Remark = remark
	return l
}

package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// gatherCollective gathers a chunk of every shard by one collective a step, and
// multiplies the chunks as one: nvFuser's collective pipeline. All ranks meet ahead of
// the first chunk and behind the last, so that the chunks need no signals of their own.
func gatherCollective(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	d.semaphore(ready, count(1))
	d.semaphore(read, count(1))
	set, work := workStreams(d), poolRef(d)
	if d.schedule.Streams.Compute == 0 {
		set.First, set.Count = hostir.Const(0), hostir.Var(chunksName)
	}
	d.add(hostir.GetCurrentStream{Name: mainName}, hostir.Allocate{Buffer: g}, hostir.Allocate{Buffer: "C"},
		post(mainRef, ready, every), wait(mainRef, ready, every))
	all := func(buffer, alias string) hostir.View {
		return hostir.View{Buffer: buffer, Index: hostir.Mul(step, hostir.Size), Count: hostir.Size, Alias: alias}
	}
	a := hostir.View{Buffer: "A", Index: step, Alias: "a"}
	gathering := func(s hostir.StreamRef) []hostir.Node {
		return list[hostir.Node](hostir.Select{Name: "a", Of: a}, hostir.Select{Name: "g", Of: all(g, "g")},
			hostir.Communication{Origin: hostir.Origin{Field: "Pipeline.Kind"}, Stream: s, Kind: "Allgather", In: a, Out: all(g, "g")},
			hostir.Wait{Stream: s, Comm: &hostir.P2PCommunication{Protocol: schedule.Get}})
	}
	multiplying := append(list[hostir.Node](hostir.Select{Name: "c", Of: all("C", "c")}), d.multiplied(work, all("C", "c"), all(g, "g"))...)
	if d.schedule.Streams.Copy == schedule.Apart {
		d.add(d.fork(copySet, set),
			chunks("", append(gathering(copyRef), after(work, copyRef))...),
			chunks("", multiplying...),
			join(copySet, set))
	} else {
		d.fork(set)
		d.add(chunks("start: its own loop", hostir.Synchronize{Origin: forkAt, Streams: list(work), On: list(mainRef)}),
			chunks("", append(append(gathering(work), multiplying...),
				hostir.Synchronize{Origin: joinAt, Streams: list(mainRef), On: list(work)})...))
	}
	d.add(post(mainRef, read, every), wait(mainRef, read, every))
	return nil
}

// chunks is the loop over the steps of a collective pipeline.
func chunks(remark string, body ...hostir.Node) hostir.For {
	return hostir.For{Origin: hostir.Origin{Remark: remark}, Index: stepIndex, From: hostir.Const(0), To: hostir.Var(chunksName), Body: body}
}

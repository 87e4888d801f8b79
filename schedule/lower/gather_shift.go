package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// gatherShift is a loop over the ranks' shards: step i takes the shard of rank r+i,
// by an exchange or, at i = 0, by a local copy, and multiplies it.
func gatherShift(d *draft) error {
	gathered, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	i := hostir.Var(stepIndex)
	from, to := hostir.Var("from"), hostir.Var("to")
	g := hostir.View{Buffer: gathered, Index: from, Alias: "g"}
	send := &hostir.P2PCommunication{Send: true, Peer: to, Buffer: whole("A"), Protocol: schedule.Get, Ready: ready, Done: read}
	recv := &hostir.P2PCommunication{Peer: from, Buffer: g, Remote: hostir.View{Buffer: "A", Peer: from}, Protocol: schedule.Get, Ready: ready, Done: read}
	body := []hostir.Node{
		hostir.Let{Name: "from", Value: hostir.Mod(hostir.Add(hostir.Rank, i), hostir.Size)},
		hostir.Let{Name: "to", Value: hostir.Mod(hostir.Sub(hostir.Add(hostir.Size, hostir.Rank), i), hostir.Size)},
		hostir.Select{Name: "g", Of: slice(gathered, from)},
		hostir.If{X: to, Y: hostir.Rank,
			Then: []hostir.Node{hostir.Set{Origin: hostir.Origin{Remark: "i = 0: the own shard", Field: "Pipeline.OwnShard"},
				Dst: g, Src: slice("A", hostir.Const(0))}},
			Else: []hostir.Node{
				hostir.ShareMemHandles{Origin: hostir.Origin{Remark: "a cache hit after the first run", Field: "Streams.Handles"}, Send: send, Recv: recv},
				hostir.Post{Origin: hostir.Origin{Remark: "get: send first, then recv", Field: "Pipeline.Protocol"}, Comm: send},
				hostir.Post{Origin: hostir.Origin{Field: "Pipeline.Protocol"}, Comm: recv},
				hostir.Wait{Origin: hostir.Origin{Field: "Pipeline.Protocol"}, Comm: send},
				hostir.Wait{Origin: hostir.Origin{Field: "Pipeline.Protocol"}, Comm: recv},
			}},
	}
	body = append(body, products(d.schedule, hostir.Origin{Field: "Op"}, slice("C", from), g)...)
	d.program.Semaphores = []hostir.Semaphore{{Name: ready}, {Name: read}}
	d.program.Body = []hostir.Node{
		hostir.Allocate{Buffer: gathered},
		hostir.Allocate{Buffer: "C"},
		hostir.GetCurrentStream{Name: mainName},
		hostir.For{Index: stepIndex, From: hostir.Const(0), To: hostir.Size, Body: body},
	}
	return nil
}

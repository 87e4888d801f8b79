package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// signals takes what the exchanges say to the peers out of the loop: ready to all
// in one batch ahead of everything, read to all in one batch at the end, where the
// own shard's readers are waited for too. Posting ahead of the forks also makes the
// program serial-safe: no wait needs an operation of its own rank that comes later.
func signals(d *draft) error {
	if d.placed || d.schedule.Pipeline.Signals != schedule.Batched {
		return nil
	}
	d.loop(func(l hostir.For) []hostir.Node {
		l.Body = hostir.Map(l.Body, d.batched)
		return []hostir.Node{l}
	})
	field := "Pipeline.Signals"
	d.program.Body = append([]hostir.Node{
		hostir.Post{Origin: hostir.Origin{Remark: "one batch, before the forks", Field: field}, Semaphore: ready},
	}, d.program.Body...)
	wait := hostir.Wait{Origin: hostir.Origin{Field: field}, Semaphore: read}
	overwrite := hostir.Origin{Remark: "A may be overwritten afterwards", Field: field}
	if d.schedule.Transport.Steps == schedule.Fused {
		wait.Origin = overwrite // the kernels have posted
	} else {
		d.add(hostir.Post{Origin: overwrite, Semaphore: read})
	}
	d.add(wait)
	return nil
}

// batched keeps of an exchange what needs its step: the wait for the peer's shard and
// the copy; and the post behind it, where one kernel does all three.
func (d *draft) batched(n hostir.Node) []hostir.Node {
	switch n := n.(type) {
	case hostir.Post:
		if n.Comm == nil || n.Comm.Send {
			return nil
		}
		n.Remark = ""
		if d.schedule.Transport.Steps == schedule.Fused {
			return list[hostir.Node](hostir.LaunchKernel{Origin: hostir.Origin{Field: "Transport.Steps"}, Name: getKernel, Body: hostir.Expand(n)})
		}
		return hostir.Expand(n)[:2]
	case hostir.Wait:
		if n.Comm != nil {
			return nil
		}
	}
	return []hostir.Node{n}
}

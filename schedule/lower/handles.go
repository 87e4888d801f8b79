package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// handles moves the exchange of IPC handles out of the loop: A and the arena, which
// holds the gathered tensor, are shared once, ahead of the first run.
func handles(d *draft) error {
	if d.schedule.Streams.Handles != schedule.Hoisted {
		return nil
	}
	d.program.Body = hostir.Map(d.program.Body, func(n hostir.Node) []hostir.Node {
		switch n.(type) {
		case hostir.ShareMemHandles, hostir.Allocate:
			return nil
		}
		return []hostir.Node{n}
	})
	d.program.Setup = append(d.program.Setup,
		hostir.ShareMemHandles{Origin: hostir.Origin{Remark: "once", Field: "Streams.Handles"}, Buffers: []string{d.comm.operand, "arena"}})
	return nil
}

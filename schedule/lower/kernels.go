package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// kernels marks the copies, posts and waits that emitted kernels carry out. Copies
// within a rank's own memory stay with the copy engine.
func kernels(d *draft) error {
	copies := d.schedule.Transport.Copy == schedule.CopyKernel
	words := d.schedule.Transport.Signal == schedule.SignalKernel
	d.program.Body = hostir.Map(d.program.Body, func(n hostir.Node) []hostir.Node {
		switch n := n.(type) {
		case hostir.Set:
			n.Kernel = copies && (!n.Src.Peer.IsZero() || !n.Dst.Peer.IsZero())
			return []hostir.Node{n}
		case hostir.Post:
			n.Kernel = words
			if n.Comm != nil && copies {
				comm := *n.Comm
				comm.CopyKernel = true
				n.Comm = &comm
			}
			return []hostir.Node{n}
		case hostir.Wait:
			n.Kernel = words
			return []hostir.Node{n}
		case hostir.Communication:
			n.Kernel, n.CopyKernel = words, copies
			return []hostir.Node{n}
		}
		return []hostir.Node{n}
	})
	return nil
}

package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// kernels marks the copies, posts and waits that emitted kernels carry out. Copies
// within a rank's own memory stay with the copy engine.
func kernels(d *draft) error {
	copies := d.schedule.Transport.Copy == schedule.CopyKernel
	words := d.schedule.Transport.Signal == schedule.SignalKernel
	fused := false // ranks copy in a kernel that does more
	d.program.Body = hostir.Map(d.program.Body, func(n hostir.Node) []hostir.Node {
		switch n := n.(type) {
		case hostir.Set:
			remote := !n.Src.Peer.IsZero() || !n.Dst.Peer.IsZero()
			n.Kernel = copies && remote
			return []hostir.Node{n}
		case hostir.Post:
			n.Kernel = words
			if n.Comm != nil {
				comm := *n.Comm
				comm.CopyKernel = copies
				n.Comm = &comm
			}
			return []hostir.Node{n}
		case hostir.Wait:
			n.Kernel = words
			return []hostir.Node{n}
		case hostir.Communication:
			n.Kernel, n.CopyKernel = words, copies
			return []hostir.Node{n}
		case hostir.LaunchKernel:
			fused = fused || slices.ContainsFunc(n.Body, copied)
		}
		return []hostir.Node{n}
	})
	switch {
	case fused && !copies:
		return &schedule.FieldError{Path: "Transport.Steps", Msg: "only kernels can be fused, and ranks copy here", Hint: "set Copy to schedule.CopyKernel"}
	case copies && !between(d.program):
		return &schedule.FieldError{Path: "Transport.Copy", Msg: "no rank copies from or to another one here", Hint: "leave it out"}
	}
	return nil
}

// copied says that a node is a copy.
func copied(n hostir.Node) bool {
	_, ok := n.(hostir.Set)
	return ok
}

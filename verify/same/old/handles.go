package old

import (
	"ovgen/schedule/hostir"
)

// handles moves the exchange of IPC handles out of the program: the caller's
// memory that peers read, and the arena, which has all else, are shared once, before the first run.
func handles(d *draft) error {
	if d.with.handlesInLoop {
		return nil
	}
	d.program.Body = hostir.Map(d.program.Body, func(n hostir.Node) []hostir.Node {
		if _, ok := n.(hostir.Share); ok {
			return nil
		}
		return []hostir.Node{n}
	})
	var shared []string
	for _, b := range d.program.Buffers {
		if b.Shared {
			shared = append(shared, b.Name)
		}
	}
	if len(shared)+len(d.program.Semaphores) == 0 {
		return nil // no rank reaches another's memory
	}
	d.program.Setup = append(d.program.Setup,
		hostir.Share{Origin: hostir.Origin{Remark: "once", Field: "HandlesInLoop"}, Buffers: append(shared, "arena")})
	return nil
}

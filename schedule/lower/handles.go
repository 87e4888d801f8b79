package lower

import (
	"ovgen/schedule/hostir"
)

// handles exchanges IPC handles once, before the first run, unless a way exchanges them in each run: those of the
// caller's memory that peers read, and of the arena, which has all else.
func handles(p *hostir.Program) error {
	inRun := false
	hostir.Walk(p.Body, func(n hostir.Node) {
		_, shares := n.(hostir.Share)
		inRun = inRun || shares
	})
	if inRun {
		return nil
	}
	var shared []string
	for _, b := range p.Buffers {
		if b.Shared {
			shared = append(shared, b.Name)
		}
	}
	if len(shared)+len(p.Semaphores) == 0 {
		return nil // no rank reaches another's memory
	}
	p.Setup = append(p.Setup,
		hostir.Share{Origin: hostir.Origin{Remark: "once", Field: "HandlesInLoop"}, Buffers: append(shared, "arena")})
	return nil
}

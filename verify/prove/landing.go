package prove

import (
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// half is which of a buffer's halves, or of a semaphore's words, a run uses; 0 where there is one.
func (m *Model) half(name string, run int32) int32 {
	if n := m.Halves[name]; n > 1 {
		return run % int32(n)
	}
	return 0
}

// landing says that packets land in a buffer. It is the plan's alone, as words are: no other plan writes it.
func (m *Model) landing(name string) bool { return m.Halves[name] > 0 }

// leastRuns is how many runs stand for all: one more than the period of the buffer that has the longest.
func (m *Model) leastRuns() int {
	least := 2
	for _, halves := range m.Halves {
		least = max(least, halves+1)
	}
	return least
}

// landings: only kernels that send and take what lands use it and its flags: they know the form.
func (p *proof) landings() *Counterexample {
	for r, list := range p.lists {
		for i, o := range list {
			if at, found := p.lands(o); found && (!hostir.Pushes(o.Kernel) || !o.ByBlocks) {
				return p.against(Blocks, p.find(r, i), -1, fmt.Sprintf("%s is of what lands, and this is no "+
					"kernel that sends it", at), "let kernels of packets alone use it")
			}
		}
	}
	return nil
}

// lands is a place in a landing or of a flag that an operation uses.
func (p *proof) lands(o ops.Op) (at ops.Loc, found bool) {
	for _, at := range places(o) {
		if p.model.landing(at.Buffer) {
			return at, true
		}
	}
	return ops.Loc{}, false
}

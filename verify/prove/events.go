package prove

import (
	"fmt"

	"ovgen/verify/ops"
)

// events: a wait for an event names one that was recorded before it in the same run. CUDA
// lets a wait for an event of an earlier run pass, and refuses it under capture.
func (p *proof) events() *Counterexample {
	for r, list := range p.lists {
		recorded := map[int]bool{}
		for i, o := range list {
			switch {
			case o.Kind == ops.Record:
				recorded[o.Event] = true
			case o.Kind == ops.WaitEvent && !recorded[o.Event]:
				c := p.against(Events, p.find(r, i), -1,
					fmt.Sprintf("nothing records event %d before this wait in the run", o.Event),
					"record it on the stream to wait for, before the wait")
				c.Missing = "the record of the event"
				return c
			}
		}
	}
	return nil
}

// find is the first node of operation i of a rank in the first run.
func (g *graph) find(rank, i int) int32 {
	for n, x := range g.nodes {
		if x.run == 0 && x.kind < caller && int(x.rank) == rank && int(x.op) == i {
			return int32(n)
		}
	}
	return -1
}

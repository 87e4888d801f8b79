package prove

import (
	"fmt"

	"ovgen/schedule/hostir"
)

// remote reports whether peers may use the buffer.
func (b Buffer) remote() bool { return b.Shared || b.Owner == hostir.Plan }

// remoteWrites: a rank writes only the plan's memory on a peer, and only outputs of its own
// caller. So a rank that an abort released over garbage can't spoil a result that a peer
// already has.
func (p *proof) remoteWrites() *Counterexample {
	for r, list := range p.lists {
		for i, o := range list {
			for _, u := range o.Uses {
				b, ok := p.model.buffer(u.At.Buffer)
				if !ok || !u.Write || b.Owner == hostir.Plan {
					continue
				}
				if u.At.Rank != r {
					return p.against(Remote, p.find(r, i), -1, fmt.Sprintf("rank %d writes %s of rank %d's caller",
						r, b.Name, u.At.Rank),
						"write into memory that the plan owns, and let the owner copy")
				}
				if !b.output(r, u.At.Offset, u.At.Offset+u.Bytes) {
					return p.against(Remote, p.find(r, i), -1,
						fmt.Sprintf("%s is an input of the caller, and it is written", b.Name),
						"write into an output or into memory that the plan owns")
				}
			}
		}
	}
	return nil
}

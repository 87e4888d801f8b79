package prove

import (
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// remote reports whether peers may use the buffer.
func (b Buffer) remote() bool { return b.Shared || b.Owner == hostir.Plan }

// remoteWrites: a rank uses only memory of its host. It writes only the plan's memory on a peer, and of its caller's
// memory only outputs. So a rank that an abort released over garbage can't spoil a result that a peer already has.
func (p *proof) remoteWrites() *Counterexample {
	for r, list := range p.lists {
		for i, o := range list {
			if away, ok := p.away(r, o); ok {
				return p.against(Remote, p.find(r, i), -1,
					fmt.Sprintf("rank %d is on another host than rank %d", away, r),
					"let an exchange bring it to this rank's number there, and a peer of that host copy it")
			}
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

// away finds a rank on another host whose words or memory an operation uses.
func (p *proof) away(r int, o ops.Op) (rank int, found bool) {
	each := len(p.lists) / max(p.model.Hosts, 1)
	for _, w := range o.Words {
		if w.At.Rank/each != r/each {
			return w.At.Rank, true
		}
	}
	for _, u := range o.Uses {
		if u.At.Rank/each != r/each {
			return u.At.Rank, true
		}
	}
	return 0, false
}

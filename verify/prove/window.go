package prove

import "fmt"

// window: a rank uses a peer's buffers only after the peer's start of that run and before its end. Hence no peer
// touches the caller's memory between runs, and plans of one group may share staging. Words and landings are never
// shared; alternation, rest and races order their uses instead.
func (p *proof) window() *Counterexample {
	var pairs []pair
	for n, x := range p.nodes {
		o := p.operation(int32(n))
		if x.kind != whole {
			continue
		}
		for _, u := range o.Uses {
			if u.At.Rank != int(x.rank) && !p.model.landing(u.At.Buffer) {
				pairs = append(pairs, pair{p.start[x.run][u.At.Rank], int32(n)},
					pair{int32(n), p.end[x.run][u.At.Rank]})
			}
		}
	}
	wrong, found := p.unordered(pairs)
	if !found {
		return nil
	}
	if o := p.operation(wrong.from); p.nodes[wrong.from].kind == whole && len(o.Uses) > 0 {
		return p.against(Window, wrong.from, wrong.to,
			fmt.Sprintf("rank %d may end its run while rank %d still uses its memory", p.nodes[wrong.to].rank,
				p.nodes[wrong.from].rank),
			"acknowledge after this, and let the owner wait for the acknowledgement in the same run "+
				"(Post read, Wait read)")
	}
	return p.against(Window, wrong.from, wrong.to,
		fmt.Sprintf("rank %d may use rank %d's memory before that rank has started the run", p.nodes[wrong.to].rank,
			p.nodes[wrong.from].rank),
		"let the owner post that it has started, and wait for that before this (Post ready, Wait ready)")
}

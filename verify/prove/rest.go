package prove

import "fmt"

// resets: each wait takes its word back to 0 in its own batch or kernel.
func (p *proof) resets() *Counterexample {
	for r, list := range p.lists {
		for i, o := range list {
			for j, w := range o.Words {
				if w.Write {
					continue
				}
				if j+1 == len(o.Words) || o.Words[j+1].At != w.At || !o.Words[j+1].Write || o.Words[j+1].Value != 0 {
					return p.against(Rest, p.find(r, i), -1,
						fmt.Sprintf("the wait for %s does not take the word back to 0: the next run would pass on it",
							p.wordName(w.At)),
						"write 0 in the batch of the wait")
				}
			}
		}
	}
	return nil
}

// rest: each post is taken in its own run, so every word is 0 when all ranks have ended
// a run.
func (p *proof) rest() *Counterexample {
	for _, seen := range p.seen {
		for i, n := range seen {
			if !p.isPost(n) {
				continue
			}
			if i+1 == len(seen) || p.nodes[seen[i+1]].run != p.nodes[n].run {
				name := p.wordName(p.words[p.id[n]])
				return p.lacks(Rest, n, fmt.Sprintf("no wait of the run takes this post: %s is 1 when the "+
					"run has ended", name),
					"a wait for "+name, "wait for it in the same run, or leave the post out")
			}
		}
	}
	return nil
}

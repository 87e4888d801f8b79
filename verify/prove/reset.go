package prove

import "fmt"

// alternation: the reset of each wait comes before the word's next post, and before the next wait for the word may
// begin. By induction over the time of any execution, a wait can then be ended only by the post with which matching
// paired it.
func (p *proof) alternation() *Counterexample {
	var posts, waits []pair
	next := map[pair]int32{}
	for _, seen := range p.seen {
		for i, n := range seen {
			switch {
			case i > 0 && p.isPost(n):
				posts = append(posts, pair{seen[i-1], n})
			case i > 2 && p.isWait(n):
				w := pair{seen[i-2], p.entry(n)}
				waits = append(waits, w)
				next[w] = n
			}
		}
	}
	if w, found := p.unordered(waits); found {
		wait := p.own(w.from)[0]
		return p.against(Matching, wait, next[w],
			fmt.Sprintf("two waits for %s are not ordered: either may take the other's post",
				p.wordName(p.words[p.id[wait]])),
			"a word has one waiter at a time: give each stream a semaphore of its own")
	}
	if w, found := p.unordered(posts); found {
		return p.against(Reset, w.from, w.to,
			fmt.Sprintf("%s may be posted before the wait before has reset it: the post is lost, and a later wait "+
				"hangs", p.wordName(p.words[p.id[w.to]])),
			"let the waiter acknowledge after its wait, and wait for that before this post")
	}
	return nil
}

// entry is a direct predecessor of a wait, apart from its post: once it has ended, the wait may end.
func (g *graph) entry(wait int32) int32 {
	if own := g.own(wait); len(own) > 0 {
		return own[0]
	}
	return wait
}

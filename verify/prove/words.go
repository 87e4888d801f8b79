package prove

import "fmt"

// matching: as followed, each word goes through post, wait, reset, post, ... , with one
// rank posting. It pairs each wait with its post; alternation then shows that every
// execution pairs them so.
func (p *proof) matching() *Counterexample {
	for id, seen := range p.seen {
		for i, n := range seen {
			if c := p.turn(seen, i); c != nil {
				return c
			}
			if p.isWait(n) {
				p.match[n] = seen[i-1]
			}
		}
		if c := p.posters(p.seen[id]); c != nil {
			return c
		}
	}
	p.pair()
	return nil
}

// turn checks that what happened to a word at i was its turn.
func (p *proof) turn(seen []int32, i int) *Counterexample {
	n := seen[i]
	name := wordName(p.words[p.id[n]])
	last := int32(-1)
	if i > 0 {
		last = seen[i-1]
	}
	switch {
	case p.isPost(n) && last >= 0 && p.isPost(last):
		return p.against(Reset, last, n, fmt.Sprintf("%s is posted again before a wait has taken the post before: one post is lost", name),
			"wait for the peer's acknowledgement ahead of the second post, or give the two a word each")
	case p.isPost(n) && last >= 0 && p.isWait(last):
		return p.against(Reset, last, n, fmt.Sprintf("%s is posted between a wait and its reset: the reset wipes the post out", name),
			"wait for the peer's acknowledgement ahead of the post")
	case p.isWait(n) && (last < 0 || !p.isPost(last)):
		return p.against(Matching, last, n, fmt.Sprintf("two waits for %s pass on one post", name), "give the two a semaphore each")
	}
	return nil
}

// posters checks that one rank posts a word.
func (p *proof) posters(seen []int32) *Counterexample {
	first := int32(-1)
	for _, n := range seen {
		if !p.isPost(n) {
			continue
		}
		if first < 0 {
			first = n
		}
		if p.nodes[n].rank != p.nodes[first].rank {
			return p.against(Matching, first, n, fmt.Sprintf("ranks %d and %d both post %s", p.nodes[first].rank, p.nodes[n].rank, wordName(p.words[p.id[n]])),
				"give each poster its own word: a semaphore has one for each peer")
		}
	}
	return nil
}

// alternation: the reset of each wait comes before the word's next post. By induction
// over the time of any execution, no wait can then end but by the post it was followed
// with.
func (p *proof) alternation() *Counterexample {
	var pairs []pair
	for _, seen := range p.seen {
		for i, n := range seen {
			if i > 0 && p.isPost(n) {
				pairs = append(pairs, pair{seen[i-1], n})
			}
		}
	}
	wrong, found := p.unordered(pairs)
	if !found {
		return nil
	}
	return p.explainTurn(wrong)
}

// explainTurn finds what is at the root of a post that no reset comes before: two
// streams that share a word, or no acknowledgement.
func (p *proof) explainTurn(wrong pair) *Counterexample {
	name := wordName(p.words[p.id[wrong.to]])
	seen := p.seen[p.id[wrong.to]]
	var wait, next, post int32 = -1, -1, -1 // around the reset and the post behind it
	for i, n := range seen {
		if n == wrong.to {
			post, wait = seen[i-3], seen[i-2]
			if i+1 < len(seen) {
				next = seen[i+1]
			}
		}
	}
	if next >= 0 {
		if _, found := p.unordered([]pair{{wait, p.entry(next)}}); found && p.nodes[wait].run == p.nodes[next].run {
			return p.against(Matching, wait, next, fmt.Sprintf("two waits for %s are not ordered: either may take the other's post", name),
				"a word has one waiter at a time: give each stream a semaphore of its own")
		}
	}
	if _, found := p.unordered([]pair{{post, wrong.to}}); found {
		return p.against(Matching, post, wrong.to, fmt.Sprintf("two posts of %s are not ordered", name), "a word has one poster at a time: give each stream a semaphore of its own")
	}
	return p.against(Reset, wrong.from, wrong.to, fmt.Sprintf("%s may be posted before the wait before has reset it: the post is lost, and a later wait hangs", name),
		"let the waiter acknowledge behind its wait, and wait for that ahead of this post")
}

// entry is what comes directly before a wait besides its post: from there on it may end.
func (g *graph) entry(wait int32) int32 {
	for _, b := range g.before(wait) {
		if b != g.match[wait] {
			return b
		}
	}
	return wait
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
				c := p.against(Rest, n, -1, fmt.Sprintf("no wait of the run takes this post: %s is 1 when the run has ended", wordName(p.words[p.id[n]])),
					"wait for it in the same run, or leave the post out")
				c.Missing = "a wait for " + wordName(p.words[p.id[n]])
				return c
			}
		}
	}
	return nil
}

package prove

import "fmt"

// balance: in a run, a word is posted and awaited equally often, and one rank alone posts it. Only the rank that has
// the word in its memory awaits it: signals checks that.
func (p *proof) balance() *Counterexample {
	type count struct{ posts, waits, post, wait int32 }
	counts := make([]count, len(p.words))
	for n, x := range p.nodes {
		id := p.id[n]
		switch n := int32(n); {
		case x.run > 0:
		case p.isWait(n):
			counts[id].waits++
			counts[id].wait = n
		case p.isPost(n):
			if c := &counts[id]; c.posts > 0 && p.nodes[c.post].rank != x.rank {
				return p.against(Matching, c.post, n, fmt.Sprintf("ranks %d and %d both post %s", p.nodes[c.post].rank,
					x.rank, p.wordName(p.words[id])),
					"give each poster its own word: a semaphore has one for each peer")
			}
			counts[id].posts++
			counts[id].post = n
		}
	}
	for id, c := range counts {
		problem := fmt.Sprintf("in a run %s is posted %d times and awaited %d times",
			p.wordName(p.words[id]), c.posts, c.waits)
		if c.posts > c.waits {
			return p.lacks(Rest, c.post, problem+": it is 1 when the run has ended",
				"a wait for "+p.wordName(p.words[id]), "wait for it in the same run, or leave the post out")
		}
		if c.posts < c.waits {
			return p.lacks(Matching, c.wait, problem, "a post of "+p.wordName(p.words[id]),
				"post it from the rank that the wait is for, or leave the wait out")
		}
	}
	return nil
}

// lacks is the counterexample of an operation that needs another one, which is missing.
func (p *proof) lacks(is Property, n int32, problem, missing, do string) *Counterexample {
	c := p.against(is, n, -1, problem, do)
	c.Missing = missing
	return c
}

// matching follows the runs once. Each word goes through post, wait, reset, post, ...; this pairs each wait with its
// post. Alternation then shows that every execution has the same pairs.
func (p *proof) matching() *Counterexample {
	p.observed = p.follow()
	for _, seen := range p.seen {
		for i, n := range seen {
			if c := p.turn(seen, i); c != nil {
				return c
			}
			if p.isWait(n) {
				p.match[n] = seen[i-1]
			}
		}
	}
	p.pair()
	return nil
}

// turn checks that event i of a word follows post, wait, reset, in that order.
func (p *proof) turn(seen []int32, i int) *Counterexample {
	n := seen[i]
	name := p.wordName(p.words[p.id[n]])
	last := int32(-1)
	if i > 0 {
		last = seen[i-1]
	}
	switch {
	case p.isPost(n) && last >= 0 && p.isPost(last):
		return p.against(Reset, last, n, fmt.Sprintf("%s is posted again before a wait has taken the post before: "+
			"one post is lost", name),
			"wait for the peer's acknowledgement before the second post, or give the two a word each")
	case p.isPost(n) && last >= 0 && p.isWait(last):
		return p.against(Reset, last, n, fmt.Sprintf("%s is posted between a wait and its reset: the reset "+
			"wipes the post out", name),
			"wait for the peer's acknowledgement before the post")
	case p.isWait(n) && (last < 0 || !p.isPost(last)):
		return p.against(Matching, last, n, fmt.Sprintf("two waits for %s pass on one post", name),
			"give the two a semaphore each")
	}
	return nil
}

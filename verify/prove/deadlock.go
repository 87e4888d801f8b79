package prove

import "fmt"

// deadlock: the one execution that follow made comes to an end. That no other gets
// stuck either follows once alternation is shown: see the package comment.
func (p *proof) deadlock() *Counterexample {
	if p.observed = p.follow(); p.done == len(p.nodes) {
		return nil
	}
	var circle []int32
	seen := map[int32]int{}
	wait := p.stuck[0]
	for {
		if i, ok := seen[wait]; ok {
			circle = circle[i:]
			break
		}
		seen[wait] = len(circle)
		post := p.pending(wait)
		if post < 0 {
			return p.unposted(wait)
		}
		circle = append(circle, wait, post)
		wait = p.heldBy(post)
	}
	c := p.against(Deadlock, circle[0], -1, fmt.Sprintf("%d waits hold each other up: each needs a post that comes behind the next", len(circle)/2),
		"post ahead of the wait that holds the post up, or put the two on streams that do not wait for each other")
	c.ToFirst = p.places(circle)
	c.Missing = "a way for one of these posts ahead of the wait that follows it here"
	c.nodes = circle
	return c
}

// unposted is the verdict on a wait that nothing is left to end.
func (p *proof) unposted(wait int32) *Counterexample {
	at := p.words[p.id[wait]]
	posts := 0
	for _, n := range p.seen[p.id[wait]] {
		if p.isPost(n) {
			posts++
		}
	}
	c := p.against(Matching, wait, -1, fmt.Sprintf("no post is left for this wait: %s was posted %d times by then", wordName(at), posts),
		fmt.Sprintf("post %s once a run from the rank that the wait is for, or leave the wait out", wordName(at)))
	c.Missing = "a post of " + wordName(at)
	return c
}

// pending is the first post of a wait's word that has not happened, or -1.
func (p *proof) pending(wait int32) int32 {
	for n := p.done; n < len(p.nodes); n++ {
		if p.id[n] == p.id[wait] && p.isPost(int32(n)) {
			return int32(n)
		}
	}
	return -1
}

// heldBy is a wait that did not end and comes before the node.
func (p *proof) heldBy(n int32) int32 {
	before := p.ancestors(n)
	for _, w := range p.stuck {
		if before[w] {
			return w
		}
	}
	return n // not reached: what did not happen is behind a wait that did not end
}

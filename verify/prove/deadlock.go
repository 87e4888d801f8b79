package prove

import "fmt"

// deadlock: the one execution that follow made comes to an end. Once alternation is shown,
// it follows that no other execution gets stuck: see the package comment.
func (p *proof) deadlock() *Counterexample {
	if p.done == len(p.nodes) {
		return nil
	}
	var circle []int32
	seen := map[int32]int{}
	wait := p.stuck[0] // edges lead from earlier operations to later ones, and on to later collectives: a wait is stuck
	for {
		if i, ok := seen[wait]; ok {
			circle = circle[i:]
			break
		}
		seen[wait] = len(circle)
		post := p.pending(wait)
		if post < 0 {
			return p.lacks(Matching, wait, fmt.Sprintf("the posts of %s in this run have ended other waits",
				p.wordName(p.words[p.id[wait]])),
				"a post that only this wait can take", "give the waits a semaphore each")
		}
		circle = append(circle, wait, post)
		wait = p.stuckWait(post)
	}
	c := p.against(Deadlock, circle[0], -1, circleText(len(circle)/2),
		"post before the wait that holds the post up, or put the two on streams that do not wait for each other")
	c.ToFirst = p.places(circle)
	c.Missing = "a way for one of these posts before the wait that follows it here"
	c.nodes = circle
	return c
}

// pending is a post of the wait's word, in the wait's run, that has not happened; -1 if there is none.
func (p *proof) pending(wait int32) int32 {
	for n := p.done; n < len(p.nodes); n++ {
		if p.id[n] == p.id[wait] && p.isPost(int32(n)) && p.nodes[n].run == p.nodes[wait].run {
			return int32(n)
		}
	}
	return -1
}

// stuckWait is a wait that has not ended and comes before the node.
func (p *proof) stuckWait(n int32) int32 {
	before := p.ancestors(n)
	for _, w := range p.stuck {
		if before[w] {
			return w
		}
	}
	return n // not reached: a node that did not happen comes after a wait that did not end
}

func circleText(waits int) string {
	if waits == 1 {
		return "the wait holds up the post that it needs"
	}
	return fmt.Sprintf("%d waits hold each other up: each needs a post that comes after the next", waits)
}

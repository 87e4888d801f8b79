package plan

import (
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Multiprocessors is the number of multiprocessors of the device, and 0 where nothing is enqueued.
func (q *Queue) Multiprocessors() int {
	if q.dry {
		return 0
	}
	return q.plan.driver.Properties().Multiprocessors
}

// TensorMap sets *to to the description of a tensor, by which the kernel of the next Launch copies. Where nothing is
// enqueued it returns false and leaves *to unchanged.
func (q *Queue) TensorMap(to *driver.TensorMap, d driver.TensorMapDesc) bool {
	if q.dry || q.err != nil {
		return false
	}
	q.check(q.plan.driver.TensorMapEncodeTiled(to, d))
	return q.err == nil
}

// AwaitsGroups notes in the step that is being numbered that its kernel awaits, before its work and after it, a word of
// each peer for each group of tiles.
func (q *Queue) AwaitsGroups(x Signals, groups int) {
	if !q.numbering() {
		return
	}
	step := &q.plan.steps[len(q.plan.steps)-1]
	for _, after := range []bool{false, true} {
		for of := range groups {
			for _, p := range q.plan.peers {
				step.Posts = append(step.Posts, q.ofGroup(x, p, of, groups, after))
			}
		}
	}
}

// ofGroup returns a peer's post for a group of tiles, before the work or after it.
func (q *Queue) ofGroup(x Signals, peer, of, groups int, after bool) group.Post {
	word := func(sem *Semaphore, holder, from int) driver.Ptr {
		return sem.word(holder, from) + driver.Ptr(4*of*sem.set.stride())
	}
	rank, sem := q.plan.Rank(), x.PreWait
	post := group.Post{Peer: peer, Part: fmt.Sprintf("tile group %d of %d", of+1, groups), After: after}
	if after {
		sem = x.PostWait
	} else {
		post.Taken = word(x.PostPost, peer, rank)
	}
	post.Name, post.Word = fmt.Sprintf("%s[%d]", sem, peer), word(sem, rank, peer)
	return post
}

// CountWord is the word in which a kernel of several blocks on s counts its blocks as they start and finish. The word
// is zero before the kernel and after it, and no other stream uses it.
func (q *Queue) CountWord(s *Stream) driver.Ptr { return group.CountWord(s.step) }

// CountApart is the distance in words from one count word of a stream to the next.
const CountApart = group.StepBytes / 4

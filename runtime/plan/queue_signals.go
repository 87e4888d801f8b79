package plan

import (
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Signals are the semaphores that a kernel posts and awaits around its work; a nil semaphore means no signal.
type Signals struct {
	PrePost  *Semaphore // posted to every peer before the work
	PreWait  *Semaphore // of rank From, awaited before the work
	PostPost *Semaphore // posted to rank To after the work
	PostWait *Semaphore // of every peer, awaited after the work
	From, To int        // ranks, or EveryPeer
}

// EveryPeer, in the place of a rank, means all peers.
const EveryPeer = -1

// StepWords are the words of one kernel that signals around its work, in this order: the kernel writes 1 to each word
// of PrePost, waits until each word of PreWait is 1, and does its work. It then writes 0 to each word of PreWait and
// Value to Step, writes 1 to each word of PostPost, waits until each word of PostWait is 1, and writes 0 to each of
// these and Value to Step.
type StepWords struct {
	PrePost, PreWait, PostPost, PostWait []driver.Ptr
	Step                                 driver.Ptr
	Value                                uint32
	// Stride is the distance in words between the words of consecutive blocks, where each block signals for itself; the
	// fields above are then the words of the first block.
	Stride int
}

// StepWords counts the step of a kernel that signals around its work, which the next Launch enqueues. The words are
// valid until the next call.
func (q *Queue) StepWords(s *Stream, kind string, x Signals) (w StepWords) {
	q.begin(s)
	q.named = true
	if q.numbering() {
		q.plan.note(s, false, nil, kind)
	}
	q.words = q.words[:0]
	w.PrePost = q.around(false, x.PrePost, EveryPeer)
	w.PreWait = q.around(true, x.PreWait, x.From)
	w.PostPost = q.around(false, x.PostPost, x.To)
	w.PostWait = q.around(true, x.PostWait, EveryPeer)
	w.Step, w.Value = s.step, group.StepValue(q.plan.id, q.step)
	w.Stride = q.stride(x)
	if q.numbering() {
		q.awaitsAround(x, w)
	}
	return w
}

// stride is the semaphores' common stride; the run fails where they differ.
func (q *Queue) stride(x Signals) (words int) {
	for _, sem := range [...]*Semaphore{x.PrePost, x.PreWait, x.PostPost, x.PostWait} {
		switch {
		case sem == nil || sem.set.blocks == 1:
		case words != 0 && words != sem.set.stride():
			q.Fail(fmt.Errorf("signal by %s: it has words by blocks and other words between them than the semaphores "+
				"beside it", sem))
		default:
			words = sem.set.stride()
		}
	}
	return words
}

// ByBlocks reports whether the semaphores have words for each block of the kernel.
func (x *Signals) ByBlocks() bool {
	for _, sem := range [...]*Semaphore{x.PrePost, x.PreWait, x.PostPost, x.PostWait} {
		if sem != nil && sem.set.blocks > 1 {
			return true
		}
	}
	return false
}

// around collects the words of one signal of a kernel, and adds the signal to the text of its step.
func (q *Queue) around(awaited bool, sem *Semaphore, peer int) []driver.Ptr {
	if sem == nil {
		return nil
	}
	peers, n := q.peers(peer), len(q.words)
	q.collect(awaited, sem, peers)
	if q.numbering() {
		step := &q.plan.steps[len(q.plan.steps)-1]
		kind := "Post"
		if awaited {
			kind, step.Wait, step.Peers = "Wait", true, slices.Clone(peers)
		}
		step.Text += fmt.Sprintf(", %s %s%s", kind, sem, peerList(peers))
	}
	return q.words[n:]
}

// awaitsAround notes the words that a kernel awaits before its work and behind it.
func (q *Queue) awaitsAround(x Signals, w StepWords) {
	before := q.awaits(x.PreWait, q.peers(x.From), w.PreWait)
	for i := range before {
		if x.PostPost != nil && x.PostWait != nil && x.From == x.To {
			before[i].Taken = w.PostPost[i]
		}
	}
	behind := q.awaits(x.PostWait, q.plan.peers, w.PostWait)
	for i := range behind {
		behind[i].After = len(before) > 0
	}
}

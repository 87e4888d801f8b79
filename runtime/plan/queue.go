package plan

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Queue issues one run of a plan. Every call is one node of the host program and one step of the run. The queue keeps
// the first error, after which later calls do nothing. It makes no Go allocation.
type Queue struct {
	plan     *Plan
	dry      bool // enqueue nothing: name steps and count events, or exchange the buffers that Share names
	err      error
	step     int
	events   int
	named    bool // the step of the next Launch has been counted
	items    []driver.MemOp
	words    []driver.Ptr
	ranges   []Range // the operands of the next Call
	one      [1]int  // a peer as a list
	shares   shares
	listener Listener // of List; else nil
}

// Rank of this process in the group.
func (q *Queue) Rank() int { return q.plan.Rank() }

// Size is the number of ranks.
func (q *Queue) Size() int { return q.plan.Size() }

// Hosts is the number of hosts that the ranks are on.
func (q *Queue) Hosts() int { return q.plan.hosts }

// PerHost is the number of ranks of each host.
func (q *Queue) PerHost() int { return q.plan.perHost() }

// Host is the number of this rank's host.
func (q *Queue) Host() int { return q.plan.rank / q.PerHost() }

// Local is the number of this rank on its host.
func (q *Queue) Local() int { return q.plan.rank % q.PerHost() }

// Main is the stream that the run was enqueued on.
func (q *Queue) Main() *Stream { return q.plan.main }

// Post writes 1 into the word that each peer keeps for this rank, in one batch; with no peers it posts to every peer of
// this host in the order r+1, r+2, ...
func (q *Queue) Post(s *Stream, sem *Semaphore, peers ...int) {
	if !q.signal(s, "Post", sem, peers) {
		return
	}
	for _, w := range q.words {
		q.items = append(q.items, driver.MemOp{Kind: driver.Write, Value: 1, Address: w})
	}
	q.check(q.plan.driver.StreamBatchMemOp(s.handle, q.items))
}

// Wait waits for the posts of the given peers, resets their words, and writes the step into the stream's step word, in
// one batch; with no peers it waits for every peer.
func (q *Queue) Wait(s *Stream, sem *Semaphore, peers ...int) {
	if !q.signal(s, "Wait", sem, peers) {
		return
	}
	for _, w := range q.words {
		q.items = append(q.items, driver.MemOp{Kind: driver.WaitEqual, Value: 1, Address: w},
			driver.MemOp{Kind: driver.Write, Address: w})
	}
	q.items = append(q.items, driver.MemOp{Kind: driver.Write, Value: group.StepValue(q.plan.id, q.step),
		Address: s.step})
	q.check(q.plan.driver.StreamBatchMemOp(s.handle, q.items))
}

// PostWords counts the step of a post by a kernel, which the next Launch enqueues: the kernel writes 1 to each word.
// The words are valid until the next call.
func (q *Queue) PostWords(s *Stream, sem *Semaphore, peers ...int) []driver.Ptr {
	q.signal(s, "Post", sem, peers)
	q.named = true
	return q.words
}

// WaitWords counts the step of a wait by a kernel, which the next Launch enqueues: the kernel waits until each word is
// 1, writes 0 to each, and then value to the step word.
func (q *Queue) WaitWords(s *Stream, sem *Semaphore, peers ...int) (words []driver.Ptr, step driver.Ptr, value uint32) {
	q.signal(s, "Wait", sem, peers)
	q.named = true
	return q.words, s.step, group.StepValue(q.plan.id, q.step)
}

// awaits notes in the step that is being numbered the words of a semaphore that the step awaits, and returns the posts.
// Blocks that signal each for itself take their words one by one, so the words do not say which posts are missing.
func (q *Queue) awaits(sem *Semaphore, peers []int, words []driver.Ptr) []group.Post {
	if sem == nil || sem.set.blocks > 1 {
		return nil
	}
	step := &q.plan.steps[len(q.plan.steps)-1]
	n := len(step.Posts)
	for i, p := range peers {
		step.Posts = append(step.Posts, group.Post{Peer: p, Name: fmt.Sprintf("%s[%d]", sem, p), Word: words[i]})
	}
	return step.Posts[n:]
}

// peers is one peer as a list, or all peers.
func (q *Queue) peers(one int) []int {
	if one < 0 {
		return q.plan.peers
	}
	q.one[0] = one
	return q.one[:]
}

// signal begins the step of a post or wait and collects its words; it returns false when nothing is to be enqueued.
func (q *Queue) signal(s *Stream, kind string, sem *Semaphore, peers []int) bool {
	if len(peers) == 0 {
		peers = q.plan.peers
	}
	live := q.begin(s)
	if q.numbering() {
		q.plan.note(s, kind == "Wait", peers, fmt.Sprintf("%s %s%s", kind, sem, peerList(peers)))
	}
	q.items, q.words = q.items[:0], q.words[:0]
	q.collect(kind == "Wait", sem, peers)
	if q.numbering() && kind == "Wait" {
		q.awaits(sem, peers, q.words)
	}
	return live && len(peers) > 0
}

// collect appends the words that a wait awaits or a post sets.
func (q *Queue) collect(wait bool, sem *Semaphore, peers []int) {
	for _, p := range peers {
		if wait {
			q.words = append(q.words, sem.word(q.plan.Rank(), p))
		} else {
			q.words = append(q.words, sem.word(p, q.plan.Rank()))
		}
	}
}

// Idle reports whether a copy, or the result of a call, has no bytes. It then counts the step, which enqueues nothing.
func (q *Queue) Idle(s *Stream, bytes int64) bool {
	if bytes != 0 || q.numbering() { // sizes may not be known yet
		return false
	}
	q.nothing(s, "work on no bytes")
	return true
}

// Set copies bytes by the copy engine.
func (q *Queue) Set(s *Stream, dst, src driver.Ptr, bytes int64) {
	if !q.Idle(s, bytes) && q.node(s, "Set", "") {
		q.check(q.plan.driver.MemcpyDtoDAsync(dst, src, bytes, s.handle))
	}
}

// Rows are rows of bytes in memory. Each row begins Pitch bytes after the row before it.
type Rows struct {
	At    driver.Ptr
	Pitch int64
}

// SetColumns copies rows of width bytes each by the copy engine, given the bytes of all rows.
func (q *Queue) SetColumns(s *Stream, dst, src Rows, width, bytes int64) {
	if !q.Idle(s, bytes) && q.node(s, "SetColumns", "") {
		q.check(q.plan.driver.Memcpy2DAsync(driver.Memcpy2D{Dst: dst.At, DstPitch: dst.Pitch, Src: src.At,
			SrcPitch: src.Pitch, Width: width, Height: bytes / width}, s.handle))
	}
}

// Matmul enqueues c = a * b + bias, or c += a * b where the product accumulates.
func (q *Queue) Matmul(s *Stream, p *Product, c, a, b, bias driver.Ptr) {
	q.Product("Matmul", s, p, driver.Operands{C: c, A: a, B: b, Bias: bias})
}

// NoBias is the bias of a Linear or Matmul that has no bias.
const NoBias driver.Ptr = 0

// Linear enqueues c = a * bᵀ + bias.
func (q *Queue) Linear(s *Stream, p *Product, c, a, b, bias driver.Ptr) {
	q.Product("Linear", s, p, driver.Operands{C: c, A: a, B: b, Bias: bias})
}

// Gradient enqueues c = aᵀ * b.
func (q *Queue) Gradient(s *Stream, p *Product, c, a, b driver.Ptr) {
	q.Product("Gradient", s, p, driver.Operands{C: c, A: a, B: b})
}

// Product enqueues a product; kind is its name in texts. A product without rows counts as a step and enqueues nothing.
func (q *Queue) Product(kind string, s *Stream, p *Product, x driver.Operands) {
	if p.empty() {
		q.nothing(s, kind+" of no rows")
		return
	}
	s.multiply, p.called = true, true
	if q.node(s, kind, "") {
		x.Workspace = s.workspace
		q.check(q.plan.driver.Matmul(p.handle, x, s.handle))
	}
}

// Synchronize makes s wait for all work that was enqueued so far on another stream. If an event already marks all of
// that work, s waits for this event, and no event is recorded.
func (q *Queue) Synchronize(s, on *Stream) {
	live := q.begin(s)
	if q.numbering() {
		q.plan.note(s, false, nil, fmt.Sprintf("Synchronize(%s)", on))
	}
	if on.mark == unmarked {
		on.mark = q.events
		q.events++
		if live {
			q.check(q.plan.driver.EventRecordWithFlags(q.plan.events[on.mark], on.handle, 0))
		}
	}
	if live && q.err == nil {
		q.check(q.plan.driver.StreamWaitEvent(s.handle, q.plan.events[on.mark], 0))
	}
}

// Launch enqueues a kernel. It copies the kernel's parameter struct.
func (q *Queue) Launch(s *Stream, k *Kernel, grid, block driver.Dim3, params unsafe.Pointer) {
	if q.numbering() {
		k.noteLaunch(grid, block)
	}
	if q.named {
		q.named = false
		if q.dry || q.err != nil {
			return
		}
	} else if !q.node(s, "LaunchKernel ", k.name) {
		return
	}
	to := unsafe.Pointer(unsafe.SliceData(k.params))
	copy(unsafe.Slice((*byte)(to), k.code.Params), unsafe.Slice((*byte)(params), k.code.Params))
	q.check(q.plan.driver.LaunchKernel(k.handle, grid, block, s.handle, to))
}

// Fail ends the run with an error, where a call can't be made. If the dry run of New calls Fail, New fails too.
func (q *Queue) Fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

// node begins the step of a call that neither posts nor waits.
func (q *Queue) node(s *Stream, kind, name string) bool {
	live := q.begin(s)
	if q.numbering() {
		q.plan.note(s, false, nil, kind+name)
	}
	return live
}

// nothing counts a step that enqueues nothing.
func (q *Queue) nothing(s *Stream, text string) {
	q.step++
	if q.numbering() {
		q.plan.note(s, false, nil, text)
	}
}

// numbering reports whether the steps are being named, which Finish does once.
func (q *Queue) numbering() bool { return q.dry && !q.shares.passing }

// begin counts a step on s; after it no event marks all work of s.
func (q *Queue) begin(s *Stream) bool {
	q.step++
	s.mark = unmarked
	return !q.dry && q.err == nil
}

// check keeps the first error, with the step that failed.
func (q *Queue) check(err error) {
	if err != nil && q.err == nil {
		t := q.plan.steps[q.step-1]
		q.err = fmt.Errorf("step %d, %s on %s: %w", t.Number, t.Text, t.Stream, err)
	}
}

// start readies the queue for a run on main.
func (q *Queue) start(main driver.Stream) {
	q.plan.main.handle = main
	q.err, q.step, q.events, q.named = nil, 0, 0, false
	for _, s := range q.plan.streams {
		s.mark = unmarked
	}
}

// peerList is "[1]" or "[1,2,3]", of a copy: the list stays on its caller's stack.
func peerList(peers []int) string {
	return strings.ReplaceAll(fmt.Sprint(slices.Clone(peers)), " ", ",")
}

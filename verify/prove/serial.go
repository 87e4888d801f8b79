package prove

import (
	"fmt"
	"slices"

	"ovgen/verify/ops"
)

// form is how a program's operations reach the device.
type form string

const (
	eager    form = "eager"    // enqueued one by one: a device that serialises keeps that order
	captured form = "captured" // a graph: only its edges order
)

// serial: the relation w -> w', the post that wait w needs is on the rank of wait w' and
// need not have happened when w' holds the device, has no circle through different ranks.
// Stuck devices would each be held by one wait, whose post is on a stuck device: such a
// circle. One run is enough, since by bracket the posts of a run come after the waits of
// earlier runs.
func (p *proof) serial(f form) *Counterexample {
	waits, byRank := p.waits()
	next := make([][]int32, len(waits)) // w -> w', by index in waits
	var posts []int32
	of := map[int32]int{} // post -> the wait it ends
	for i, w := range waits {
		posts = append(posts, p.match[w])
		of[p.match[w]] = i
	}
	slices.Sort(posts)
	p.sweep(posts, func(batch []int32, reach []mask) {
		for lane, post := range batch {
			i := of[post]
			for _, j := range byRank[p.nodes[post].rank] {
				if !p.isAfter(f, post, lane, waits[j], reach) {
					next[i] = append(next[i], j)
				}
			}
		}
	})
	circle := findCircle(next)
	if circle != nil {
		circle = p.distinct(next, waits, circle)
	}
	if circle == nil {
		return nil
	}
	nodes := make([]int32, len(circle))
	for i, j := range circle {
		nodes[i] = waits[j]
	}
	return p.serialCircle(f, nodes)
}

// patience is how many steps the search for a circle through different ranks may take.
const patience = 1 << 20

// distinct returns a circle of the relation in which no rank stands twice, or nil. When the
// search takes too long it returns the known circle, whose ranks may repeat: then a safe
// program may be refused.
func (p *proof) distinct(next [][]int32, waits []int32, known []int32) []int32 {
	left := patience
	used := make([]bool, len(p.lists))
	var path []int32
	var from func(i, first int32) bool
	from = func(i, first int32) bool {
		rank := p.nodes[waits[i]].rank
		if left--; used[rank] || left < 0 {
			return false
		}
		used[rank] = true
		path = append(path, i)
		for _, j := range next[i] {
			if j == first || j > first && from(j, first) { // a circle is found at its least wait
				return true
			}
		}
		used[rank] = false
		path = path[:len(path)-1]
		return false
	}
	for i := range next {
		if from(int32(i), int32(i)) {
			return path
		}
	}
	if left < 0 {
		return known
	}
	return nil
}

// waits are the waits of the first run, and their indices by rank.
func (p *proof) waits() (waits []int32, byRank [][]int32) {
	byRank = make([][]int32, len(p.lists))
	for n, x := range p.nodes {
		if x.run == 0 && p.isWait(int32(n)) {
			byRank[x.rank] = append(byRank[x.rank], int32(len(waits)))
			waits = append(waits, int32(n))
		}
	}
	return waits, byRank
}

// isAfter reports whether the wait can hold the device only after the post has happened.
func (p *proof) isAfter(f form, post int32, lane int, wait int32, reach []mask) bool {
	x, w := p.nodes[post], p.nodes[wait]
	if f == eager && x.op < w.op {
		return true
	}
	for _, b := range p.own(wait) {
		if reach[b].has(lane) {
			return true
		}
	}
	return false
}

func (p *proof) serialCircle(f form, waits []int32) *Counterexample {
	second := int32(-1)
	if len(waits) > 1 {
		second = waits[1]
	}
	do := "post before the forks, so that no wait needs a later operation of its own rank (Naive.SignalsInStep: false)"
	if f == captured {
		do = "post before the forks, or emit without replay: enqueued one by one the program is safe " +
			"if only this form fails"
	}
	c := p.against(Serial, waits[0], second, holdText(len(waits)), do)
	c.Form = string(f)
	c.ToFirst, c.ToSecond = nil, nil
	c.nodes = nil
	for _, w := range waits {
		c.ToFirst = append(c.ToFirst, *p.at(w), *p.at(p.match[w]))
		c.nodes = append(c.nodes, w, p.match[w])
	}
	c.Missing = "an edge from one of these posts to the wait that can hold its device"
	return c
}

// spins reports whether a kernel waits: it holds multiprocessors meanwhile, and so may keep
// earlier work of another stream from starting or ending.
func (p *proof) spins() bool {
	for _, list := range p.lists {
		for _, o := range list {
			if o.Kernel != "" && slices.ContainsFunc(o.Words, func(w ops.Word) bool { return !w.Write }) {
				return true
			}
		}
	}
	return false
}

// spinning is the counterexample of a program that is serial-safe only in the order of
// enqueueing, and in which a kernel waits: a spinning kernel can break that order.
func (c *Counterexample) spinning() *Counterexample {
	c.Problem += "; the order of enqueueing does not rule that out where a kernel waits, since it holds the device"
	c.Suggestion = "post before the forks (Naive.SignalsInStep: false), or wait by stream memory operations " +
		"(By: schedule.CopyEngine)"
	return c
}

func holdText(waits int) string {
	if waits == 1 {
		return "the wait can hold its device while the post that it needs has not happened"
	}
	return fmt.Sprintf("each of %d waits can hold its device while the post that the one before needs has not happened",
		waits)
}

// findCircle returns a circle of a relation, or nil.
func findCircle(next [][]int32) []int32 {
	into, left := make([]int, len(next)), make([]bool, len(next))
	for i, list := range next {
		left[i] = true
		for _, j := range list {
			into[j]++
		}
	}
	var free []int32
	for i, n := range into {
		if n == 0 {
			free = append(free, int32(i))
		}
	}
	count := len(next)
	for ; len(free) > 0; count-- {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		left[i] = false
		for _, j := range next[i] {
			if into[j]--; into[j] == 0 {
				free = append(free, j)
			}
		}
	}
	if count == 0 {
		return nil
	}
	for i := range next {
		if left[i] {
			if c := circleOf(next, left, int32(i)); c != nil {
				return c
			}
		}
	}
	return nil
}

// circleOf is a shortest circle through i.
func circleOf(next [][]int32, left []bool, i int32) []int32 {
	from := map[int32]int32{}
	queue := []int32{i}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, j := range next[n] {
			if j == i {
				c := []int32{n}
				for n != i {
					n = from[n]
					c = append([]int32{n}, c...)
				}
				return c
			}
			if _, ok := from[j]; !ok && left[j] {
				from[j] = n
				queue = append(queue, j)
			}
		}
	}
	return nil
}

package prove

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ovgen/verify/ops"
)

// form is how a program's operations reach the device.
type form string

const (
	eager    form = "eager"    // enqueued one by one: a device that serialises keeps that order
	captured form = "captured" // a graph: only its edges order
)

// serial: draw w -> w' where w needs an operation on the rank of w' that may still be outstanding while w' holds the
// device. No circle goes through different ranks. A wait needs its post, and a collective needs that its peers begin
// it. If devices were stuck, such a wait or collective would hold each of them and need an operation of a stuck device:
// that is such a circle. One run is enough, since by bracket the posts of a run come after the waits of earlier runs.
func (p *proof) serial(f form) *Counterexample {
	holders, byRank := p.holders()
	next := make([][]int32, len(holders)) // w -> w', by index in holders
	of := map[int32][]int32{}             // a node that is needed -> the holders that need it
	for i, w := range holders {
		for _, n := range p.needed(w) {
			of[n] = append(of[n], int32(i))
		}
	}
	p.sweep(slices.Sorted(maps.Keys(of)), func(batch []int32, reach []mask) {
		for lane, n := range batch {
			for _, j := range byRank[p.nodes[n].rank] {
				if p.isAfter(f, n, lane, holders[j], reach) {
					continue
				}
				for _, i := range of[n] {
					next[i] = append(next[i], j)
				}
			}
		}
	})
	circle := findCircle(next)
	if circle != nil {
		circle = p.distinct(next, holders, circle)
	}
	if circle == nil {
		return nil
	}
	nodes := make([]int32, len(circle))
	for i, j := range circle {
		nodes[i] = holders[j]
	}
	return p.serialCircle(f, nodes)
}

// patience is how many steps the search for a circle through different ranks may take.
const patience = 1 << 20

// distinct returns a circle of the relation in which no rank stands twice, or nil. When the
// search takes too long it returns the known circle, whose ranks may repeat: then a safe
// program may be refused.
func (p *proof) distinct(next [][]int32, holders []int32, known []int32) []int32 {
	left := patience
	used := make([]bool, len(p.lists))
	var path []int32
	var from func(i, first int32) bool
	from = func(i, first int32) bool {
		rank := p.nodes[holders[i]].rank
		if left--; used[rank] || left < 0 {
			return false
		}
		used[rank] = true
		path = append(path, i)
		for _, j := range next[i] {
			if j == first || j > first && from(j, first) { // a circle is found at its least holder
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

// holders lists the nodes that can hold a device in the first run, which are waits and ends of
// collectives, and their indices by rank.
func (p *proof) holders() (list []int32, byRank [][]int32) {
	byRank = make([][]int32, len(p.lists))
	for n, x := range p.nodes {
		if x.run == 0 && (p.isWait(int32(n)) || x.kind == leave) {
			byRank[x.rank] = append(byRank[x.rank], int32(len(list)))
			list = append(list, int32(n))
		}
	}
	return list, byRank
}

// needed lists the nodes that a holder needs: the post of a wait, or the begins of a collective's peers.
func (p *proof) needed(holder int32) []int32 {
	if p.nodes[holder].kind == leave {
		_, peers := p.entered(holder)
		return peers
	}
	return []int32{p.match[holder]}
}

// isAfter reports whether a holder can hold the device only after the node that is needed has happened.
func (p *proof) isAfter(f form, needed int32, lane int, holder int32, reach []mask) bool {
	x, w := p.nodes[needed], p.nodes[holder]
	if p.beside(&p.lists[w.rank][w.op], &p.lists[x.rank][x.op]) {
		return true
	}
	if f == eager && x.op < w.op || x.kind == enter && x.op == w.op {
		return true
	}
	starts := holder
	if w.kind == leave { // it holds the device from its enter on
		starts, _ = p.entered(holder)
	}
	for _, b := range p.own(starts) {
		if reach[b].has(lane) {
			return true
		}
	}
	return false
}

func (p *proof) serialCircle(f form, circle []int32) *Counterexample {
	second := int32(-1)
	if len(circle) > 1 {
		second = circle[1]
	}
	c := p.against(Serial, circle[0], second, p.holdText(circle),
		"post before the forks, so that no wait needs a later operation of its own rank")
	c.Form = string(f)
	c.ToFirst, c.ToSecond = nil, nil
	c.nodes = nil
	for i, w := range circle {
		n := p.on(p.needed(w), circle[(i+1)%len(circle)])
		c.ToFirst = append(c.ToFirst, *p.at(w), *p.at(n))
		c.nodes = append(c.nodes, w, n)
	}
	if f == captured {
		c.Suggestion = c.event() + ", or emit without replay: enqueued one by one the program is safe if only this " +
			"form fails"
	}
	c.Missing = "an edge from what one of these needs to the one that can hold its device"
	return c
}

// on is the node of a list that is on the same rank as another node.
func (p *proof) on(list []int32, of int32) int32 {
	for _, n := range list {
		if p.nodes[n].rank == p.nodes[of].rank {
			return n
		}
	}
	return list[0]
}

// event says by which event a circle is none: one of its holders waits for what the one before it needs, which is
// enqueued first.
func (c *Counterexample) event() string {
	do := "post before the forks"
	for i := 1; i < len(c.nodes); i += 2 {
		needed, holder := c.nodes[i], c.nodes[(i+1)%len(c.nodes)]
		if c.graph.nodes[needed].op < c.graph.nodes[holder].op {
			return fmt.Sprintf("%s, or let stream %s wait for %s ahead of %s", do, c.graph.operation(holder).Stream,
				c.graph.operation(needed).Stream, c.graph.text(holder))
		}
	}
	return do
}

// spinning lists the fields that ask for kernels that wait: a kernel holds multiprocessors meanwhile, and so may keep
// earlier work of another stream from starting or ending.
func (p *proof) spinning() (fields []string) {
	for _, list := range p.lists {
		for _, o := range list {
			if o.Kernel != "" && slices.ContainsFunc(o.Words, func(w ops.Word) bool { return !w.Write }) {
				fields = append(fields, cmp.Or(field(&o), "the program"))
			}
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// spinning is the counterexample of a program that is serial-safe only in the order of enqueueing, and in which kernels
// wait that some fields ask for: a spinning kernel can break that order.
func (c *Counterexample) spinning(fields []string) *Counterexample {
	c.Problem += "; the order of enqueueing does not rule that out where a kernel waits, since it holds the device"
	c.Suggestion = fmt.Sprintf("%s, or use ways by which no kernel waits (kernels of %s wait)", c.event(),
		strings.Join(fields, " and "))
	return c
}

// holdText prints a circle: how each holder keeps the one before it from the device.
func (p *proof) holdText(circle []int32) string {
	collective := func(n int32) bool { return p.nodes[n].kind == leave } // it needs its peers, so never stands alone
	switch {
	case len(circle) == 1:
		return "the wait can hold its device while the post that it needs has not happened"
	case slices.ContainsFunc(circle, collective):
		return fmt.Sprintf("each of %d waits and collectives can hold its device while the post, or the beginning of "+
			"a collective, that the one before needs has not happened", len(circle))
	}
	return fmt.Sprintf("each of %d waits can hold its device while the post that the one before needs has not happened",
		len(circle))
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

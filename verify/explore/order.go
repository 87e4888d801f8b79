package explore

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/verify/ops"
)

// Order is the order of the steps of a safe system: each step after its predecessors, each
// wait after the post that ended it.
type Order struct {
	machine *machine
	before  [][]int32 // the direct predecessors of each step
	key     []string
	number  map[string]int32
}

// Ordered explores a system and returns the order of its steps with the verdict.
func Ordered(sys System) (*Order, Verdict) {
	x := explored(sys)
	o := &Order{machine: x.machine, number: map[string]int32{}}
	count := map[string]int{}
	for i, st := range x.steps {
		before := slices.Clone(st.before)
		if post, ok := x.matched[int32(i)]; ok && st.kind == wait && post >= 0 {
			before = append(before, post)
		}
		o.before = append(o.before, before)
		key := fmt.Sprintf("run %d, rank %d, %s", st.run+1, st.rank, st.brief())
		count[key]++
		if n := count[key]; n > 1 {
			key += fmt.Sprintf(" (%d)", n)
		}
		o.key = append(o.key, key)
		o.number[key] = int32(i)
	}
	return o, x.verdict
}

// path is the shortest way from one step to a later one, both included; nil if none.
func (o *Order) path(from, to int32) []int32 {
	const unseen, end = -1, -2
	next := slices.Repeat([]int32{unseen}, len(o.before))
	next[to] = end
	queue := []int32{to}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if i == from {
			var way []int32
			for ; i >= 0; i = next[i] {
				way = append(way, i)
			}
			return way
		}
		for _, p := range o.before[i] {
			if next[p] == unseen {
				next[p] = i
				queue = append(queue, p)
			}
		}
	}
	return nil
}

// text prints a path; run and rank are printed where they change.
func (o *Order) text(way []int32) string {
	var parts []string
	run, rank := -1, -1
	for _, i := range way {
		st := o.machine.steps[i]
		text := ""
		if st.run != run {
			text = fmt.Sprintf("run %d ", st.run+1)
		}
		if st.run != run || st.rank != rank {
			text += fmt.Sprintf("rank %d ", st.rank)
		}
		run, rank = st.run, st.rank
		parts = append(parts, text+st.brief())
	}
	return strings.Join(parts, " -> ")
}

// edges are the direct orders, by key.
func (o *Order) edges() map[[2]string]bool {
	all := map[[2]string]bool{}
	for i, before := range o.before {
		for _, p := range before {
			all[[2]string{o.key[p], o.key[i]}] = true
		}
	}
	return all
}

// StillOrdered explains why another order of the same operations is safe. For each direct order that other lacks, it
// gives the path that replaces it. For each pair of conflicting steps that relied on a direct order without a
// replacement, it gives the pair's other path.
func (o *Order) StillOrdered(other *Order) []string {
	kept := other.edges()
	var lines []string
	for edge := range o.edges() {
		if kept[edge] || !o.early(o.number[edge[0]]) {
			continue
		}
		if still := other.between(edge[0], edge[1]); still != nil {
			kept[edge] = true
			lines = append(lines, other.text(still))
		}
	}
	for i, st := range o.machine.steps {
		for _, j := range st.conflicts {
			if !o.early(int32(i)) {
				continue
			}
			way := o.path(int32(i), j)
			if way == nil || o.whole(way, kept) {
				continue
			}
			if still := other.between(o.key[i], o.key[j]); still != nil {
				lines = append(lines, other.text(still))
			} else if still := other.between(o.key[j], o.key[i]); still != nil {
				lines = append(lines, "the other way round: "+other.text(still))
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// early reports whether a step is of the first run: later runs repeat the same pairs.
func (o *Order) early(i int32) bool { return o.machine.steps[i].run == 0 }

// between is the path between two steps, given by their keys.
func (o *Order) between(from, to string) []int32 {
	a, hasA := o.number[from]
	b, hasB := o.number[to]
	if !hasA || !hasB {
		return nil
	}
	return o.path(a, b)
}

// whole reports whether every edge of a path is kept.
func (o *Order) whole(way []int32, kept map[[2]string]bool) bool {
	for n := 1; n < len(way); n++ {
		if o.early(way[n-1]) && !kept[[2]string{o.key[way[n-1]], o.key[way[n]]}] {
			return false
		}
	}
	return true
}

// LostOverlap lists pairs of copies and products of one run that may run side by side in o and may not in other.
func (o *Order) LostOverlap(other *Order) []string {
	apart := other.unordered()
	var lines []string
	for pair := range o.unordered() {
		if !apart[pair] {
			lines = append(lines, pair[0]+" | "+pair[1])
		}
	}
	slices.Sort(lines)
	return lines
}

// unordered are the pairs of copies and products of the first run that may run side by side.
func (o *Order) unordered() map[[2]string]bool {
	var heavy []int32
	for i, st := range o.machine.steps {
		if st.kind == access && st.op != nil && (st.op.Kind == ops.Copy || st.op.Kind == ops.Product) {
			heavy = append(heavy, int32(i))
		}
	}
	before := make([]map[int32]bool, len(heavy))
	for n, i := range heavy {
		before[n] = o.allBefore(i)
	}
	pairs := map[[2]string]bool{}
	for n, i := range heavy {
		for m, j := range heavy[:n] {
			if o.machine.steps[i].run == 0 && o.machine.steps[j].run == 0 && !before[n][j] && !before[m][i] {
				pair := [2]string{o.key[j], o.key[i]}
				slices.Sort(pair[:])
				pairs[pair] = true
			}
		}
	}
	return pairs
}

// allBefore are all steps that come before a step.
func (o *Order) allBefore(i int32) map[int32]bool {
	seen := map[int32]bool{}
	queue := []int32{i}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, p := range o.before[i] {
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	return seen
}

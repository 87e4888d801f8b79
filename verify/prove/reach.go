package prove

import (
	"cmp"
	"slices"
)

// mask has a bit for each node of a batch.
type mask [4]uint64

const lanes = 64 * len(mask{})

// sweep finds the nodes that come after each source. It takes the sources in batches. For each batch it goes over the
// nodes once, in their order, and then calls visit. reach has, for each node, the sources of the batch that come before
// the node or are the node. That costs a few words a node, where a vector clock of each stream would cost thousands.
// Sources are sorted and distinct.
func (g *graph) sweep(sources []int32, visit func(batch []int32, reach []mask)) {
	sweep(g.first, g.edges, sources, visit)
}

func sweep(first, edges, sources []int32, visit func(batch []int32, reach []mask)) {
	reach := make([]mask, len(first)-1)
	for batch := range slices.Chunk(sources, lanes) {
		clear(reach)
		next := 0
		for n := int(batch[0]); n < len(reach); n++ {
			m := &reach[n]
			for _, p := range edges[first[n]:first[n+1]] {
				for i := range m {
					m[i] |= reach[p][i]
				}
			}
			if next < len(batch) && batch[next] == int32(n) {
				m[next/64] |= 1 << (next % 64)
				next++
			}
		}
		visit(batch, reach)
	}
}

func (m *mask) has(i int) bool { return m[i/64]>>(i%64)&1 == 1 }

// pair asks whether from is before to.
type pair struct{ from, to int32 }

// unordered returns the first of the pairs, by number, whose from is not before its to.
func (g *graph) unordered(pairs []pair) (wrong pair, found bool) {
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	pairs = slices.Compact(pairs)
	var sources []int32
	for _, p := range pairs {
		if len(sources) == 0 || sources[len(sources)-1] != p.from {
			sources = append(sources, p.from)
		}
	}
	g.sweep(sources, func(batch []int32, reach []mask) {
		for lane := 0; len(pairs) > 0 && !found; pairs = pairs[1:] {
			for lane < len(batch) && batch[lane] != pairs[0].from {
				lane++
			}
			if lane == len(batch) {
				return
			}
			if !reach[pairs[0].to].has(lane) {
				wrong, found = pairs[0], true
			}
		}
	})
	return wrong, found
}

// ancestors marks a node and all nodes before it.
func (g *graph) ancestors(n int32) []bool {
	seen := make([]bool, len(g.nodes))
	stack := []int32{n}
	seen[n] = true
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, p := range g.before(x) {
			if !seen[p] {
				seen[p] = true
				stack = append(stack, p)
			}
		}
	}
	return seen
}

// path is a shortest way from one node to another, both included; nil if there is no way.
func (g *graph) path(from, to int32) []int32 {
	next := map[int32]int32{to: -1}
	queue := []int32{to}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if n == from {
			var list []int32
			for ; n >= 0; n = next[n] {
				list = append(list, n)
			}
			return list
		}
		for _, p := range g.before(n) {
			if _, ok := next[p]; !ok {
				next[p] = n
				queue = append(queue, p)
			}
		}
	}
	return nil
}

package prove

// follow executes the runs once, in the order in which nodes become possible, and numbers
// the nodes in that order. It observes which post ends which wait; matching and alternation
// prove that no execution can differ. Where the ranks get stuck, the nodes that never
// happen are numbered last.
func (g *graph) follow() *observed {
	f := follower{graph: g, seen: make([][]int32, len(g.words)), value: make([]uint32, len(g.words)),
		parked: make([][]int32, len(g.words)), missing: make([]int32, len(g.nodes))}
	f.next, f.to = g.after()
	for n := range g.nodes {
		if f.missing[n] = int32(len(g.before(int32(n)))); f.missing[n] == 0 {
			f.queue = append(f.queue, int32(n))
		}
	}
	f.drain()
	return f.renumber()
}

// observed is the outcome of one execution.
type observed struct {
	seen [][]int32 // of each word: its posts, waits and resets as they happened
	// stuck are the waits that never ended.
	stuck []int32
}

type follower struct {
	*graph
	next, to []int32 // edges by the node they leave
	missing  []int32 // of each node: how many of its direct predecessors have not happened
	queue    []int32
	order    []int32
	seen     [][]int32
	value    []uint32
	parked   [][]int32
}

// after is the edges by the node they leave.
func (g *graph) after() (first, edges []int32) {
	var from, to []int32
	for n := range g.nodes {
		for _, p := range g.before(int32(n)) {
			from, to = append(from, int32(n)), append(to, p)
		}
	}
	return compress(len(g.nodes), from, to)
}

func (f *follower) drain() {
	for len(f.queue) > 0 {
		n := f.queue[0]
		f.queue = f.queue[1:]
		if !f.happen(n) {
			continue
		}
		f.order = append(f.order, n)
		for _, s := range f.to[f.next[n]:f.next[n+1]] {
			if f.missing[s]--; f.missing[s] == 0 {
				f.queue = append(f.queue, s)
			}
		}
	}
}

// happen executes a node; it is false for a wait whose word has another value.
func (f *follower) happen(n int32) bool {
	id := f.id[n]
	if id < 0 {
		return true
	}
	w, _ := f.item(n)
	if !w.Write && f.value[id] != w.Value {
		f.parked[id] = append(f.parked[id], n)
		return false
	}
	f.seen[id] = append(f.seen[id], n)
	if w.Write {
		f.value[id] = w.Value
		f.queue = append(f.queue, f.parked[id]...)
		f.parked[id] = f.parked[id][:0]
	}
	return true
}

// renumber numbers the nodes in their order.
func (f *follower) renumber() *observed {
	g := f.graph
	g.done = len(f.order)
	happened := make([]bool, len(g.nodes))
	for _, n := range f.order {
		happened[n] = true
	}
	for n := range g.nodes {
		if !happened[n] {
			f.order = append(f.order, int32(n))
		}
	}
	number := make([]int32, len(g.nodes))
	for i, n := range f.order {
		number[n] = int32(i)
	}
	nodes, id := make([]node, len(f.order)), make([]int32, len(f.order))
	var from, to []int32
	for i, n := range f.order {
		nodes[i], id[i] = g.nodes[n], g.id[n]
		for _, p := range g.before(n) {
			from, to = append(from, number[p]), append(to, int32(i))
		}
	}
	g.nodes, g.id = nodes, id
	g.first, g.edges = compress(len(nodes), from, to)
	for _, table := range [][][]int32{g.start, g.end, f.seen, f.parked} {
		for _, row := range table {
			for i, n := range row {
				row[i] = number[n]
			}
		}
	}
	o := &observed{seen: f.seen}
	for _, waits := range f.parked {
		o.stuck = append(o.stuck, waits...)
	}
	return o
}

// pair adds the edge from each wait's post to it.
func (g *graph) pair() {
	var from, to []int32
	for n := range g.nodes {
		for _, p := range g.before(int32(n)) {
			from, to = append(from, p), append(to, int32(n))
		}
		if p := g.match[n]; p >= 0 {
			from, to = append(from, p), append(to, int32(n))
		}
	}
	g.first, g.edges = compress(len(g.nodes), from, to)
}

package prove

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"ovgen/verify/ops"
)

// access is a node's use of some bytes.
type access struct {
	node   int32
	lo, hi int64
	write  bool
}

// memory is one buffer of one rank, or a half of it.
type memory struct {
	rank   int
	buffer string
	half   int32
}

// races: two uses of common bytes are ordered where one of them writes. The caller and the group's other plans write
// all memory of a rank before and after each run, but not landings and tensors that the schedule calls Constant; New
// and Close write all memory of all ranks. Uses on one stream are ordered. By bracket, so are operations of one rank in
// different runs, except reads ahead.
func (p *proof) races() *Counterexample {
	var pairs []pair
	for _, m := range p.memories() {
		pairs = append(pairs, p.conflicts(m)...)
	}
	wrong, found := p.unordered(pairs)
	if !found {
		return nil
	}
	at, shared := p.common(wrong)
	c := p.against(Race, wrong.from, wrong.to, fmt.Sprintf("both use %s@%d and one of them writes: %s", at.buffer,
		at.rank, shared), p.orderHint(wrong))
	c.Missing = "an edge between the two"
	return c
}

// used lists the accesses of a node to memory.
func (g *graph) used(n int32) (list []ops.Use) {
	switch g.nodes[n].kind {
	case whole:
		list = g.operation(n).Uses
		fallthrough
	case begin:
		if o := g.operation(n); o.Count.Buffer != "" {
			list = append(slices.Clone(list), ops.Use{Write: true, At: o.Count, Bytes: 4})
		}
		return list
	case ahead:
		return slices.DeleteFunc(slices.Clone(g.operation(n).Uses), func(u ops.Use) bool { return !u.Ahead })
	case enter, leave: // the memory is in use from the one to the other
		return g.operation(n).Uses
	case word:
		if w, _ := g.item(n); ops.OfStream(w.At) {
			return []ops.Use{{Write: true, At: w.At, Bytes: 4}}
		}
	}
	return nil
}

type region struct {
	memory
	list []access
}

// memories gathers the accesses to each rank's memory, in a fixed order.
func (p *proof) memories() []region {
	var all []region
	number := map[memory]int{}
	for n := range p.nodes {
		for _, u := range p.used(int32(n)) {
			if end(u) == u.At.Offset {
				continue // of an empty uneven part
			}
			m := memory{u.At.Rank, u.At.Buffer, p.model.half(u.At.Buffer, p.nodes[n].run)}
			i, ok := number[m]
			if !ok {
				i = len(all)
				number[m] = i
				all = append(all, region{memory: m})
			}
			all[i].list = append(all[i].list, access{int32(n), u.At.Offset, end(u), u.Write})
		}
	}
	for n, x := range p.nodes {
		if x.kind < caller {
			continue
		}
		for i := range all {
			own := int(x.rank) == all[i].rank && !p.model.landing(all[i].buffer) && !p.model.constant(all[i].buffer)
			if x.kind != caller || own {
				all[i].list = append(all[i].list, access{int32(n), 0, math.MaxInt64, true})
			}
		}
	}
	return all
}

// conflicts lists the pairs of accesses that must be ordered and that neither one stream nor bracket orders.
func (p *proof) conflicts(m region) []pair {
	return slices.DeleteFunc(m.overlaps(), func(x pair) bool { return p.trivial(x.from, x.to) })
}

// overlaps lists the pairs of accesses to common bytes, one of them a write.
func (m region) overlaps() (pairs []pair) {
	slices.SortStableFunc(m.list, func(a, b access) int { return cmp.Compare(a.lo, b.lo) })
	var open []access
	for _, a := range m.list {
		open = slices.DeleteFunc(open, func(b access) bool { return b.hi <= a.lo })
		for _, b := range open {
			if (a.write || b.write) && a.node != b.node {
				pairs = append(pairs, pair{min(a.node, b.node), max(a.node, b.node)})
			}
		}
		open = append(open, a)
	}
	return pairs
}

// trivial reports whether one stream or bracket orders two nodes.
func (p *proof) trivial(a, b int32) bool {
	x, y := p.nodes[a], p.nodes[b]
	if x.kind > caller || y.kind > caller {
		return x.kind >= caller && y.kind >= caller
	}
	if x.rank != y.rank || x.kind == ahead || y.kind == ahead {
		return false
	}
	if x.kind == caller || y.kind == caller || x.run != y.run {
		return true
	}
	of, with := p.operation(a), p.operation(b)
	return of.Stream == with.Stream && !apart(of, with)
}

// common names bytes that both nodes use.
func (p *proof) common(w pair) (at memory, text string) {
	for _, u := range p.used(w.from) {
		for _, v := range p.used(w.to) {
			if (u.Write || v.Write) && overlap(u, v) {
				lo := max(u.At.Offset, v.At.Offset)
				return memory{rank: u.At.Rank, buffer: u.At.Buffer}, fmt.Sprintf("bytes %d to %d", lo,
					max(lo+1, min(u.At.Offset+u.Bytes, v.At.Offset+v.Bytes)))
			}
		}
	}
	world, other := w.from, w.to
	if p.nodes[other].kind >= caller {
		world, other = other, world
	}
	for _, u := range p.used(other) {
		if p.nodes[world].kind > caller || u.At.Rank == int(p.nodes[world].rank) {
			return memory{rank: u.At.Rank, buffer: u.At.Buffer}, fmt.Sprintf("bytes %d to %d", u.At.Offset,
				u.At.Offset+u.Bytes)
		}
	}
	return at, ""
}

func (p *proof) orderHint(w pair) string {
	x, y := p.nodes[w.from], p.nodes[w.to]
	if x.kind == ahead || y.kind == ahead {
		return "read ahead only what the schedule calls Constant and no operation writes"
	}
	if x.rank == y.rank {
		return "make the later one's stream wait for the earlier one's (Synchronize), or give the " +
			"two memory of their own"
	}
	return "let one rank post after its use and the other wait for that before its own"
}

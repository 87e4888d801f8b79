package prove

import (
	"fmt"
	"math/bits"
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Warning is an overlap that a program can't have: the program is safe, and slower than it need be.
type Warning struct {
	Ranks         int
	Copy, Product Place // the copy comes after the product without needing it
	Count         int   // of such copies in a run of all ranks
	Path          []Place
	Suggestion    string
}

// String is one line.
func (w Warning) String() string {
	return fmt.Sprintf("D = %d: overlap lost: %d times a copy waits for a product that it does not need: %s waits "+
		"for %s (%s)", w.Ranks, w.Count, w.Copy, w.Product, w.Suggestion)
}

// warnings finds copies from a peer that come after a product that they don't need: a wait for the caller's stream
// inside the loop causes this, and so do streams taken in turn. A copy needs the operations that wrote the bytes it
// reads, the operations that used the bytes it writes, and all operations that these need. A copy that needs a product
// is left out: it comes after that product, and after every product before it, in any case.
func (p *proof) warnings() []Warning {
	products, copies := p.productsAndCopies()
	first, edges := p.needs()
	sweep(first, edges, products, func(_ []int32, needed []mask) {
		copies = slices.DeleteFunc(copies, func(c int32) bool { return needed[c] != mask{} })
	})
	var all []Warning
	index := map[[2]string]int{}
	p.sweep(products, func(batch []int32, reach []mask) {
		for _, c := range copies {
			for i := range lanes / 64 {
				for waits := reach[c][i]; waits != 0; waits &= waits - 1 {
					all = p.warn(all, index, batch[64*i+bits.TrailingZeros64(waits)], c)
				}
			}
		}
	})
	return all
}

// productsAndCopies are the products of the first run, and its copies from peers.
func (p *proof) productsAndCopies() (products, copies []int32) {
	for n, x := range p.nodes {
		if x.run != 0 || x.kind != whole {
			continue
		}
		switch o := p.operation(int32(n)); o.Kind {
		case ops.Product:
			products = append(products, int32(n))
		case ops.Copy:
			if len(o.Uses) > 0 && o.Source().At.Rank != o.Result().At.Rank {
				copies = append(copies, int32(n))
			}
		}
	}
	return products, copies
}

// needs is the order that data alone requires, as edges by the node they lead to.
func (p *proof) needs() (first, edges []int32) {
	var from, to []int32
	for _, m := range p.memories() {
		if ops.OfStream(ops.Loc{Buffer: m.buffer}) {
			continue
		}
		m.list = slices.DeleteFunc(m.list, func(a access) bool {
			x := p.nodes[a.node]
			return x.run != 0 || x.kind != whole && x.kind != enter && x.kind != leave
		})
		for _, w := range m.overlaps() {
			from, to = append(from, w.from), append(to, w.to)
		}
	}
	for n, x := range p.nodes {
		if x.run != 0 || x.kind != leave {
			continue
		}
		for _, b := range p.before(int32(n)) { // a collective needs the data of its ranks
			if p.nodes[b].kind == enter {
				from, to = append(from, b), append(to, int32(n))
			}
		}
	}
	return compress(len(p.nodes), from, to)
}

// warn counts pairs by the fields of the schedule that cause them.
func (p *proof) warn(all []Warning, index map[[2]string]int, product, copied int32) []Warning {
	key := [2]string{field(p.operation(product)), field(p.operation(copied))}
	if i, ok := index[key]; ok {
		all[i].Count++
		return all
	}
	index[key] = len(all)
	return append(all, Warning{Ranks: len(p.lists), Copy: *p.at(copied), Product: *p.at(product), Count: 1,
		Path: p.places(p.path(product, copied)), Suggestion: p.faster(product, copied)})
}

// faster names the choice that loses the overlap, from the path between the two.
func (p *proof) faster(product, copied int32) string {
	x, y := p.operation(product), p.operation(copied)
	if x.Stream == y.Stream {
		return "they share a stream: drop WithStep, or use more Streams"
	}
	for _, n := range p.path(product, copied) {
		switch main := p.operation(p.start[0][p.nodes[product].rank]).Stream; {
		case !p.forks(n, main):
		case x.Stream == main:
			return "the streams are forked after it: fork before it"
		case field(p.operation(n)) != hostir.MovesField: // a way asks for the fork in each step
			return "the streams wait for main inside the loop: drop " + field(p.operation(n))
		}
	}
	return "drop the wait that is between them"
}

// forks reports whether a node is a step by which other streams wait for main.
func (p *proof) forks(n int32, main string) bool {
	o := p.operation(n)
	if o == nil {
		return false
	}
	s, ok := o.Node.(hostir.Synchronize)
	return ok && len(s.On) == 1 && s.On[0].Set == main
}

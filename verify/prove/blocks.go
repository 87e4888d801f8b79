package prove

import (
	"fmt"

	"ovgen/verify/ops"
)

// blocks checks the words that the blocks of a kernel signal each for itself. The kernels at both sides of such a word
// write equally many elements, so they have equally many blocks, and no other operation posts or awaits the word. Where
// two of these kernels use common bytes and one of them writes them, both use the same range, so only blocks of one
// number meet there.
func (p *proof) blocks() *Counterexample {
	type signals struct {
		byBlocks bool
		elements int64 // that the launch writes, by blocks
	}
	seen := map[ops.Loc]signals{} // of each word
	for r, list := range p.lists {
		written := map[int]int64{} // by step
		for i, o := range list {
			for j, u := range o.Uses {
				if !o.ByBlocks || !u.Write {
					continue
				}
				of := p.elements(&o, u, o.OfScales(j))
				if n, known := written[o.Step]; known && n != of {
					return p.against(Blocks, p.find(r, i), -1, fmt.Sprintf("its blocks share out %d elements, and %d",
						n, of), "cut the work of all into equal parts")
				}
				written[o.Step] = of
			}
		}
		for i, o := range list {
			at := signals{o.ByBlocks, written[o.Step]}
			for _, w := range o.Words {
				was, known := seen[w.At]
				seen[w.At] = at
				switch {
				case ops.OfStream(w.At) || !known || was == at:
				case was.byBlocks != at.byBlocks:
					return p.against(Blocks, p.find(r, i), -1,
						fmt.Sprintf("%s is signalled by blocks and otherwise", w.At),
						"let one kind of kernel post and await it")
				default:
					return p.against(Blocks, p.find(r, i), -1,
						fmt.Sprintf("it writes %d elements, and another kernel by blocks that signals %s writes %d: "+
							"they have other numbers of blocks", at.elements, w.At, was.elements),
						"cut the work of both into equal parts")
				}
			}
		}
	}
	return p.crossing()
}

// elements counts the elements that an operation writes by a use. A scale stands for the elements of its row.
func (p *proof) elements(o *ops.Op, u ops.Use, scales bool) int64 {
	b, _ := p.model.buffer(u.At.Buffer)
	n := b.elements(u.Bytes)
	if scales {
		return n * max(o.Columns, o.Scaled)
	}
	return n
}

// crossing finds two uses by blocks with different ranges that have common bytes, and one of the two is a write.
func (p *proof) crossing() *Counterexample {
	for _, m := range p.memories() {
		for _, x := range m.overlaps() {
			a, b := p.operation(x.from), p.operation(x.to)
			if a == nil || b == nil || !a.ByBlocks || !b.ByBlocks {
				continue
			}
			if p.nodes[x.from].rank == p.nodes[x.to].rank && a.Stream == b.Stream && !a.Early && !b.Early {
				continue // one launch waits until all blocks of the other have ended
			}
			for _, u := range a.Uses {
				for _, v := range b.Uses {
					if (u.Write || v.Write) && overlap(u, v) && (u.At != v.At || u.Bytes != v.Bytes) {
						return p.against(Blocks, x.from, x.to,
							fmt.Sprintf("both use bytes of %s@%d, cut into other parts", u.At.Buffer, u.At.Rank),
							"let both use all of the same range")
					}
				}
			}
		}
	}
	return nil
}

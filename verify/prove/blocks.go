package prove

import (
	"fmt"

	"ovgen/verify/ops"
)

// blocks checks words that blocks signal each for itself. The kernels at both sides of such a word write equally many
// bytes, so that they have equally many blocks, and no other operation posts or awaits it. Where two of these kernels
// use common bytes and one writes them, both use the same range, so that only blocks of one number meet there.
func (p *proof) blocks() *Counterexample {
	type signals struct {
		byBlocks bool
		bytes    int64 // that the launch writes, by blocks
	}
	seen := map[ops.Loc]signals{} // of each word
	for r, list := range p.lists {
		written := map[int]int64{} // by step
		for i, o := range list {
			for _, u := range o.Uses {
				if !o.ByBlocks || !u.Write {
					continue
				}
				if n, known := written[o.Step]; known && n != u.Bytes {
					return p.against(Blocks, p.find(r, i), -1, fmt.Sprintf("its blocks share out %d bytes, and %d", n,
						u.Bytes), "cut the work of all into equal parts")
				}
				written[o.Step] = u.Bytes
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
						fmt.Sprintf("it writes %d bytes, and another kernel by blocks that signals %s writes %d: they "+
							"have other numbers of blocks", at.bytes, w.At, was.bytes),
						"cut the work of both into equal parts")
				}
			}
		}
	}
	return p.crossing()
}

// crossing finds two uses by blocks of different ranges with common bytes, one of them a write.
func (p *proof) crossing() *Counterexample {
	for _, m := range p.memories() {
		for _, x := range m.overlaps() {
			a, b := p.operation(x.from), p.operation(x.to)
			if a == nil || b == nil || !a.ByBlocks || !b.ByBlocks {
				continue
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

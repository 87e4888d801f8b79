package prove

import (
	"fmt"

	"ovgen/verify/ops"
)

// blocks: kernels whose blocks signal each for itself write equally many bytes, so that they have
// equally many blocks; no other operation posts or awaits their words; and where two of them use
// common bytes of which one writes, they use the same bytes, so that only blocks of one number
// meet there.
func (p *proof) blocks() *Counterexample {
	bytes := int64(-1)
	byBlocks := map[ops.Loc]bool{} // of each word, whether blocks signal it
	for r, list := range p.lists {
		for i, o := range list {
			for _, w := range o.Words {
				if was, seen := byBlocks[w.At]; !ofStream(w.At.Buffer) && seen && was != o.ByBlocks {
					return p.against(Blocks, p.find(r, i), -1,
						fmt.Sprintf("%s is signalled by blocks and otherwise", w.At),
						"let one kind of kernel post and await it")
				}
				byBlocks[w.At] = o.ByBlocks
			}
			for _, u := range o.Uses {
				if !o.ByBlocks || !u.Write {
					continue
				}
				if bytes >= 0 && bytes != u.Bytes {
					return p.against(Blocks, p.find(r, i), -1,
						fmt.Sprintf("it writes %d bytes, and another kernel by blocks %d: they have other "+
							"numbers of blocks", u.Bytes, bytes), "cut the work of all into equal parts")
				}
				bytes = u.Bytes
			}
		}
	}
	return p.crossing()
}

// crossing finds two uses by blocks of common bytes, of which one writes, that are cut otherwise.
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

package prove

import (
	"fmt"

	"ovgen/verify/ops"
)

// bounds: every use lies inside a buffer that the model declares, on a rank that
// exists; peers use of a caller's memory only what is shared; a stream's own memory
// is used by its rank.
func (p *proof) bounds() *Counterexample {
	for r, list := range p.lists {
		for i, o := range list {
			for j, u := range o.Uses {
				for _, v := range o.Uses[:j] {
					if (u.Write || v.Write) && overlap(u, v) && !inPlace(o, u, v) {
						return p.against(Bounds, p.find(r, i), -1, fmt.Sprintf("one operation both uses and writes bytes of %s@%d", u.At.Buffer, u.At.Rank), "give its result memory of its own")
					}
				}
				if wrong := p.outside(r, u); wrong != "" {
					return p.against(Bounds, p.find(r, i), -1, wrong, "use memory that the program declares, at its size")
				}
			}
		}
	}
	return nil
}

// inPlace says that an operation may write what it reads: a product that adds to its
// result, and a sum into one of its terms, of which each element is read ahead of the
// element that it is a term of.
func inPlace(o ops.Op, u, v ops.Use) bool {
	return (o.Kind == ops.Product || o.Kind == ops.Sum) && u.At == v.At && u.Bytes == v.Bytes && u.Write != v.Write
}

// overlap says that two uses have bytes in common.
func overlap(u, v ops.Use) bool {
	return u.At.Rank == v.At.Rank && u.At.Buffer == v.At.Buffer && u.At.Offset < end(v) && v.At.Offset < end(u)
}

// end of a use; memory without a size, a workspace, counts as one byte.
func end(u ops.Use) int64 {
	if ofStream(u.At.Buffer) {
		return u.At.Offset + max(u.Bytes, 1)
	}
	return u.At.Offset + u.Bytes
}

// outside says what is wrong with a use by a rank.
func (p *proof) outside(rank int, u ops.Use) string {
	at := u.At
	if at.Rank < 0 || at.Rank >= len(p.lists) {
		return fmt.Sprintf("%s: there is no rank %d", at, at.Rank)
	}
	if ofStream(at.Buffer) {
		if at.Rank != rank {
			return fmt.Sprintf("%s is of another rank's stream", at)
		}
		return ""
	}
	b, ok := p.model.buffer(at.Buffer)
	switch {
	case !ok:
		return fmt.Sprintf("%s: the program has no buffer %s", at, at.Buffer)
	case u.Bytes < 0 || at.Offset < 0 || at.Offset+u.Bytes > b.Bytes:
		return fmt.Sprintf("%s and %d bytes from there: %s has %d bytes", at, u.Bytes, b.Name, b.Bytes)
	case b.Root && at.Rank != 0:
		return fmt.Sprintf("%s: only rank 0 has %s", at, b.Name)
	case at.Rank != rank && !b.remote():
		return fmt.Sprintf("%s is the caller's and not shared with peers", at)
	}
	return ""
}

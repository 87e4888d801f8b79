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
			for _, u := range o.Uses {
				if wrong := p.outside(r, u); wrong != "" {
					return p.against(Bounds, p.find(r, i), -1, wrong, "use memory that the program declares, at its size")
				}
			}
		}
	}
	return nil
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
	case at.Rank != rank && !b.remote():
		return fmt.Sprintf("%s is the caller's and not shared with peers", at)
	}
	return ""
}

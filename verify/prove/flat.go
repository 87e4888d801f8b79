package prove

import (
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// flat: a program that cuts a result by its elements is proven at shapes whose rows the ranks divide, and New takes
// others. They have the same operations, and the same contents if only copies and sums, which go element by element,
// see a part of a buffer: a product makes all of one out of all of others.
func flat(p *hostir.Program, m Model, lists [][]ops.Op) error {
	cut := false
	for _, check := range p.Checks {
		cut = cut || check.With != ""
	}
	if !cut {
		return nil
	}
	for _, list := range lists {
		for _, o := range list {
			if o.Kind != ops.Product {
				continue
			}
			for _, u := range o.Uses {
				b, ok := m.buffer(u.At.Buffer)
				if ok && (u.At.Offset != 0 || u.Bytes != b.Bytes) {
					return notAll(p, len(lists), fmt.Sprintf("%s is a part, of which a product takes rows, and the "+
						"ranks need not divide the rows", u))
				}
			}
		}
	}
	return nil
}

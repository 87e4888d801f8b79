package prove

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"ovgen/verify/ops"
)

// version of the prover: raised when the meaning of "proven" changes.
const version = 5

// properties in the order in which they are checked.
var properties = []Property{Shapes, Events, Bounds, Abort, Signals, Blocks, Rest, Remote, Allocations, Bracket,
	Agreement, Matching, Deadlock, Reset, Window, Race, Contents, Serial}

type stamp struct{ hash.Hash }

func newStamp() stamp {
	s := stamp{sha256.New()}
	fmt.Fprintf(s, "prove %d\n", version)
	for _, p := range properties {
		fmt.Fprintln(s, p)
	}
	return s
}

func (s stamp) add(m Model, lists [][]ops.Op) {
	fmt.Fprintf(s, "%s D=%d\n%+v\n%v %v\n", m.Program, len(lists), m.Buffers, m.Semaphores, m.Members)
	if len(m.Halves) > 0 {
		fmt.Fprintf(s, "%v %v\n", m.Halves, m.Lands)
	}
	if m.Columns != nil {
		fmt.Fprintf(s, "%v\n", m.Columns)
	}
	if m.Constant != nil {
		fmt.Fprintf(s, "%v\n", m.Constant)
	}
	if m.Hosts > 0 {
		fmt.Fprintf(s, "H=%d\n", m.Hosts)
	}
	if c := m.Computes; c != nil {
		w := c.Schedule // no operation depends on its Teaches
		fmt.Fprintf(s, "{Schedule:{Mesh:%+v Tensors:%+v Ops:%+v Moves:%+v Types:%+v} Extents:%+v Counts:%+v "+
			"ElementSize:%d}\n", w.Mesh, w.Tensors, w.Ops, w.Moves, w.Types, c.Extents, c.Counts, c.ElementBits/8)
	}
	for r, list := range lists {
		fmt.Fprintf(s, "rank %d\n%s", r, ops.Lines(list))
	}
}

func (s stamp) sum() string { return fmt.Sprintf("%x", s.Sum(nil)) }

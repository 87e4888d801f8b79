package prove

import (
	"maps"
	"slices"

	"ovgen/verify/ops"
)

// tail has the last nodes of a stream: the node of its last operation or, in a launch of several parts, of each part.
type tail struct {
	whole []int32
	parts map[int]int32
}

// before lists the nodes that come before an operation on its stream. The first operation of a part comes after the
// operations before all parts; the first operation behind the parts comes after each part.
func (t *tail) before(o *ops.Op) []int32 {
	if last, begun := t.parts[o.Part]; begun {
		return []int32{last}
	}
	if o.Part == 0 && len(t.parts) > 0 {
		t.whole, t.parts = slices.Sorted(maps.Values(t.parts)), nil
	}
	return slices.Clone(t.whole)
}

// add puts an operation's last node at the end of the stream, or of its part.
func (t *tail) add(o *ops.Op, last int32) {
	if o.Part == 0 {
		t.whole = []int32{last}
		return
	}
	if t.parts == nil {
		t.parts = map[int]int32{}
	}
	t.parts[o.Part] = last
}

// apart reports whether two operations may be in different parts of one launch.
func apart(a, b *ops.Op) bool { return a.Part > 0 && b.Part > 0 && a.Part != b.Part }

// beside reports whether two operations are in different parts of one launch whose blocks all run at once: neither
// keeps the other from the device.
func (p *proof) beside(holds, o *ops.Op) bool {
	return holds.AtOnce && o.AtOnce && holds.Step == o.Step && holds.Stream == o.Stream && apart(holds, o)
}

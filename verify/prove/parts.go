package prove

import (
	"maps"
	"slices"

	"ovgen/verify/ops"
)

// tail is the last nodes of a stream: of its last operation or, in a launch of several parts, of each part.
type tail struct {
	whole []int32
	parts map[int]int32
}

// before is what an operation comes after on its stream: a part's first, after all before the launch's parts, and what
// follows the parts, after each.
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

// apart says that two operations may be in different parts of one launch.
func apart(a, b *ops.Op) bool { return a.Part > 0 && b.Part > 0 && a.Part != b.Part }

// beside says that a part of a launch holds the device and does not keep another operation of its rank from it, since
// that is in another part of the same launch, all blocks of which run at once.
func (p *proof) beside(holds, o *ops.Op) bool {
	return holds.AtOnce && o.AtOnce && holds.Step == o.Step && holds.Stream == o.Stream && apart(holds, o)
}

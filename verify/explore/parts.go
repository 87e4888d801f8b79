package explore

import (
	"maps"
	"slices"

	"ovgen/verify/ops"
)

// byParts adds a launch whose parts run side by side: each follows the operations before the parts, and the operations
// after them follow all.
func (b *rankBuilder) byParts(list []ops.Op) {
	stream := list[0].Stream
	if b.one {
		stream = mainStream
	}
	first := slices.IndexFunc(list, func(o ops.Op) bool { return o.Part > 0 })
	end := len(list)
	for end > first && list[end-1].Part == 0 {
		end--
	}
	for i := range list[:first] {
		b.op(&list[i])
	}
	waits, start := b.waits, slices.Clone(b.last(stream))
	ends := map[int][]int32{}
	var all []int32
	for i := first; i < end; i++ {
		o := &list[i]
		from, begun := ends[o.Part]
		if !begun {
			from, b.waits = start, waits
		}
		b.streams[stream] = from
		b.op(o)
		ends[o.Part] = b.streams[stream]
	}
	for _, i := range slices.Sorted(maps.Keys(ends)) {
		all = union(all, ends[i])
	}
	b.streams[stream] = all
	for i := end; i < len(list); i++ {
		b.op(&list[i])
	}
}

package explore

import (
	"maps"
	"slices"

	"ovgen/verify/ops"
)

// byParts adds a launch whose parts run side by side: each follows the operations before the parts, and the operations
// after them follow all. Each part holds the device for itself, unless all blocks of the launch run at once.
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
	ends, groups, launch := map[int][]int32{}, map[int]int32{}, b.group
	var all []int32
	for i := first; i < end; i++ {
		o := &list[i]
		from, begun := ends[o.Part]
		if !begun {
			from, b.waits = start, waits
			groups[o.Part] = launch
			if !o.AtOnce {
				groups[o.Part] = launch + int32(len(groups))
			}
		}
		b.group = groups[o.Part]
		b.streams[stream] = from
		b.op(o)
		ends[o.Part] = b.streams[stream]
	}
	if !list[first].AtOnce {
		b.group = launch + int32(len(groups)) + 1
	}
	for _, i := range slices.Sorted(maps.Keys(ends)) {
		all = union(all, ends[i])
	}
	b.streams[stream] = all
	for i := end; i < len(list); i++ {
		b.op(&list[i])
	}
}

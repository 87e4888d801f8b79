package explore

import (
	"maps"
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// byParts adds a launch whose parts run side by side: each part follows the operations before the parts, and the
// operations after the parts follow all of them. Each part holds the device for itself, unless all blocks of the launch
// run at once.
func (b *rankBuilder) byParts(list []ops.Op) {
	stream := list[0].Stream
	if b.one {
		stream = hostir.MainStream
	}
	first := slices.IndexFunc(list, func(o ops.Op) bool { return o.Part > 0 })
	end := len(list)
	for end > first && list[end-1].Part == 0 {
		end--
	}
	atOnce := list[first].AtOnce
	begin := func(some []ops.Op) {
		if !atOnce {
			b.waits = waits(some)
		}
	}
	begin(list[:first])
	for i := range list[:first] {
		b.op(&list[i])
	}
	start := slices.Clone(b.last(stream))
	ends, groups, launch := map[int][]int32{}, map[int]int32{}, b.group
	var all []int32
	for i := first; i < end; i++ {
		o := &list[i]
		from, begun := ends[o.Part]
		if !begun {
			from = start
			groups[o.Part] = launch
			if !atOnce {
				groups[o.Part] = launch + int32(len(groups))
			}
			begin(slices.DeleteFunc(slices.Clone(list[i:end]), func(x ops.Op) bool { return x.Part != o.Part }))
		}
		b.group = groups[o.Part]
		b.streams[stream] = from
		b.op(o)
		ends[o.Part] = b.streams[stream]
	}
	if !atOnce {
		b.group = launch + int32(len(groups)) + 1
	}
	begin(list[end:])
	for _, i := range slices.Sorted(maps.Keys(ends)) {
		all = union(all, ends[i])
	}
	b.streams[stream] = all
	for i := end; i < len(list); i++ {
		b.op(&list[i])
	}
}

// waits reports whether some of the operations wait for a word.
func waits(list []ops.Op) bool {
	return slices.ContainsFunc(list, func(o ops.Op) bool {
		return slices.ContainsFunc(o.Words, func(w ops.Word) bool { return !w.Write })
	})
}

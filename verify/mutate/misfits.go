package mutate

import (
	"slices"

	"ovgen/verify/ops"
)

// misfits adds operations of one rank that do not form a launch with the other operations of their step: no kernel does
// that.
func (m *maker) misfits(list []ops.Op, i int) {
	o := list[i]
	change := func(kind string, f func(*ops.Op)) {
		changed := slices.Clone(list)
		f(&changed[i])
		m.rank(kind, o.String()+" as "+changed[i].String(), changed)
	}
	alone := func(x ops.Op) bool { return x.Step != o.Step || x.Stream != o.Stream }
	if o.Kernel == "" || alone(list[i-1]) && alone(list[i+1]) {
		return
	}
	change("another kernel in a launch", func(o *ops.Op) { o.Kernel += "2" })
	change("other blocks in a launch", func(o *ops.Op) { o.ByBlocks = !o.ByBlocks })
	change("other blocks in a launch", func(o *ops.Op) { o.AtOnce = !o.AtOnce })
	change("another part of a launch", func(o *ops.Op) { o.Part++ })
	if o.Part > 0 {
		change("another part of a launch", func(o *ops.Op) { o.Part = 0 })
	}
	if o.Count.Buffer == "" {
		change("count blocks", func(o *ops.Op) { o.Count = ops.Loc{Rank: oneRank, Buffer: ops.CountWord(o.Stream)} })
	}
	if len(o.Uses) > 1 {
		change("the result first", func(o *ops.Op) { o.Uses = slices.Concat(o.Writes(), o.Reads()) })
	}
}

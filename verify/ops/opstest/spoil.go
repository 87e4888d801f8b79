package opstest

import (
	"slices"

	"pgregory.net/rapid"

	"ovgen/verify/ops"
)

// Spoil returns lists in which a few randomly drawn operations have randomly drawn mistakes: everything that can be
// written into an ops.Op, even if no program enqueues it.
func Spoil(t *rapid.T, lists [][]ops.Op) [][]ops.Op {
	out := make([][]ops.Op, len(lists))
	for r, list := range lists {
		out[r] = slices.Clone(list)
	}
	for range rapid.IntRange(1, 4).Draw(t, "mistakes") {
		r := rapid.IntRange(0, len(out)-1).Draw(t, "rank")
		i := rapid.IntRange(0, len(out[r])-1).Draw(t, "operation")
		o := out[r][i]
		o.Words, o.Uses = slices.Clone(o.Words), slices.Clone(o.Uses)
		mistakes[rapid.IntRange(0, len(mistakes)-1).Draw(t, "mistake")](t, &o)
		out[r][i] = o
	}
	return out
}

var mistakes = []func(*rapid.T, *ops.Op){
	func(t *rapid.T, o *ops.Op) { o.Kind = ops.Kind(rapid.IntRange(0, 9).Draw(t, "kind")) },
	func(t *rapid.T, o *ops.Op) {
		o.Stream = rapid.SampledFrom([]string{"", "main", "other"}).Draw(t, "stream")
	},
	func(t *rapid.T, o *ops.Op) {
		o.Kernel = rapid.SampledFrom([]string{"", "get", "shot"}).Draw(t, "kernel")
	},
	func(t *rapid.T, o *ops.Op) {
		o.Form = rapid.SampledFrom([]string{"", "matmul", "linear gelu", "gradient", "all-reduce",
			"all-gather"}).Draw(t, "form")
	},
	func(t *rapid.T, o *ops.Op) { o.Event = rapid.IntRange(-1, 9).Draw(t, "event") },
	func(t *rapid.T, o *ops.Op) { o.Accumulate = !o.Accumulate },
	func(t *rapid.T, o *ops.Op) { o.Count = place(t, o.Count) },
	func(_ *rapid.T, o *ops.Op) { o.Words, o.Uses = nil, nil },
	func(t *rapid.T, o *ops.Op) {
		o.Words = append(o.Words, ops.Word{Write: rapid.Bool().Draw(t, "write"), Value: rapid.Uint32Range(0, 2).Draw(t,
			"value"), At: place(t, ops.Loc{})})
	},
	func(t *rapid.T, o *ops.Op) {
		o.Uses = append(o.Uses, ops.Use{Write: rapid.Bool().Draw(t, "write"), Bytes: size(t), At: place(t, ops.Loc{})})
	},
	func(t *rapid.T, o *ops.Op) {
		if len(o.Uses) > 0 {
			u := &o.Uses[rapid.IntRange(0, len(o.Uses)-1).Draw(t, "use")]
			u.Write, u.Bytes, u.At = rapid.Bool().Draw(t, "write"), u.Bytes+size(t), place(t, u.At)
		}
	},
	func(t *rapid.T, o *ops.Op) {
		if n := len(o.Uses); n > 0 {
			i := rapid.IntRange(0, n-1).Draw(t, "use")
			o.Uses = slices.Delete(o.Uses, i, i+1)
		}
	},
	func(t *rapid.T, o *ops.Op) {
		if len(o.Words) > 0 {
			w := &o.Words[rapid.IntRange(0, len(o.Words)-1).Draw(t, "word")]
			w.Write, w.At = rapid.Bool().Draw(t, "write"), place(t, w.At)
		}
	},
}

// size is a number of bytes, and may be an impossible one.
func size(t *rapid.T) int64 { return rapid.Int64Range(-64, 64).Draw(t, "bytes") }

// place is another place than the given one, and may be a place that does not exist.
func place(t *rapid.T, at ops.Loc) ops.Loc {
	switch rapid.IntRange(0, 3).Draw(t, "place") {
	case 0:
		at.Rank = rapid.IntRange(-1, 4).Draw(t, "rank")
	case 1:
		at.Offset += size(t)
	case 2:
		at.Buffer = rapid.SampledFrom([]string{"", "A", "C", "S", "ready", "step[main]", "count[main]",
			"workspace[main]"}).Draw(t, "buffer")
	}
	return at
}

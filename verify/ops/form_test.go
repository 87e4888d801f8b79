package ops_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
)

// TestWellFormed: what the catalogue enqueues is well formed, and what no launch can be is not.
func TestWellFormed(t *testing.T) {
	for _, s := range catalog.All() {
		for _, d := range []int{1, 2, 3} {
			if lists, enqueued := unrolled(t, s.Schedule, d); enqueued {
				if err := ops.WellFormed(lists); err != nil {
					t.Errorf("%s for D = %d: %v", s.Name, d, err)
				}
			}
		}
	}
}

// moved puts an operation elsewhere.
func moved(from, to int) func([]ops.Op) []ops.Op {
	return func(l []ops.Op) []ops.Op {
		o := l[from]
		return slices.Insert(slices.Delete(l, from, from+1), to, o)
	}
}

// added puts an operation behind the first one.
func added(o ops.Op) func([]ops.Op) []ops.Op {
	return func(l []ops.Op) []ops.Op {
		o.Stream = "main"
		return slices.Insert(l, 1, o)
	}
}

// set changes an operation.
func set(i int, f func(*ops.Op)) func([]ops.Op) []ops.Op {
	return func(l []ops.Op) []ops.Op {
		l[i].Uses = slices.Clone(l[i].Uses)
		f(&l[i])
		return l
	}
}

var tiles, scatter, packets = catalog.AllGatherLinearTiles, catalog.LinearReduceScatterTiles, catalog.AllReducePackets

// malformed are changes of a rank's list that leave no launch as it must be.
var malformed = []struct {
	name string
	of   schedule.Schedule
	edit func([]ops.Op) []ops.Op
}{
	{"the first post behind part 1", tiles, moved(1, 3)},
	{"the last wait between parts", tiles, func(l []ops.Op) []ops.Op { return moved(len(l)-2, 3)(l) }},
	{"the first post swapped with the wait of part 1", scatter, moved(1, 2)},
	{"a part that is left out", tiles, set(2, func(o *ops.Op) { o.Part = 7 })},
	{"an early start of no kernel", catalog.AllGatherLinear, set(2, func(o *ops.Op) { o.Early = true })},
	{"an early start beside another of its launch", packets, set(2, func(o *ops.Op) { o.Early = true })},
	{"what is read ahead without an early start", packets, set(1, func(o *ops.Op) {
		o.Uses = slices.Clone(o.Uses)
		o.Uses[0].Ahead = true
	})},
	{"a part below 0", tiles, set(2, func(o *ops.Op) { o.Part = -1 })},
	{"parts without a product", packets, func(l []ops.Op) []ops.Op {
		for i := range l[1 : len(l)-1] {
			l[i+1].Part = 1
		}
		return l
	}},
	{"another kernel", packets, set(2, func(o *ops.Op) { o.Kernel = "push" })},
	{"no kernel", packets, set(2, func(o *ops.Op) { o.Kernel = "" })},
	{"one of all blocks together", packets, set(2, func(o *ops.Op) { o.ByBlocks = false })},
	{"one whose blocks run one after another", scatter, set(3, func(o *ops.Op) { o.AtOnce = false })},
	{"blocks that count, each for itself", packets, set(2, func(o *ops.Op) {
		o.Count = ops.Loc{Buffer: ops.CountWord("main")}
	})},
	{"a part that counts before the last", scatter, set(3, func(o *ops.Op) {
		o.Count = ops.Loc{Rank: 1, Buffer: ops.CountWord("main")}
	})},
	{"two words to count in", tiles, set(1, func(o *ops.Op) { o.Count.Buffer = ops.CountWord("copy") })},
	{"a count word of no kernel", catalog.AllGatherLinear, set(1, func(o *ops.Op) {
		o.Count = ops.Loc{Buffer: ops.CountWord("main")}
	})},
	{"the result before an operand", tiles, set(2, func(o *ops.Op) {
		last := len(o.Uses) - 1
		o.Uses[0], o.Uses[last] = o.Uses[last], o.Uses[0]
	})},
	{"two results", tiles, set(2, func(o *ops.Op) { o.Uses = append(o.Uses, o.Uses[len(o.Uses)-1]) })},
	{"no result", tiles, set(2, func(o *ops.Op) { o.Uses = o.Uses[:2] })},
	{"a product of one operand", tiles, set(2, func(o *ops.Op) { o.Uses = slices.Delete(o.Uses, 1, 3) })},
	{"a product of two biases", tiles, set(2, func(o *ops.Op) {
		o.Uses = slices.Concat(o.Reads(), o.Reads(), o.Writes())
	})},
	{"a product that adds to its result and does not read it", tiles, set(2, func(o *ops.Op) {
		o.Accumulate, o.Uses = true, slices.Delete(o.Uses, 2, 3)
	})},
	{"no start", packets, func(l []ops.Op) []ops.Op { return l[1:] }},
	{"no end", packets, func(l []ops.Op) []ops.Op { return l[:len(l)-1] }},
	{"an end in its midst", packets, set(2, func(o *ops.Op) { o.Kind = ops.Done })},
	{"a second start", packets, added(ops.Op{Kind: ops.After})},
	{"a second end", packets, added(ops.Op{Kind: ops.Done})},
	{"an event with memory", packets, added(ops.Op{Kind: ops.Record, Uses: []ops.Use{{Write: true, Bytes: 4}}})},
	{"a part of no kernel", packets, added(ops.Op{Kind: ops.Product, Part: 1,
		Uses: []ops.Use{{Bytes: 4}, {Bytes: 4}, {Write: true, Bytes: 4}}})},
	{"a part below 0 where there are no parts", packets, set(2, func(o *ops.Op) { o.Part = -1 })},
	{"a take that reads ahead of what it takes", packets, set(5, func(o *ops.Op) {
		o.Uses = slices.Insert(o.Uses, 0, ops.Use{At: o.Uses[0].At, Bytes: 4})
	})},
	{"a copy with words", packets, set(1, func(o *ops.Op) { o.Words = []ops.Word{{}} })},
	{"a signal with memory", packets, set(2, func(o *ops.Op) { o.Uses = make([]ops.Use, 1) })},
	{"a take that reads", packets, set(5, func(o *ops.Op) { o.Uses[0].Write = false })},
	{"a take that reads behind what it takes", packets, set(5, func(o *ops.Op) {
		o.Uses = append(o.Uses, ops.Use{At: o.Uses[0].At, Bytes: 4})
	})},
	{"a kernel of no step", packets, func(l []ops.Op) []ops.Op {
		for i := range l {
			l[i].Step = 0
		}
		return l
	}},
}

// Each list that is not well-formed is refused, by its rank.
func TestMalformed(t *testing.T) {
	for _, c := range malformed {
		lists, enqueued := unrolled(t, c.of, 2)
		if !enqueued {
			t.Fatalf("%s: there is no program", c.name)
		}
		lists[1] = c.edit(lists[1])
		if form := (*ops.FormError)(nil); !errors.As(ops.WellFormed(lists), &form) || form.Rank != 1 {
			t.Errorf("%s is well formed:\n%s", c.name, ops.Lines(lists[1]))
		}
	}
}

// unrolled are the lists of a schedule's ranks; none where it is not for so many ranks.
func unrolled(t *testing.T, s schedule.Schedule, ranks int) ([][]ops.Op, bool) {
	t.Helper()
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	if p.OverHosts() {
		return nil, false
	}
	c := explore.ShapeOf(p, ranks)
	lists, err := c.Unroll(p)
	if err != nil {
		t.Fatal(err)
	}
	return lists, true
}

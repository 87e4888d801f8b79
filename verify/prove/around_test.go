package prove

import (
	"testing"

	"ovgen/verify/ops"
)

// Words and uses of ranks next to a rank, around the end too, are among neighbours, and those of no other rank.
func TestAround(t *testing.T) {
	const ranks = 5
	at := func(rank, other int) [][]ops.Op {
		lists := make([][]ops.Op, ranks)
		lists[rank] = []ops.Op{{Words: []ops.Word{{At: ops.Loc{Rank: rank}}}},
			{Uses: []ops.Use{{At: ops.Loc{Rank: other}}}}}
		return lists
	}
	for _, c := range []struct {
		rank, other int
		want        bool
	}{{1, 2, true}, {1, 0, true}, {0, 4, true}, {4, 0, true}, {1, 1, false}, {1, 3, false}, {0, 3, false},
		{4, 1, false}} {
		if got := around(at(c.rank, c.other)); got != c.want {
			t.Errorf("rank %d of %d uses memory of %d: %t, want %t", c.rank, ranks, c.other, got, c.want)
		}
	}
	far := at(1, 2)
	far[1][0].Words[0].At.Rank = 3
	if around(far) {
		t.Error("a word of a rank further away is not seen")
	}
}

// A program is a ring where each size is, and one has more ranks than are all neighbours.
func TestRing(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []Size
		want  bool
	}{
		{"no sizes", nil, false},
		{"all are neighbours", []Size{{Ranks: 2, Around: true}, {Ranks: 3, Around: true}}, false},
		{"one rank, and four", []Size{{Ranks: 1}, {Ranks: 4, Around: true}}, true},
		{"not of six", []Size{{Ranks: 4, Around: true}, {Ranks: 6}}, false},
	} {
		r := &Report{Sizes: c.sizes}
		if got := r.Ring(); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
	if s := (&Size{Ranks: 4, Around: true}).and(&Size{Ranks: 4}); s.Around {
		t.Error("two samples of a size are around where one is not")
	}
}

// A table has rows of a result's chunks where each chunk is as large a part of the table as of the result.
func TestProportional(t *testing.T) {
	of := func(sizes ...int64) *chunks {
		c := &chunks{sizes: sizes}
		for _, n := range sizes {
			c.Bytes += n
		}
		return c
	}
	for _, c := range []struct {
		a, b *chunks
		want bool
	}{
		{of(2, 4), of(6, 12), true},
		{of(4, 2), of(6, 12), false},
		{of(6), of(6, 12), false},
		{of(6, 0), of(6, 12), false},
		{of(), of(), false},
	} {
		if got := proportional(c.a, c.b); got != c.want {
			t.Errorf("%v of %v: %t, want %t", c.a.sizes, c.b.sizes, got, c.want)
		}
	}
}

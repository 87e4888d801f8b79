package prove

import (
	"slices"
	"testing"

	"ovgen/verify/ops"
)

// A device sits in one wait: a circle in which a rank stands twice is no deadlock.
func TestDistinct(t *testing.T) {
	for name, x := range map[string]struct {
		ranks []int32 // of the waits
		next  [][]int32
		want  []int32
	}{
		"two ranks":                  {[]int32{0, 1}, [][]int32{{1}, {0}}, []int32{0, 1}},
		"a rank with itself":         {[]int32{0, 1}, [][]int32{{1}, {1}}, []int32{1}},
		"a rank twice":               {[]int32{1, 2, 0, 2}, [][]int32{{1}, {2}, {3}, {0}}, nil},
		"a rank twice, and a circle": {[]int32{1, 2, 0, 2, 0}, [][]int32{{1}, {2, 4}, {3}, {0, 4}, {3}}, []int32{3, 4}},
	} {
		p := &proof{graph: &graph{lists: make([][]ops.Op, 3)}}
		waits := make([]int32, len(x.ranks))
		for i, r := range x.ranks {
			p.nodes, waits[i] = append(p.nodes, node{rank: r}), int32(i)
		}
		known := findCircle(x.next)
		if known == nil {
			t.Fatalf("%s: no circle at all", name)
		}
		if got := p.distinct(x.next, waits, known); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", name, got, x.want)
		}
	}
}

package explore

import (
	"fmt"
	"slices"

	"ovgen/verify/ops"
)

// place is a buffer of a rank.
type place struct {
	rank   int
	buffer string
}

// atoms cuts memory into pieces that every operation takes whole or not at all.
type atoms struct {
	cuts  map[place][]int64 // sorted offsets
	first map[place]int32   // the atom that starts at the first cut
	names []string
}

// span is the range of a use; memory without a size, a workspace, is one byte.
func span(u ops.Use) (place, int64, int64) {
	return place{u.At.Rank, u.At.Buffer}, u.At.Offset, u.At.Offset + max(u.Bytes, 1)
}

// cut makes the atoms of a list of uses. Both sides of a copy are cut alike.
func cut(uses []ops.Use, copies [][2]ops.Use) *atoms {
	a := &atoms{cuts: map[place][]int64{}, first: map[place]int32{}}
	for _, u := range uses {
		p, from, to := span(u)
		a.cuts[p] = append(a.cuts[p], from, to)
	}
	for p := range a.cuts {
		a.tidy(p)
	}
	for again := true; again; {
		again = false
		for _, c := range copies {
			again = a.carry(c[0], c[1]) || again
			again = a.carry(c[1], c[0]) || again
		}
	}
	places := make([]place, 0, len(a.cuts))
	for p := range a.cuts {
		places = append(places, p)
	}
	slices.SortFunc(places, func(x, y place) int {
		if x.rank != y.rank {
			return x.rank - y.rank
		}
		if x.buffer < y.buffer {
			return -1
		}
		return 1
	})
	for _, p := range places {
		a.first[p] = int32(len(a.names))
		for _, c := range a.cuts[p] {
			a.names = append(a.names, fmt.Sprintf("%s@%d+%d", p.buffer, p.rank, c))
		}
	}
	return a
}

func (a *atoms) tidy(p place) {
	slices.Sort(a.cuts[p])
	a.cuts[p] = slices.Compact(a.cuts[p])
}

// carry cuts one side of a copy where the other is cut.
func (a *atoms) carry(from, to ops.Use) bool {
	p, lo, hi := span(from)
	q, base, _ := span(to)
	grown := false
	for _, c := range slices.Clone(a.cuts[p]) {
		at := base + c - lo
		if c <= lo || c >= hi {
			continue
		}
		if _, ok := slices.BinarySearch(a.cuts[q], at); !ok {
			a.cuts[q] = append(a.cuts[q], at)
			a.tidy(q)
			grown = true
		}
	}
	return grown
}

// of lists the atoms of a use in order.
func (a *atoms) of(u ops.Use) []int32 {
	p, lo, hi := span(u)
	i, _ := slices.BinarySearch(a.cuts[p], lo)
	j, _ := slices.BinarySearch(a.cuts[p], hi)
	list := make([]int32, 0, j-i)
	for ; i < j; i++ {
		list = append(list, a.first[p]+int32(i))
	}
	return list
}

// add makes an atom that is no memory.
func (a *atoms) add(name string) int32 {
	a.names = append(a.names, name)
	return int32(len(a.names) - 1)
}

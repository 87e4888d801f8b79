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

// atoms cuts memory into pieces. Each operation uses all of a piece or none of it.
type atoms struct {
	cuts  map[place][]int64 // sorted offsets
	first map[place]int32   // the atom that starts at the first cut
	names []string
	sizes []int // elements of each
}

// span is the range of a use; a workspace, which has no size, is one byte.
func span(u ops.Use) (place, int64, int64) {
	bytes := u.Bytes
	if bytes == 0 && ops.IsWorkspace(u.At) {
		bytes = 1
	}
	return place{u.At.Rank, u.At.Buffer}, u.At.Offset, u.At.Offset + bytes
}

// cut makes the atoms of a list of uses.
func cut(uses []ops.Use, bitsOf func(buffer string) int64) *atoms {
	a := &atoms{cuts: map[place][]int64{}, first: map[place]int32{}}
	for _, u := range uses {
		p, from, to := span(u)
		a.cuts[p] = append(a.cuts[p], from, to)
	}
	for p := range a.cuts {
		a.tidy(p)
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
		bits := bitsOf(p.buffer)
		a.first[p] = int32(len(a.names))
		for i, c := range a.cuts[p] {
			end := a.cuts[p][min(i+1, len(a.cuts[p])-1)]
			a.names = append(a.names, fmt.Sprintf("%s@%d+%d", p.buffer, p.rank, c))
			a.sizes = append(a.sizes, int((8*(end-c)+bits-1)/bits))
		}
	}
	return a
}

func (a *atoms) tidy(p place) {
	slices.Sort(a.cuts[p])
	a.cuts[p] = slices.Compact(a.cuts[p])
}

// of lists the atoms of a use, in order.
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

// add makes an atom that stands for no memory.
func (a *atoms) add(name string) int32 { return a.addSized(name, 0) }

// addSized makes an atom of elements on their way between ranks.
func (a *atoms) addSized(name string, elements int) int32 {
	a.names, a.sizes = append(a.names, name), append(a.sizes, elements)
	return int32(len(a.names) - 1)
}

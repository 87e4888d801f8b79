package harness

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/reading"
)

// Pattern is one way to fill the uneven parts of a program: the counts that Bind takes.
type Pattern struct {
	Name   string // empty for the usual counts
	Counts []int
}

// Patterns are the counts for which a program is verified: different parts, no rows at all, and all rows in one part.
// For balanced parts there is one pattern, their counts. A program without uneven parts has one pattern without counts.
func (p *Program) Patterns(s Shape, ranks int) []Pattern {
	if !p.uneven() {
		return []Pattern{{}}
	}
	s = s.Fit(p, ranks)
	if rows, ok := p.balanced(); ok {
		return []Pattern{{Counts: balancedCounts(int(s.value(rows)), ranks)}}
	}
	_, constant := p.Schedule.Constants()[schedule.M]
	if p.ragged() {
		n := ranks * ranks
		return []Pattern{{"", pairs(counts(s.M, ranks, s.M))}, {"no rows", make([]int, n)},
			{"one part", only(n, min(1, n-1), s.M)}}
	}
	most := s.M
	if p.Schedule.Bounded() {
		most = s.P
	}
	list := []Pattern{{"", counts(s.M, ranks, most)}, {"no rows", make([]int, ranks)},
		{"one part", only(ranks, 0, min(most, s.M))}}
	if _, all := p.Schedule.Multiplied(); all || constant { // the parts always have all rows
		return slices.DeleteFunc(list, func(l Pattern) bool { return sum(l.Counts) != s.M })
	}
	return list
}

func (p *Program) uneven() bool { return slices.ContainsFunc(p.Schedule.Tensors, unevenly) }

// balanced is the extent that is spread in balanced parts, and whether there is one: Bind takes no counts then.
func (p *Program) balanced() (schedule.Extent, bool) {
	return (&hostir.Program{Schedule: p.Schedule}).Balanced()
}

// balancedCounts are the numbers of rows of the ranks. Where the number of ranks doesn't divide the rows, the first
// ranks have one more.
func balancedCounts(rows, ranks int) []int {
	list := make([]int, ranks)
	for r := range list {
		list[r] = rows / ranks
		if r < rows%ranks {
			list[r]++
		}
	}
	return list
}

// ragged reports whether each pair of ranks has a count.
func (p *Program) ragged() bool {
	return slices.ContainsFunc(p.Schedule.Tensors, func(t Tensor) bool {
		_, ok := reading.Ragged(t)
		return ok
	})
}

// unevenly reports whether the ranks' parts of a tensor differ in size.
func unevenly(t Tensor) bool {
	return slices.ContainsFunc(t.Axes, func(a Axis) bool {
		return slices.ContainsFunc(a.Outer, func(o Split) bool { return o.Uneven })
	})
}

// counts are different parts of m, none above most: every second rank has up to three rows more than its share, and the
// next rank as many fewer.
func counts(m, ranks, most int) []int {
	list := make([]int, ranks)
	share := m / ranks
	for r := range list {
		list[r] = share
		if r%2 == 1 {
			moved := max(min(share, 3, most-share), 0)
			list[r-1], list[r] = share+moved, share-moved
		}
	}
	for left := m % ranks; left > 0; { // to the last parts that have room
		took := 0
		for r := ranks - 1; r >= 0; r-- {
			if n := min(left, max(most-list[r], 0)); n > 0 {
				list[r], left, took = list[r]+n, left-n, took+n
			}
		}
		if took == 0 {
			break // there are more rows than room: fits reports it
		}
	}
	return list
}

// only gives all rows to one of n parts.
func only(n, at, rows int) []int {
	list := make([]int, n)
	list[at] = rows
	return list
}

// pairs are counts for each pair of ranks, such that every rank sends and receives the given numbers of rows.
func pairs(counts []int) (list []int) {
	for from := range counts {
		for to := range counts {
			list = append(list, counts[(to-from+len(counts))%len(counts)])
		}
	}
	return list
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

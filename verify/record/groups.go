package record

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/verify/ops"
)

// made is an operation of a part of a launch of tiles and, for each of its uses, the ranges of all groups.
type made struct {
	ops.Op
	ranges [][]ops.Use
}

// grouped collects the parts of a launch of tiles. The groups of a part follow each other, and grouped keeps the
// operations of the first. Each later group has the same operations with other words, all at one distance from the
// words of the group before. All groups together use the part's memory.
type grouped struct {
	parts  []groupedPart
	number int            // of the last part between the launch's beginning and its end
	apart  int64          // bytes from a group's word to the next group's word; 0: not known yet
	used   map[ops.Loc]id // words
}

type groupedPart struct {
	list    []made
	groups  int
	outside bool // the launch's beginning or end
}

// id names a group of a part.
type id struct{ part, group int }

// add adds a part, or the next group of the last part.
func (g *grouped) add(list []made, outside, groups bool) error {
	n := len(g.parts)
	if n > 0 && groups && !outside && !g.parts[n-1].outside && g.follows(g.parts[n-1], list) {
		n--
		if err := g.parts[n].merge(list); err != nil {
			return err
		}
	} else {
		if !outside {
			g.number++
			for i := range list {
				list[i].Part = g.number
			}
		}
		g.parts = append(g.parts, groupedPart{list: list, outside: outside})
	}
	p := &g.parts[n]
	at := id{n, p.groups}
	p.groups++
	for _, o := range list {
		for _, w := range o.Words {
			if was, known := g.used[w.At]; known && was != at && groups && !outside && !ops.IsStep(w.At) {
				return fmt.Errorf("its word %s is another group's", w.At)
			}
			if g.used == nil {
				g.used = map[ops.Loc]id{}
			}
			g.used[w.At] = at
		}
	}
	return nil
}

// follows reports whether the operations are the next group of the part.
func (g *grouped) follows(p groupedPart, list []made) bool {
	if len(list) != len(p.list) {
		return false
	}
	apart := int64(0)
	for i, o := range list {
		first := withoutSteps(p.list[i].Words)
		words := withoutSteps(o.Words)
		if o.Kind != p.list[i].Kind || len(words) != len(first) {
			return false
		}
		for j, w := range words {
			far := w.At.Offset - first[j].At.Offset
			apart = cmp.Or(apart, far)
			w.At.Offset -= apart
			if apart <= 0 || w != first[j] || g.apart > 0 && apart != g.apart*int64(p.groups) {
				return false
			}
		}
	}
	g.apart = cmp.Or(g.apart, apart)
	return true
}

func withoutSteps(words []ops.Word) []ops.Word {
	return slices.DeleteFunc(slices.Clone(words), func(w ops.Word) bool { return ops.IsStep(w.At) })
}

// merge adds a group's ranges to the ranges of the groups before it.
func (p *groupedPart) merge(list []made) error {
	for i, o := range list {
		to := &p.list[i]
		if len(o.Uses) != len(to.Uses) {
			return fmt.Errorf("a group does\n\t%s\nand the first one\n\t%s", o.Op, to.Op)
		}
		for j, u := range o.Uses {
			first := to.Uses[j]
			if u.Write != first.Write || u.At.Buffer != first.At.Buffer || u.At.Rank != first.At.Rank {
				return fmt.Errorf("a group's part is %s, and the first one's %s", u, first)
			}
			to.ranges[j] = append(to.ranges[j], o.ranges[j]...)
		}
	}
	return nil
}

// launch lists all operations, each once for all groups.
func (g *grouped) launch() (list []ops.Op, err error) {
	groups := 0
	for _, p := range g.parts {
		if !p.outside {
			groups = cmp.Or(groups, p.groups)
			if p.groups != groups {
				return nil, fmt.Errorf("a part has %d groups of tiles, and another %d", p.groups, groups)
			}
		}
	}
	for _, p := range g.parts {
		for _, o := range p.list {
			if p.outside && groups > 1 {
				if o.Words, err = g.first(o.Words, groups); err != nil {
					return nil, err
				}
			}
			for j := range o.Uses {
				if o.Uses[j], err = whole(o.ranges[j]); err != nil {
					return nil, err
				}
			}
			list = append(list, o.Op)
		}
	}
	return list, nil
}

// first returns the words of the first group, at the launch's beginning, where the words of the other groups follow.
func (g *grouped) first(words []ops.Word, groups int) ([]ops.Word, error) {
	n := len(words) / groups
	for i, w := range words {
		w.At.Offset -= int64(i/max(n, 1)) * g.apart
		if n*groups != len(words) || w != words[i%n] {
			return nil, fmt.Errorf("%d words for %d groups, of which %s is not the same as the first one's", len(words),
				groups, words[i])
		}
	}
	return words[:n], nil
}

// whole joins ranges into one. Written ranges must not overlap.
func whole(ranges []ops.Use) (ops.Use, error) {
	slices.SortFunc(ranges, func(a, b ops.Use) int { return cmp.Compare(a.At.Offset, b.At.Offset) })
	all := ranges[0]
	for _, u := range ranges[1:] {
		end := all.At.Offset + all.Bytes
		if u.At.Offset > end || u.Write && u.At.Offset < end {
			return all, fmt.Errorf("%s is used by groups up to %d, and then from %d on", u.At.Buffer, end, u.At.Offset)
		}
		all.Bytes = max(end, u.At.Offset+u.Bytes) - all.At.Offset
	}
	return all, nil
}

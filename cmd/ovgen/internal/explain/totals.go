package explain

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/verify/ops"
)

// totals says what the rank moved and whom it depends on.
func (t *teller) totals() {
	var multiplied float64
	for _, o := range t.lists[t.c.Rank] {
		if o.Kind == ops.Product {
			multiplied += t.flops(o)
		}
	}
	var read, written, readBy, writtenBy int64
	for r, list := range t.lists {
		for _, o := range list {
			for _, u := range o.Uses {
				switch own := r == t.c.Rank; {
				case u.At.Rank == r:
				case own && u.Write:
					written += u.Bytes
				case own:
					read += u.Bytes
				case u.At.Rank == t.c.Rank && u.Write:
					writtenBy += u.Bytes
				case u.At.Rank == t.c.Rank:
					readBy += u.Bytes
				}
			}
		}
	}
	t.line("")
	does := ""
	if multiplied > 0 {
		does = "multiplies " + flops(multiplied) + "; it "
	}
	t.line("Rank %d %sreads %s from peers and writes %s to them;", t.c.Rank, does, size(read), size(written))
	t.line("peers read %s from it and write %s to it.", size(readBy), size(writtenBy))
	for _, line := range t.pairs() {
		t.line("%s", line)
	}
}

// pairs says who waits for whom.
func (t *teller) pairs() []string {
	var mine, others []int
	for at, i := range t.waits {
		poster := int(at.Offset/4) % t.c.Ranks
		switch {
		case i == nil:
		case at.Rank == t.c.Rank && !slices.Contains(mine, poster):
			mine = append(mine, poster)
		case poster == t.c.Rank && at.Rank != t.c.Rank && !slices.Contains(others, at.Rank):
			others = append(others, at.Rank)
		}
	}
	var lines []string
	for _, l := range []struct {
		form  string
		ranks []int
	}{{"It waits for %s.", mine}, {"It is awaited by %s.", others}} {
		if len(l.ranks) > 0 {
			lines = append(lines, fmt.Sprintf(l.form, ranks(l.ranks)))
		}
	}
	return lines
}

func ranks(list []int) string {
	slices.Sort(list)
	var names []string
	for _, r := range list {
		names = append(names, fmt.Sprint(r))
	}
	if len(list) == 1 {
		return "rank " + names[0]
	}
	return "ranks " + and(names)
}

// and is "a, b and c".
func and(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// size is bytes as a person says them.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

func flops(n float64) string {
	switch {
	case n >= 1e12:
		return fmt.Sprintf("%.1f TFLOP", n/1e12)
	case n >= 1e9:
		return fmt.Sprintf("%.1f GFLOP", n/1e9)
	}
	return fmt.Sprintf("%.2g MFLOP", n/1e6)
}

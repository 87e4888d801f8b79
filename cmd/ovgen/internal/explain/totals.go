package explain

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/cmd/ovgen/internal/memory"
	"ovgen/verify/ops"
)

// totals adds up the bytes that the rank moves, and the peers that it depends on.
func (t *teller) totals(x *Explanation) {
	for _, o := range t.lists[t.c.Rank] {
		if o.Kind == ops.Product {
			m, k, n := o.Shape(t.c.ElementBits)
			x.Flop += 2 * m * k * n
		}
	}
	for r, list := range t.lists {
		for _, o := range list {
			for _, u := range o.Uses {
				switch own := r == t.c.Rank; {
				case u.At.Rank == r:
				case own && u.Write:
					x.Written += u.Bytes
				case own:
					x.Read += u.Bytes
				case u.At.Rank == t.c.Rank && u.Write:
					x.WrittenBy += u.Bytes
				case u.At.Rank == t.c.Rank:
					x.ReadBy += u.Bytes
				}
			}
		}
	}
	t.pairs(x)
}

// pairs adds the ranks that wait for each other.
func (t *teller) pairs(x *Explanation) {
	x.WaitsFor, x.AwaitedBy = []int{}, []int{}
	for at, i := range t.waits {
		poster := int(at.Offset/4) % t.c.Ranks
		switch {
		case i == nil:
		case at.Rank == t.c.Rank && !slices.Contains(x.WaitsFor, poster):
			x.WaitsFor = append(x.WaitsFor, poster)
		case poster == t.c.Rank && at.Rank != t.c.Rank && !slices.Contains(x.AwaitedBy, at.Rank):
			x.AwaitedBy = append(x.AwaitedBy, at.Rank)
		}
	}
	slices.Sort(x.WaitsFor)
	slices.Sort(x.AwaitedBy)
}

// summary is the totals in words.
func (x *Explanation) summary() string {
	var b strings.Builder
	does := ""
	if x.Flop > 0 {
		does = "multiplies " + flops(x.Flop) + "; it "
	}
	fmt.Fprintf(&b, "Rank %d %sreads %s from peers and writes %s to them;\n", x.Rank, does, memory.Size(x.Read),
		memory.Size(x.Written))
	fmt.Fprintf(&b, "peers read %s from it and write %s to it.\n", memory.Size(x.ReadBy), memory.Size(x.WrittenBy))
	if len(x.WaitsFor) > 0 {
		fmt.Fprintf(&b, "It waits for %s.\n", ranks(x.WaitsFor))
	}
	if len(x.AwaitedBy) > 0 {
		fmt.Fprintf(&b, "It is awaited by %s.\n", ranks(x.AwaitedBy))
	}
	return b.String()
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

func flops(n float64) string {
	switch {
	case n >= 1e12:
		return fmt.Sprintf("%.1f TFLOP", n/1e12)
	case n >= 1e9:
		return fmt.Sprintf("%.1f GFLOP", n/1e9)
	}
	return fmt.Sprintf("%.2g MFLOP", n/1e6)
}

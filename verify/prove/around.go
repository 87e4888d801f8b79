package prove

import "ovgen/verify/ops"

// around reports whether each rank uses memory of the ranks before and after it, and of no other peer, and some rank
// uses memory of a peer at all.
func around(lists [][]ops.Op) bool {
	peers := false
	ranks := len(lists)
	for rank, list := range lists {
		for _, o := range list {
			for _, at := range places(o) {
				switch distance := (at.Rank - rank + ranks) % ranks; distance {
				case 0:
				case 1, ranks - 1:
					peers = true
				default:
					return false
				}
			}
		}
	}
	return peers
}

// places lists the words and the memory that an operation uses.
func places(o ops.Op) (list []ops.Loc) {
	for _, w := range o.Words {
		list = append(list, w.At)
	}
	for _, u := range o.Uses {
		list = append(list, u.At)
	}
	return list
}

// Ring reports whether each rank, of any number of them, uses memory of its two neighbours alone: such a program runs
// where only neighbours reach each other.
func (r *Report) Ring() bool {
	most := 0
	for _, s := range r.Sizes {
		if s.Ranks > 1 && !s.Around {
			return false
		}
		most = max(most, s.Ranks)
	}
	return most > 3 // fewer are all neighbours
}

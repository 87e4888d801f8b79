package schedule

import "strconv"

// Constants are the values of the operation's symbols where the placements have a
// constant in their place: a schedule whose weight is [3584, K] has 3584 for N. A
// symbol that some tensor has as a constant and another as itself has the constant.
func (s Schedule) Constants() map[Extent]int64 {
	values := map[Extent]int64{}
	see := func(symbol, e Extent) {
		if n, err := strconv.ParseInt(string(e), 10, 64); err == nil {
			values[symbol] = n
		}
	}
	for _, t := range s.Tensors {
		symbols := s.Op.Extents(t)
		for i, a := range t.Axes {
			if i < len(symbols) {
				see(symbols[i], a.Extent)
			}
			for _, o := range a.Outer {
				see(P, o.Most)
			}
		}
	}
	return values
}

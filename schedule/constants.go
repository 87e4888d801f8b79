package schedule

import (
	"slices"
	"strconv"
	"strings"
)

// Constants gives the value of each symbol that the schedule replaces by a constant: a schedule whose weight is [3584,
// K] has 3584 for N. Where no tensor has a symbol for an extent, its name is its letter in the operation that names it
// first, or F where it lies between two operations; N2 and N3 belong to further products.
func (s Schedule) Constants() map[Extent]int64 {
	values := map[Extent]int64{}
	for _, t := range s.Tensors {
		for _, a := range t.Axes {
			for _, o := range a.Outer {
				if n, ok := o.Most.value(); ok {
					values[P] = n
				}
			}
		}
	}
	for e, d := range s.Symbols() {
		for _, at := range d {
			if n, ok := at.value(); ok {
				values[e] = n
			}
		}
	}
	return values
}

// Symbols are the extents of the operations. Each has the spellings that the tensors' axes use for it: the symbol or a
// constant.
func (s Schedule) Symbols() map[Extent][]Extent {
	list := s.dimensions()
	names := make([]Extent, len(list))
	taken := []Extent{D}
	for i, d := range list {
		for _, at := range d.axes {
			if e := s.extent(at); names[i] == "" && e.symbol() {
				names[i] = e
				taken = append(taken, e)
			}
		}
	}
	symbols := map[Extent][]Extent{}
	for i, d := range list {
		if names[i] == "" && d.letter != ranksLetter {
			names[i] = s.called(d, taken)
			taken = append(taken, names[i])
		}
		if names[i] == "" || names[i] == D {
			continue
		}
		for _, at := range d.axes {
			if e := s.extent(at); e != "" {
				symbols[names[i]] = append(symbols[names[i]], e)
			}
		}
	}
	return symbols
}

// called is a name for an extent for which all axes have constants.
func (s Schedule) called(d *dimension, taken []Extent) Extent {
	likely := []Extent{M, N, K, N2, N3, F, P}
	if d.letter >= 'a' {
		likely = append([]Extent{Extent(strings.ToUpper(string(d.letter))), N2, N3}, likely...)
	}
	if d.letter == headsLetter || d.letter < 0 {
		likely = append([]Extent{W}, likely...)
	}
	if d.between {
		likely = append([]Extent{F}, likely...)
	}
	for _, e := range likely {
		if e.valid() && !slices.Contains(taken, e) {
			return e
		}
	}
	return ""
}

// extent is the extent of a tensor's axis; empty for a tensor that is not declared.
func (s Schedule) extent(at axisAt) Extent {
	t, ok := s.Tensor(at.tensor)
	if !ok || at.i >= len(t.Axes) {
		return ""
	}
	return t.Axes[at.i].Extent
}

// value is the value of a constant.
func (e Extent) value() (int64, bool) {
	if !e.Constant() {
		return 0, false
	}
	n, err := strconv.ParseInt(string(e), 10, 64)
	return n, err == nil
}

// symbol says that the extent is bound at run time.
func (e Extent) symbol() bool { return e.valid() && !e.Constant() }

// Extents are the symbols that a shape binds, in the order of its fields.
func Extents() []Extent { return []Extent{M, K, N, N2, N3, F, W, P} }

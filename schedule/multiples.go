package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Multiple is a number that divides an extent: Times, multiplied by D and W where these are set.
type Multiple struct {
	Times int64
	D, W  bool
}

// String is "128*W*D".
func (m Multiple) String() string {
	var factors []string
	if m.Times > 1 || !m.D && !m.W {
		factors = append(factors, strconv.FormatInt(m.Times, 10))
	}
	if m.W {
		factors = append(factors, string(W))
	}
	if m.D {
		factors = append(factors, string(D))
	}
	return strings.Join(factors, "*")
}

// ParseMultiple reads a product of whole numbers, D and W, each of these two once: "128", "D", "2*W*D".
func ParseMultiple(text string) (m Multiple, err error) {
	m.Times = 1
	for factor := range strings.SplitSeq(text, "*") {
		e := Extent(strings.TrimSpace(factor))
		switch n, number := e.value(); {
		case number && n <= MaxExtent && m.Times*n <= MaxExtent:
			m.Times *= n
		case number:
			return m, fmt.Errorf("%q is too large: no extent is above %d", text, MaxExtent)
		case e == D && !m.D:
			m.D = true
		case e == W && !m.W:
			m.W = true
		case e == D || e == W:
			return m, fmt.Errorf("%q has %s twice", text, e)
		default:
			return m, fmt.Errorf("%q is no product of whole numbers, D and W", text)
		}
	}
	return m, nil
}

// unevenBy names the first tensor that spreads an extent unevenly.
func (s Schedule) unevenBy(e Extent) string {
	for _, t := range s.Tensors {
		if slices.ContainsFunc(t.Axes, func(a Axis) bool { return a.Extent == e && a.uneven() }) {
			return t.Name
		}
	}
	return ""
}

// checkMultiples refuses multiples of extents that no tensor has, and multiples that can't be read or met.
func (s Schedule) checkMultiples(v *validation) {
	for _, e := range slices.Sorted(maps.Keys(s.Multiples)) {
		path := fmt.Sprintf("Multiples[%s]", e)
		m, err := ParseMultiple(s.Multiples[e])
		n, constant := e.value()
		switch axes := s.axesOf(e); {
		case e == D || len(axes) == 0:
			v.add(path, "use an extent of a tensor's axis", "no axis has the extent %q", e)
		case slices.ContainsFunc(axes, Axis.uneven):
			v.add(path, "leave it out", "%s is spread unevenly, by %s: each part has rows of its own", e,
				s.unevenBy(e))
		case err != nil:
			v.add(path, `write it like "128*D"`, "%v", err)
		case m == Multiple{Times: 1}:
			v.add(path, "leave it out", "every extent is a multiple of 1")
		case m.W && e == W:
			v.add(path, "leave W out of it", "W is the width that %q has", s.Multiples[e])
		case m.W && len(s.axesOf(W)) == 0:
			v.add(path, "write the number of a head's columns", "no axis has the extent W of %q", s.Multiples[e])
		case constant && n%m.Times != 0:
			v.add(path, "use another extent", "%d is no multiple of %d", n, m.Times)
		}
	}
}

// axesOf are the axes of tensors with this extent.
func (s Schedule) axesOf(e Extent) (list []Axis) {
	for _, t := range s.Tensors {
		for _, a := range t.Axes {
			if a.Extent == e {
				list = append(list, a)
			}
		}
	}
	return list
}

// uneven reports whether the parts of the axis differ.
func (a Axis) uneven() bool {
	return slices.ContainsFunc(a.Outer, func(s Split) bool { return s.Uneven })
}

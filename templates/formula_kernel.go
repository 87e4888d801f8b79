package templates

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ovgen/schedule"
)

// named is a piece in a kernel.
type named struct {
	Of string // the kernel
	Piece
}

// Piece is a piece with the kernel that has it.
func (k Kernel) Piece(p Piece) named { return named{k.Name, p} }

// inPlace are dst and the leaves that lie like it.
func (k Kernel) inPlace() (list []Leaf) {
	list = append(list, Leaf{Field: "dst", Type: k.Code.Of})
	return append(list, k.lying(schedule.InPlace)...)
}

// lying are the leaves that lie so.
func (k Kernel) lying(l schedule.Lies) (list []Leaf) {
	return slices.DeleteFunc(slices.Clone(k.Code.Leaves), func(x Leaf) bool { return x.Lies != l })
}

// narrow is one of those in place whose elements are the smallest.
func (k Kernel) narrow() Leaf {
	list := k.inPlace()
	return list[max(0, slices.IndexFunc(list, func(l Leaf) bool { return l.Type == "E" }))]
}

// Narrow is its field, NarrowType the type of its elements.
func (k Kernel) Narrow() string     { return k.narrow().Field }
func (k Kernel) NarrowType() string { return k.narrow().Type }

// Aligned are all others in place.
func (k Kernel) Aligned() []Leaf {
	return slices.DeleteFunc(k.inPlace(), func(l Leaf) bool { return l.Field == k.Narrow() })
}

// LoadsInPlace reports whether the function takes a leaf in place.
func (k Kernel) LoadsInPlace() bool { return len(k.inPlace()) > 1 }

// ByColumn are the leaves with an element for each column.
func (k Kernel) ByColumn() []Leaf { return k.lying(schedule.ByColumn) }

// Load is the unit of a leaf for the elements at.
func (k Kernel) Load(l Leaf) string {
	switch l.Lies {
	case schedule.ByColumn:
		return fmt.Sprintf("of_columns<%s>(p.%s, cell, p.columns, together)", l.Type, l.Field)
	case schedule.ByRow:
		return fmt.Sprintf("of_rows<%s>(p.%s, cell, p.columns)", l.Type, l.Field)
	}
	return fmt.Sprintf("load_unit<%s>(p.%s, at)", l.Type, l.Field)
}

// Chain is the kernel with the code of each of its formulas.
func (k Kernel) Chain() (list []Kernel) {
	for _, c := range append([]*Code{k.Code}, k.Code.Then...) {
		k.Code = c
		list = append(list, k)
	}
	return list
}

// Kept is how many units of a leaf are in registers: all of a lane's where heads go together; few where more would
// spill, since the kernel makes several formulas, or one of several passes behind a sum.
func (k Kernel) Kept() int {
	switch {
	case k.Code.Heads:
		return int(k.Each())
	case len(k.Code.Then) > 0 || k.Lands() && len(k.Code.Passes) > 1:
		return 2
	}
	return 4
}

// Locals are the parameters that count columns.
func (k Kernel) Locals() []string { return append([]string{"columns"}, k.Code.Widths...) }

// Whole says where eight columns of a group lie together and are aligned, for all leaves.
func (k Kernel) Whole() string {
	var list []string
	halves := k.Code.Turns || len(k.lying(schedule.OfTable)) > 0
	for _, w := range slices.Compact(append([]string{k.Code.Wide}, k.Code.Widths...)) {
		unit := "unit_elements"
		if halves && w != "columns" {
			unit = "(2 * unit_elements)"
		}
		if text := w + " % " + unit + " == 0"; !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	var at []string
	for _, one := range k.Chain() {
		for _, l := range append([]Leaf{{Field: one.Code.Dst}}, one.Loaded()...) {
			if text := "(u64)p." + l.Field; !slices.Contains(at, text) {
				at = append(at, text)
			}
		}
	}
	return strings.Join(list, " && ") + " && (" + strings.Join(at, " | ") + ") % 16 == 0"
}

// Loaded are the leaves with an element for each column of a group.
func (k Kernel) Loaded() []Leaf {
	return slices.DeleteFunc(slices.Clone(k.Code.Leaves), func(l Leaf) bool { return l.Same })
}

// Row and Column say whether the code knows which row a group is of, and at which column of it it begins.
func (k Kernel) Row() bool    { return k.reads("row") }
func (k Kernel) Column() bool { return k.reads("column") }

// reads reports whether the code has a word.
func (k Kernel) reads(word string) bool {
	text := ""
	for _, one := range k.Chain() {
		text += " " + strings.Join(one.Code.Made.Args, " ")
		for _, l := range one.Code.Leaves {
			text += " " + l.At
		}
		for _, p := range one.Code.Passes {
			for _, s := range p.Statistics {
				text += " " + strings.Join(s.Of.Args, " ")
			}
		}
	}
	return regexp.MustCompile(`\b` + word + `\b`).MatchString(text)
}

// AnyKept reports whether one of the leaves is in registers.
func (k Kernel) AnyKept(list []Leaf) bool {
	return slices.ContainsFunc(list, func(l Leaf) bool { return l.Kept })
}

// TakesColumn reports whether the function of an element takes its column.
func (k Kernel) TakesColumn() bool { return k.Code.Made.takes("j") }

// TakesPlace reports whether the function of an element takes its place among those of a unit, or its column.
func (k Kernel) TakesPlace() bool { return k.Code.Made.takes("[jk]") }

// TakesColumn reports whether a statistic takes the column of an element.
func (p Pass) TakesColumn() bool { return p.takes("j") }

// TakesPlace reports whether a statistic takes the place of an element among those of its unit.
func (p Pass) TakesPlace() bool { return p.takes("k") }

func (p Pass) takes(variable string) bool {
	return slices.ContainsFunc(p.Statistics, func(s Statistic) bool { return s.Of.takes(variable) })
}

// takes reports whether a function of an element takes one of some variables.
func (p Piece) takes(variables string) bool {
	return regexp.MustCompile(`\b` + variables + `\b`).MatchString(strings.Join(p.Args, " "))
}

// mostColumns is how long a line is at most.
const mostColumns = 120

// folded is text without longer lines: they go on in the next, further to the right.
func folded(text []byte) []byte {
	var lines []string
	for line := range strings.SplitSeq(string(text), "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "    "
		if strings.HasPrefix(line, "//") {
			indent = "//     "
		}
		for len(line) > mostColumns {
			at := strings.LastIndex(line[:mostColumns], " ")
			if at <= len(indent) {
				break
			}
			lines, line = append(lines, line[:at]), indent+line[at+1:]
		}
		lines = append(lines, line)
	}
	return []byte(strings.Join(lines, "\n"))
}

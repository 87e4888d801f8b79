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
	Of string // name of the kernel
	Piece
}

// Piece is a piece with the kernel that has it.
func (k Kernel) Piece(p Piece) named { return named{k.Name, p} }

// inPlace are dst and the leaves whose elements lie at the same places.
func (k Kernel) inPlace() (list []Leaf) {
	list = append(list, Leaf{Field: "dst", Type: k.Code.Of})
	return append(list, k.lying(schedule.InPlace)...)
}

// lying are the leaves that lie in the given way.
func (k Kernel) lying(l schedule.Lies) (list []Leaf) {
	return slices.DeleteFunc(slices.Clone(k.Code.Leaves), func(x Leaf) bool { return x.Lies != l })
}

// narrow is a leaf in place whose elements are the smallest.
func (k Kernel) narrow() Leaf {
	list := k.inPlace()
	return list[max(0, slices.IndexFunc(list, func(l Leaf) bool { return l.Type == "E" }))]
}

// Narrow is the field of this leaf, NarrowType the type of its elements.
func (k Kernel) Narrow() string     { return k.narrow().Field }
func (k Kernel) NarrowType() string { return k.narrow().Type }

// Aligned are all other leaves in place.
func (k Kernel) Aligned() []Leaf {
	return slices.DeleteFunc(k.inPlace(), func(l Leaf) bool { return l.Field == k.Narrow() })
}

// LoadsInPlace reports whether the function takes a leaf in place.
func (k Kernel) LoadsInPlace() bool { return len(k.inPlace()) > 1 }

// ByColumn are the leaves with an element for each column.
func (k Kernel) ByColumn() []Leaf { return k.lying(schedule.ByColumn) }

// Load is the code that loads the unit of a leaf for the elements at.
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

// Kept is the number of units of a leaf that stay in registers: all units of a lane where groups are heads. It is small
// where more would spill: the kernel has several formulas, or a formula of several passes after a sum.
func (k Kernel) Kept() int {
	switch {
	case k.Code.Heads:
		return int(k.Each())
	case len(k.Code.Then) > 0 || k.Lands() && len(k.Code.Passes) > 1:
		return 2
	}
	return 4
}

// Holds reports whether all leaves of a row stay in registers, and fewer units of each: a formula after a sum, whose
// few rows wait for each load.
func (k Kernel) Holds() bool {
	return k.Makes() && k.Lands() && len(k.Code.Then) == 0 && len(k.Code.Passes) == 1
}

// Locals are the parameters that count columns.
func (k Kernel) Locals() []string { return append([]string{"columns"}, k.Code.Widths...) }

// Whole is the condition that eight columns of a group are adjacent and aligned, for all leaves.
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

// Row and Column report whether the code needs the group's row, and the column of the row at which the group begins.
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

// mostColumns is the greatest length of a line.
const mostColumns = 120

// folded is text whose longer lines are broken; the rest of a line is indented further.
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

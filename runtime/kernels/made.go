package kernels

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Made is the function of a kernel of elements or of groups, with its result and its operands.
type Made struct {
	Word     string      // name of the function: "swiglu"; a package has one function of each name
	Key      string      // schedule.Key of the function
	X        Operand     // the result so far, to which the function is applied
	Operands []Operand   // that it reads besides
	Heads    int         // number of widths of heads that the function takes
	Group    int         // the number of the width, from 1, of the columns of a group; 0: a group is a row
	Turns    bool        // an element depends on another element of its group
	Numbers  int         // number of the Shape's numbers that it takes
	Type     driver.Type // type of its result; 0: the plan's type
	Scales   driver.Type // type of the scales of rows that it leaves behind its operands; 0: it leaves none
	// Then are further functions of rows. Each is applied to the result of the function before it, which then leaves no
	// scales. Behind the operands lie the results and other operands of these functions, and then the scales that the
	// last function leaves.
	Then []Made
}

// Operand is a tensor that a function reads.
type Operand struct {
	Lies Lies
	Head int         // the number of the width of its heads, from 1; 0: it has none
	Type driver.Type // 0: the plan's type
}

// Lies says which element of an operand goes with an element of the result.
type Lies string

// Ways to lie.
const (
	InPlace  Lies = "" // the element at the same place
	ByColumn Lies = "column"
	ByRow    Lies = "row"
	ByHead   Lies = "head"  // by column of a head
	OfTable  Lies = "table" // an element of the row's table, by column of a head
)

// Makes reports whether the kernel makes elements by a function.
func (k Kernel) Makes() bool { return k.Made != nil }

// Narrows reports whether the kernel makes elements of eight bits or fewer, by an instruction of capability 8.9.
func (k Kernel) Narrows() bool {
	return k.Makes() && slices.ContainsFunc(append([]Made{*k.Made}, k.Made.Then...), func(m Made) bool {
		return m.Type.Valid() && m.Type.Saturates()
	})
}

// Rowed reports whether the function needs the length of a row, which is then its first number.
func (k Kernel) Rowed() bool { return k.Kind != Elements || k.Made.Rowed() }

// numbers is the number of numbers that the kernel's function takes.
func (k Kernel) numbers() int { return k.Made.counts(k.Kind != Elements) }

// counts is the number of numbers that the function takes: a row's columns, widths of heads, numbers of the Shape.
// grouped: groups of elements are made together.
func (m *Made) counts(grouped bool) int {
	n := m.Heads + m.Numbers
	if grouped || m.Rowed() {
		n++
	}
	return n
}

// Rowed reports whether an operand lies by column or by row, so that the function needs the columns of a row.
func (m *Made) Rowed() bool {
	return slices.ContainsFunc(m.Operands, func(o Operand) bool { return o.Lies != InPlace })
}

// Making is a launch of a function, with the numbers that the function takes.
type Making struct {
	set   *Set
	k     *kernel
	word  string
	count int
	given [MostNumbers]uint64
}

// MostNumbers is the largest number of numbers of a function.
const MostNumbers = 8

// Function returns a launch of the function with this name.
func (s *Set) Function(word string) Making {
	m := Making{set: s, word: word}
	for _, k := range s.kernels {
		if k.Kind.Work() == Applies && k.Made.Word == word {
			m.k = k
		}
	}
	return m
}

// Count returns the launch with the columns of a row or, after these, with the next width of heads.
func (m Making) Count(n int64) Making {
	if m.count < MostNumbers {
		m.given[m.count] = uint64(n)
	}
	m.count++
	return m
}

// Number returns the launch with the next number of the Shape.
func (m Making) Number(x float64) Making { return m.Count(int64(math.Float64bits(x))) }

// unitColumns is the number of columns that a lane adds up at a time. mostTurned is the largest number of columns of a
// head whose elements depend on other elements of the head: its lanes hold all of them.
const unitColumns, mostTurned = 8, 8 * threads

// beside is the number of addresses that the function takes besides those of X and of its result.
func (m *Made) beside() int {
	n := len(m.Operands) + min(int(m.Scales), 1)
	for _, then := range m.Then {
		n += 1 + then.beside() // with its result
	}
	return n
}

// Form joins the keys of the function and of the functions that are applied to its result.
func (m *Made) Form() string {
	form := m.Key
	for _, then := range m.Then {
		form += Joint + then.Key
	}
	return form
}

// Joint separates the keys of functions in a Form.
const Joint = " | "

// Make applies the function to its operands and sets bytes of dst to the result. It leaves the function's scales behind
// the operands, or the results of further functions.
func (m Making) Make(q *plan.Queue, on *plan.Stream, dst driver.Ptr, bytes int64, operands ...driver.Ptr) {
	k := m.k
	if k == nil || len(operands) != 1+k.Made.beside() || m.count != k.numbers() {
		q.Fail(fmt.Errorf("launch %s of %d operands and %d numbers: the package has no such kernel", m.word,
			len(operands), m.count))
		return
	}
	elements := 8 * bytes / cmp.Or(k.Made.Type, m.set.element).Bits()
	k.params[k.At.Dst], k.params[k.At.Bytes] = uint64(dst), uint64(elements)
	for i, x := range operands {
		k.params[k.At.Terms+i] = uint64(x)
	}
	copy(k.params[k.At.Given:], m.given[:m.count])
	if k.Kind == Elements {
		k.work(q, on, bytes)
		return
	}
	columns, wide := int64(m.given[0]), int64(m.given[k.Made.Group])
	if columns < 1 || wide < 1 || k.Made.Turns && wide > mostTurned {
		q.Fail(fmt.Errorf("launch %s of rows of %d columns and heads of %d: a head has 1 to %d", m.word, columns, wide,
			mostTurned))
		return
	}
	k.params[k.At.Bytes] = uint64(elements / columns)
	parts := int64(1) // of a group: a power of 2; a part has one unit of columns if there are enough threads
	for parts < threads && parts*unitColumns < wide {
		parts *= 2
	}
	lanes := max(parts/k.Each(), 1)
	block := max(lanes, 128) // threads
	blocks := (elements/wide + block/lanes - 1) / (block / lanes)
	k.enqueue(q, on, int(max(1, min(blocks, k.Kind.Blocks()*threads/block))), int(block))
}

// Each is the number of parts of a group that a lane works on. It is two for a kernel of groups, whose lanes then load
// more of a row at once and fill a block, but one where further functions leave few registers. Of a kernel of packets
// its way to send says it.
func (k Kernel) Each() int64 {
	switch {
	case k.Lands():
		return k.Kind.row().sends.each(k)
	case k.Kind == Groups && len(k.Made.Then) == 0:
		return 2
	}
	return 1
}

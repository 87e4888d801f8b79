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
	Word     string      // of the function: "swiglu"; a package has one of each
	Key      string      // schedule.Key of it
	Operands []Operand   // that it reads; the first is the result so far
	Heads    int         // widths of heads that it knows
	Group    int         // the number of the width, from 1, of the columns that go together; 0: a row's
	Turns    bool        // an element is made of one elsewhere in its group
	Numbers  int         // of the Shape
	Type     driver.Type // of what it makes; 0: that of the plan
	Scales   driver.Type // of what it divides each row by, if it leaves that too, behind its operands; 0: it does not
	// Then are further functions of rows, each of what the one before it makes, which leaves no scales: their results
	// and what they read beside it lie behind the operands, and behind those the scales that the last one leaves.
	Then []Made
}

// Operand is a tensor that a function reads.
type Operand struct {
	Lies Lies
	Head int         // the number of the width of its heads, from 1; 0: it has none
	Type driver.Type // 0: that of the plan
}

// Lies says which element of an operand goes with an element of the result.
type Lies string

// Ways to lie.
const (
	InPlace  Lies = "" // the element at the same place
	ByColumn Lies = "column"
	ByRow    Lies = "row"
	ByHead   Lies = "head"  // by column of a head
	OfTable  Lies = "table" // one of its row, by column of a head
)

// Makes reports whether the kernel makes elements by a function.
func (k Kernel) Makes() bool { return k.Made != nil }

// Narrows reports whether the function makes elements of eight bits or fewer, by an instruction of capability 8.9.
func (k Kernel) Narrows() bool {
	return k.Makes() && slices.ContainsFunc(append([]Made{*k.Made}, k.Made.Then...), func(m Made) bool {
		return m.Type.Valid() && m.Type.Saturates()
	})
}

// Rowed reports whether the function has to know how long a row is, which its first number then says.
func (k Kernel) Rowed() bool {
	return k.Kind != Elements || slices.ContainsFunc(k.Made.Operands, func(o Operand) bool { return o.Lies != InPlace })
}

// numbers are how many the function takes: the columns of a row, the widths of heads, and those of the Shape.
func (k Kernel) numbers() int {
	n := k.Made.Heads + k.Made.Numbers
	if k.Rowed() {
		n++
	}
	return n
}

// Making is a launch of a function: the numbers that it takes.
type Making struct {
	set   *Set
	k     *kernel
	word  string
	count int
	given [MostNumbers]uint64
}

// MostNumbers are the most that a function takes.
const MostNumbers = 8

// Function is the launch of a function by its word.
func (s *Set) Function(word string) Making {
	m := Making{set: s, word: word}
	for _, k := range s.kernels {
		if k.Kind.Work() == Applies && k.Made.Word == word {
			m.k = k
		}
	}
	return m
}

// Count is the launch with the columns of a row or, after these, with the next width of heads.
func (m Making) Count(n int64) Making {
	if m.count < MostNumbers {
		m.given[m.count] = uint64(n)
	}
	m.count++
	return m
}

// Number is the launch with the next number of the Shape.
func (m Making) Number(x float64) Making { return m.Count(int64(math.Float64bits(x))) }

// unitColumns are the columns that a lane adds up at a time, and mostTurned those of a head whose elements are made of
// one elsewhere in it: its lanes hold as many.
const unitColumns, mostTurned = 8, 8 * threads

// addresses are how many the function takes beside that of its result.
func (m *Made) addresses() int {
	n := len(m.Operands) + min(int(m.Scales), 1)
	for _, then := range m.Then {
		n += then.addresses() // its result, and all but the first
	}
	return n
}

// Form has the keys of the function and of those of its result.
func (m *Made) Form() string {
	form := m.Key
	for _, then := range m.Then {
		form += Joint + then.Key
	}
	return form
}

// Joint stands between the keys of functions in a Form.
const Joint = " | "

// Make sets bytes of dst to what the function makes of its operands, and leaves scales behind these, or what further
// functions make of that.
func (m Making) Make(q *plan.Queue, on *plan.Stream, dst driver.Ptr, bytes int64, operands ...driver.Ptr) {
	k := m.k
	if k == nil || len(operands) != k.Made.addresses() || m.count != k.numbers() {
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
	parts := int64(1) // of a group: a power of 2, for a unit each where they suffice
	for parts < threads && parts*unitColumns < wide {
		parts *= 2
	}
	lanes := max(parts/k.Each(), 1)
	block := max(lanes, 128) // threads
	blocks := (elements/wide + block/lanes - 1) / (block / lanes)
	k.enqueue(q, on, int(max(1, min(blocks, k.Kind.Blocks()*threads/block))), int(block))
}

// Each is how many parts of a group a lane has: two bring more of a row at once, and its lanes fill a block of their
// own; what lands has blocks for its rows, and a kernel of several functions few registers.
func (k Kernel) Each() int64 {
	if k.Kind != Groups || len(k.Made.Then) > 0 {
		return 1
	}
	return 2
}

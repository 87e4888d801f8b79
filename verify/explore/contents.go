package explore

import (
	"encoding/binary"
	"fmt"
	"strings"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// contents gives each possible content of an atom a number; equal contents have equal numbers. 0 is the content at the
// start.
type contents struct {
	known  *contents // the contents of another search, which this one reuses; or nil
	number map[string]int32
	list   []content          // the contents behind the known ones
	made   map[string][]int32 // the results of steps, by madeOf
}

// content is the elements of an atom, and a text that says how they first came about.
type content struct {
	elements []Number
	text     string
}

const unwritten = "nothing that was written"

func newContents(known *contents) *contents {
	c := &contents{known: known, number: map[string]int32{}, made: map[string][]int32{}}
	c.name(unwritten)
	return c
}

// name is the number of a content that has no elements.
func (c *contents) name(text string) int32 { return c.intern("="+text, content{text: text}) }

// of is the number of a list of elements.
func (c *contents) of(elements []Number, text string) int32 {
	key := make([]byte, 0, 8*len(elements)+1)
	key = append(key, '#')
	for _, e := range elements {
		key = binary.LittleEndian.AppendUint64(key, uint64(e))
	}
	return c.intern(string(key), content{elements, text})
}

func (c *contents) intern(key string, what content) int32 {
	for k := c; k != nil; k = k.known {
		if n, ok := k.number[key]; ok {
			return n
		}
	}
	n := int32(c.count())
	c.number[key] = n
	c.list = append(c.list, what)
	return n
}

// count is the number of contents that have numbers.
func (c *contents) count() int {
	if c == nil {
		return 0
	}
	return c.known.count() + len(c.list)
}

// at is the content that has a number.
func (c *contents) at(n int32) content {
	if before := int32(c.known.count()); n >= before {
		return c.list[n-before]
	}
	return c.known.at(n)
}

// madeBy is the result of a step with this key, if a step with it was carried out.
func (c *contents) madeBy(key string) ([]int32, bool) {
	for ; c != nil; c = c.known {
		if made, ok := c.made[key]; ok {
			return made, true
		}
	}
	return nil, false
}

func (c *contents) text(n int32) string { return c.at(n).text }

// elements lists the elements of atoms that follow each other. Memory that was not written has numbers that no correct
// result contains.
func (x *search) elements(s *state, atoms []int32) []Number {
	all := []Number{}
	for _, a := range atoms {
		have := x.contents.at(s.holds[a]).elements
		if len(have) == 0 {
			place := hashed(x.atoms.names[a])
			for i := range x.atoms.sizes[a] {
				have = append(have, mixed(hashed(unwritten), place, uint64(i)))
			}
		}
		all = append(all, have...)
	}
	return all
}

// put writes elements into atoms that follow each other. Where the elements do not fit, it writes a content that equals
// no other.
func (x *search) put(s *state, atoms []int32, elements []Number, text string) {
	total := 0
	for _, a := range atoms {
		total += x.atoms.sizes[a]
	}
	fits := total == len(elements)
	for _, a := range atoms {
		s.holds[a] = 0
		if n := x.atoms.sizes[a]; fits {
			s.holds[a] = x.contents.of(elements[:n:n], text)
			elements = elements[n:]
		}
	}
}

// input is the content that the caller or another plan writes into a buffer before a run.
func (m *machine) input(b *Buffer, run int) []Number {
	if b.Values != nil {
		return b.Values(run)
	}
	var list []Number
	for i := range m.count(b.Use) {
		list = append(list, mixed(hashed(b.At.String()), uint64(run), uint64(i)))
	}
	return list
}

// count is the number of elements of a use.
func (m *machine) count(u ops.Use) int {
	bits := m.bitsOf(u.At.Buffer)
	return int((8*u.Bytes + bits - 1) / bits)
}

// made carries out a step that writes elements: the caller's write of an input, a copy, a product or a sum. An equal
// step on equal contents is carried out once.
func (x *search) made(s *state, st *step) {
	key := x.madeOf(s, st)
	result, known := x.contents.madeBy(key)
	if known {
		for n, a := range st.writes {
			s.holds[a] = result[n]
		}
		return
	}
	x.make(s, st)
	for _, a := range st.writes {
		result = append(result, s.holds[a])
	}
	x.contents.made[key] = result
}

// madeOf is a key that is equal for steps with equal results. It has the step's operation and places, the run of an
// input, the contents that the step reads, and the sizes of all atoms that it reads and writes.
func (x *search) madeOf(s *state, st *step) string {
	key := make([]byte, 0, len(st.name)+8*len(st.reads)+4*len(st.writes)+4)
	key = append(key, st.name...)
	if st.op == nil {
		key = binary.LittleEndian.AppendUint32(key, uint32(st.run))
	}
	for _, a := range st.reads {
		key = binary.LittleEndian.AppendUint32(key, uint32(s.holds[a]))
		key = binary.LittleEndian.AppendUint32(key, uint32(x.atoms.sizes[a]))
	}
	for _, a := range st.writes {
		key = binary.LittleEndian.AppendUint32(key, uint32(x.atoms.sizes[a]))
	}
	return string(key)
}

func (x *search) make(s *state, st *step) {
	if st.op == nil {
		x.put(s, st.writes, x.input(st.wrote, st.run), fmt.Sprintf("%s of run %d", st.wrote.At, st.run+1))
		return
	}
	text := x.describe(s, st)
	elements := x.compute(s, st)
	if c, cut := x.Columns[st.op.Result().At.Buffer]; cut && !st.op.Result().Columns && elements != nil {
		elements = c.partByPart(elements)
	}
	for n, result := range st.results {
		if n > 0 {
			elements = x.beside(s, st, result)
		}
		x.put(s, result, elements, text)
	}
}

// compute returns the elements of an operation's result; nil where its operands do not fit.
func (x *search) compute(s *state, st *step) []Number {
	operands := x.operands(s, st)
	if len(operands) == 0 || len(st.results) == 0 {
		return nil
	}
	size := x.size(st.results[0])
	switch st.op.Kind {
	case ops.Copy:
		source, _ := ops.SourceOf(operands)
		return source
	case ops.Sum:
		terms, beside := ops.FinishOf(st.op, operands)
		if terms = scaledTerms(st.op, terms); terms == nil {
			return nil
		}
		if widens(st.op) {
			return x.widened(st.op, terms, beside, size)
		}
		return finished(st.op, x.added(terms, size), beside)
	case ops.Product:
		return x.multiplied(st.op, operands, size)
	case ops.Apply:
		return x.functionOf(st.op, operands, size)
	case ops.Call:
		made, of := make([]Number, size), digests(operands)
		for i := range made {
			made[i] = calledOn(st.op.Form, of, i)
		}
		return made
	}
	return nil
}

// operands are the elements of each operand of an operation.
func (x *search) operands(s *state, st *step) (list [][]Number) {
	for i, atoms := range st.operands {
		one := x.elements(s, atoms)
		u := st.op.Reads()[i]
		if c, cut := x.Columns[u.At.Buffer]; cut && !u.Columns {
			one = c.rowByRow(one)
		}
		list = append(list, one)
	}
	return list
}

// size is the number of elements of atoms.
func (x *search) size(atoms []int32) (n int) {
	for _, a := range atoms {
		n += x.atoms.sizes[a]
	}
	return n
}

// added is the sum of lists of equal size.
func (x *search) added(operands [][]Number, size int) []Number {
	sum := make([]Number, size)
	for _, list := range operands {
		if len(list) != size {
			return nil
		}
		for i := range sum {
			sum[i] = add(sum[i], list[i], x.Ordered)
		}
	}
	return sum
}

// finished is a sum after the formulas of its step, with their operands.
func finished(op *ops.Op, sum []Number, beside [][]Number) []Number {
	s, _ := op.Node.(hostir.Step)
	trees := hostir.FinishOf(s.Do).Makes
	if len(trees) == 0 || sum == nil {
		return sum
	}
	return formulasOf(op, trees, append([][]Number{sum}, beside...), len(sum))
}

// functionOf is the result of a step's formulas; nil where the operation has no step.
func (x *search) functionOf(op *ops.Op, operands [][]Number, size int) []Number {
	s, _ := op.Node.(hostir.Step)
	of, makes := hostir.Applied(s.Do)
	if len(operands) == 0 || !makes {
		return nil
	}
	if !x.Wide[op.Result().At.Buffer] {
		return formulasOf(op, of.Makes, operands, size)
	}
	var made []Number
	for _, e := range formulasOf(op, of.Makes, operands, size/2) {
		made = append(made, halves(e)...)
	}
	return made
}

// multiplied is a product of two matrices plus a bias for each row and, where the product accumulates, plus the
// previous content of the result.
func (x *search) multiplied(o *ops.Op, operands [][]Number, size int) []Number {
	of, ok := ops.FactorsOf(o, operands)
	if of = x.dequantised(o, of, size); !ok || o.Accumulate && len(of.Before) != size {
		return nil
	}
	form, function, applies := strings.Cut(o.Form, " ")
	sum, ok := product(form, of.A, of.B, size)
	if !ok {
		return nil
	}
	for _, list := range [][]Number{of.Bias, of.Before} {
		switch {
		case list == nil:
			continue
		case len(list) == 0 || size%len(list) != 0:
			return nil
		}
		for i := range sum {
			sum[i] = plus(sum[i], list[i%len(list)])
		}
	}
	if applies {
		for i, e := range sum {
			sum[i] = applied(function, e)
		}
	}
	return sum
}

// describe prints an operation's result in a line.
func (x *search) describe(s *state, st *step) string {
	var b strings.Builder
	if st.op.Kind != ops.Copy {
		fmt.Fprintf(&b, "a %s of ", st.op.Kind)
	}
	for n, atoms := range st.operands {
		for i, a := range atoms {
			if n+i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(x.contents.text(s.holds[a]))
			if b.Len() > 160 {
				return b.String()[:160] + "..."
			}
		}
	}
	return b.String()
}

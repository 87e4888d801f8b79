package prove

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// expr is a chunk's content, as a number: equal expressions have equal numbers.
type expr int32

// stale is the content of memory that nothing in this run has written.
const stale expr = 0

type exprKind uint8

const (
	inputOf   exprKind = iota + 1 // a chunk of the caller's memory, as the caller left it before a run
	productOf                     // of a chunk of A, of B, and of a bias or none
	tupleOf                       // several chunks as one operand
	sumOf                         // of its arguments, in their order
	addedTo                       // the second added to the first
	rowOf                         // a row, repeated for each row of a chunk
	appliedTo                     // a function of the first argument and of the others
)

// term is an expression taken apart.
type term struct {
	kind exprKind
	form string  // of a product
	args []int32 // expressions; of an input: buffer, rank, run, chunk
	// sum is the expression as one sum: its terms, sorted by number, none of which is a sum. Nested sums are flat, and
	// a bias is a separate term.
	sum []expr
}

// expressions keeps each expression once.
type expressions struct {
	all    []term
	number map[string]expr
	alone  map[string]bool // functions that compute each element from the elements at the same place
	names  []string        // of buffers
	key    []byte
}

func newExpressions(m *Model) *expressions {
	e := &expressions{all: make([]term, 1), number: map[string]expr{}, alone: map[string]bool{}}
	for _, b := range m.Buffers {
		e.names = append(e.names, b.Name)
	}
	return e
}

func (e *expressions) make(kind exprKind, form string, args ...int32) expr {
	e.key = append(append(e.key[:0], byte(kind)), form...)
	for _, a := range args {
		e.key = binary.AppendVarint(e.key, int64(a))
	}
	if x, ok := e.number[string(e.key)]; ok {
		return x
	}
	x := expr(len(e.all))
	e.number[string(e.key)] = x
	e.all = append(e.all, term{kind: kind, form: form, args: slices.Clone(args)})
	sum := e.flatten(x) // may make others
	e.all[x].sum = sum
	return x
}

func (e *expressions) input(buffer, rank, run, chunk int32) expr {
	return e.make(inputOf, "", buffer, rank, run, chunk)
}

// product of a chunk of A, all of B, and a bias or stale for none.
func (e *expressions) product(form string, a, b, bias expr) expr {
	return e.make(productOf, form, int32(a), int32(b), int32(bias))
}

// row is a row, once for each row of a chunk.
func (e *expressions) row(x expr) expr { return e.make(rowOf, "", int32(x)) }

// applied is an uninterpreted function of the first argument and of the others.
func (e *expressions) applied(function string, args []expr) expr {
	list := make([]int32, len(args))
	for i, x := range args {
		list[i] = int32(x)
	}
	return e.make(appliedTo, function, list...)
}

// columnsOf is one of equally wide parts of a chunk's columns, or the whole chunk where there is one part.
func (e *expressions) columnsOf(x expr, part, of int) expr {
	if of == 1 {
		return x
	}
	if t := e.all[x]; t.kind == appliedTo && t.form == beside(of) {
		return expr(t.args[part])
	}
	return e.applied(fmt.Sprintf("columns %d of %d", part, of), []expr{x})
}

// columnsBeside joins equally wide parts of the columns of a chunk, which columnsOf takes apart again.
func (e *expressions) columnsBeside(parts []expr) expr {
	if len(parts) == 1 {
		return parts[0]
	}
	return e.applied(beside(len(parts)), parts)
}

// beside is the function that joins so many equally wide parts.
func beside(parts int) string { return fmt.Sprintf("%d equal columns", parts) }

// sideBySide joins parts of the columns of one operand. All parts of a chunk are the chunk; one part stays as it is.
func (e *expressions) sideBySide(parts []expr) expr {
	if len(parts) == 1 {
		return parts[0]
	}
	if args, each := e.ofEach(parts); each {
		return e.applied(e.all[parts[0]].form, args)
	}
	if first := e.all[parts[0]]; first.kind == appliedTo && len(first.args) == 1 {
		x := expr(first.args[0])
		n := 0
		for n < len(parts) && parts[n] == e.columnsOf(x, n, len(parts)) {
			n++
		}
		if n == len(parts) {
			return x
		}
	}
	return e.applied("side by side", parts)
}

// ofEach takes parts that are all results of one function of each element alone, and joins their operands side by side.
func (e *expressions) ofEach(parts []expr) (args []expr, is bool) {
	first := e.all[parts[0]]
	if first.kind != appliedTo || !e.alone[first.form] {
		return nil, false
	}
	for i := range first.args {
		var beside []expr
		for _, p := range parts {
			x := e.all[p]
			if x.kind != appliedTo || x.form != first.form {
				return nil, false
			}
			beside = append(beside, expr(x.args[i]))
		}
		args = append(args, e.sideBySide(beside))
	}
	return args, true
}

// tuple is several chunks in a row, or the chunk where there is one.
func (e *expressions) tuple(list []expr) expr { return e.several(tupleOf, list) }

// sum is the sum of a list in its order, or the term where there is one.
func (e *expressions) sum(list []expr) expr { return e.several(sumOf, list) }

func (e *expressions) several(kind exprKind, list []expr) expr {
	if len(list) == 1 {
		return list[0]
	}
	args := make([]int32, len(list))
	for i, x := range list {
		args[i] = int32(x)
	}
	return e.make(kind, "", args...)
}

func (e *expressions) add(to, what expr) expr { return e.make(addedTo, "", int32(to), int32(what)) }

// flatten writes a new expression as one sum.
func (e *expressions) flatten(x expr) []expr {
	t := e.all[x]
	var list []expr
	switch t.kind {
	case sumOf, addedTo:
		for _, a := range t.args {
			list = append(list, e.all[a].sum...)
		}
		slices.Sort(list)
		return list
	case productOf:
		a, b, bias := expr(t.args[0]), expr(t.args[1]), expr(t.args[2])
		pure := e.value(a) == a && e.value(b) == b
		switch {
		case nonlinear(t.form) && pure && e.value(bias) == bias:
		case nonlinear(t.form):
			return e.all[e.product(t.form, e.value(a), e.value(b), e.value(bias))].sum
		case !pure || bias != stale:
			list = append(list, e.all[e.product(t.form, e.value(a), e.value(b), stale)].sum...)
			if bias != stale {
				list = append(list, e.row(bias))
			}
			slices.Sort(list)
			return list
		}
	case tupleOf, appliedTo:
		same := true
		for _, a := range t.args {
			list = append(list, e.value(expr(a)))
			same = same && int32(list[len(list)-1]) == a
		}
		if !same && t.kind == tupleOf {
			return e.all[e.tuple(list)].sum
		}
		if !same {
			return e.all[e.applied(t.form, list)].sum
		}
	}
	return []expr{x}
}

// nonlinear reports whether a product of that form is not a sum of its terms: an
// uninterpreted function of each element follows.
func nonlinear(form string) bool { return strings.Contains(form, " ") }

// value is the expression that stands for all expressions that are equal in exact arithmetic: sums of the same terms,
// each as often.
func (e *expressions) value(x expr) expr {
	if x == stale {
		return x
	}
	if s := e.all[x].sum; len(s) == 1 {
		return s[0]
	} else if s != nil {
		return e.sum(s)
	}
	return x // being made
}

// differ names the first terms that one sum lacks, has twice or has beyond another.
func (e *expressions) differ(got, want expr) string {
	count := map[expr]int{}
	for _, x := range e.all[want].sum {
		count[x]++
	}
	left := map[expr]int{}
	for _, x := range e.all[got].sum {
		left[x]++
	}
	var lacks, twice, other []string
	for _, x := range slices.Compact(slices.Clone(e.all[want].sum)) {
		switch {
		case left[x] < count[x]:
			lacks = append(lacks, e.text(x))
		case left[x] > count[x]:
			twice = append(twice, e.text(x))
		}
	}
	for _, x := range slices.Compact(slices.Clone(e.all[got].sum)) {
		if count[x] == 0 {
			other = append(other, e.text(x))
		}
	}
	var parts []string
	for _, p := range []struct {
		head string
		list []string
	}{{"lacks ", lacks}, {"has more than once ", twice}, {"has what does not belong there, ", other}} {
		if n := len(p.list); n > 2 {
			p.list = append(p.list[:2:2], fmt.Sprintf("and %d more", n-2))
		}
		if len(p.list) > 0 {
			parts = append(parts, p.head+strings.Join(p.list, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// text is linear(A@2[0], B@0): buffer, rank and chunk, and the run where it is not the
// first.
func (e *expressions) text(x expr) string {
	t := e.all[x]
	var args []string
	switch t.kind {
	case 0:
		return "nothing"
	case inputOf:
		run := ""
		if t.args[2] > 0 {
			run = fmt.Sprintf(" of run %d", t.args[2]+1)
		}
		return fmt.Sprintf("%s@%d[%d]%s", e.names[t.args[0]], t.args[1], t.args[3], run)
	case tupleOf:
		if len(t.args) > 2 {
			return fmt.Sprintf("%s, ..., %s", e.text(expr(t.args[0])), e.text(expr(t.args[len(t.args)-1])))
		}
	case rowOf:
		return e.text(expr(t.args[0])) + " to each row"
	case sumOf, addedTo:
		for _, a := range t.args {
			args = append(args, e.text(expr(a)))
		}
		return "(" + strings.Join(args, " + ") + ")"
	}
	for _, a := range t.args {
		if a != int32(stale) {
			args = append(args, e.text(expr(a)))
		}
	}
	if t.kind == tupleOf {
		return strings.Join(args, ", ")
	}
	return t.form + "(" + strings.Join(args, ", ") + ")"
}

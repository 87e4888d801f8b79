package mutate

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"ovgen/runtime/driver"
	"ovgen/schedule/hostir"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
)

// Mutant is a program with one mistake.
type Mutant struct {
	Schedule string // the schedule's name
	Kind     string // of the mistake: "drop", "move", "shift an index", ...
	Text     string // the change
	// Cases are the systems in which it differs from the right program, one a mesh size.
	Cases []Case
}

// Name is the mutant in one line.
func (m Mutant) Name() string { return m.Schedule + ": " + m.Kind + ": " + m.Text }

// Case is a mutant at one mesh size.
type Case struct {
	Program *hostir.Program // the right program
	Shape   ops.Case
	Right   [][]ops.Op
	Lists   [][]ops.Op
	// system is the explorer's system, and orders are the orders of the right program: all mutants of a program share
	// them at a mesh size.
	system func() (explore.System, error)
	orders []func() (*explore.Order, error) // by mode
}

// CaseOf returns the right program at one mesh size, with its unrolled operations.
func CaseOf(p *hostir.Program, shape ops.Case, right [][]ops.Op) Case {
	c := Case{Program: p, Shape: shape, Right: right, Lists: right}
	c.system = sync.OnceValues(func() (explore.System, error) {
		sys, err := explore.Of(p, shape, right)
		if err != nil {
			return explore.System{}, err
		}
		return sys.Learned(modes[0]...), nil
	})
	for _, m := range modes {
		c.orders = append(c.orders, sync.OnceValues(func() (*explore.Order, error) { return order(c, m) }))
	}
	return c
}

// With returns the case with other operations.
func (c Case) With(lists [][]ops.Op) Case {
	c.Lists = lists
	return c
}

// Sizes are the mesh sizes for which mutants are tried.
var Sizes = []int{2, 3}

// sizes are the mesh sizes of a program; over hosts they are three hosts of one rank, and two hosts of two ranks.
func sizes(p *hostir.Program) []int {
	if p.OverHosts() {
		return []int{3, 4}
	}
	return Sizes
}

// Right are the systems of a program without a mistake.
func Right(p *hostir.Program) ([]Case, error) {
	var list []Case
	for _, d := range sizes(p) {
		lists, err := unroll(p, d)
		if err != nil {
			return nil, err
		}
		list = append(list, CaseOf(p, shapeOf(p, d), lists))
	}
	return list, nil
}

// All lists the mutants of a program. It leaves out changes that do not change the operations of any rank, or that give
// the same operations as another mutant.
func All(p *hostir.Program) ([]Mutant, error) {
	m := &maker{program: p, right: map[int][][]ops.Op{}, cases: map[int]Case{}, seen: map[[32]byte]bool{},
		names: map[string]int{}}
	for _, d := range sizes(p) {
		lists, err := unroll(p, d)
		if err != nil {
			return nil, err
		}
		m.right[d], m.cases[d] = lists, CaseOf(p, shapeOf(p, d), lists)
		m.seen[text(d, lists)] = true
	}
	m.programs()
	m.operations()
	return m.list, m.err
}

type maker struct {
	program *hostir.Program
	right   map[int][][]ops.Op
	cases   map[int]Case // of the right program
	seen    map[[32]byte]bool
	names   map[string]int
	list    []Mutant
	err     error
}

// add keeps a mutant whose operations are given by a function of the mesh size. Where the function fails there is no
// program, so there is no mutant.
func (m *maker) add(kind, what string, lists func(d int) ([][]ops.Op, error)) {
	x := Mutant{Schedule: m.program.Name, Kind: kind, Text: what}
	if m.names[x.Name()]++; m.names[x.Name()] > 1 {
		x.Text += fmt.Sprintf(" (%d)", m.names[x.Name()])
	}
	for _, d := range sizes(m.program) {
		l, err := lists(d)
		if err != nil || m.seen[text(d, l)] {
			continue
		}
		m.seen[text(d, l)] = true
		x.Cases = append(x.Cases, m.cases[d].With(l))
	}
	if len(x.Cases) > 0 {
		m.list = append(m.list, x)
	}
}

func unroll(p *hostir.Program, d int) ([][]ops.Op, error) {
	return shapeOf(p, d).Unroll(p)
}

// text is equal for systems that do the same.
func text(d int, lists [][]ops.Op) [32]byte {
	s := fmt.Sprintln(d)
	for _, l := range lists {
		s += ops.Lines(l) + "\n"
	}
	return sha256.Sum256([]byte(s))
}

// shapeOf is the explorer's shape, in elements of fp32.
func shapeOf(p *hostir.Program, ranks int) ops.Case {
	s := explore.ShapeOf(p, ranks)
	s.ElementBits = 8 * driver.FP32.Size()
	return s
}

package edges

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// The letters of an operation carry states. If a letter is spread and the result keeps it, the result is spread along
// it. If a letter is spread and summed, the result is partial. A letter may be spread in one operand and whole in
// another one. If the result keeps the letter, each rank reads its part of the whole operand; if the letter is summed,
// the spread operand travels. One operation can't have two spread letters.

// wish says where the later operations want a result.
type wish struct {
	state State
	known bool  // the state is declared; else only the rows matter, and no operation asks for the rows of one rank
	cut   bool  // it is declared with its rows in parts
	whole bool  // every rank wants all rows of a result that is not declared
	rows  State // of the part of a sum that each rank gets, if nothing else wants it
}

// answer is one way to do an operation: the operands that travel before it, and the state of its result.
type answer struct {
	gathered []bool // operands that are whole for the operation, and were spread
	made     State  // the state in which each rank's operation makes the result
	left     State  // the state behind the result's edge; as made without an edge
	moved    bool   // the result's edge is an edge of its operand, which is copied
	cost     int
}

// Costs of an edge. The fewest edges win. Of equally many, an edge of the first operand is cheaper than an edge of the
// result, and an edge of a weight is the most expensive.
const (
	perEdge   = 100
	ofFirst   = 1
	ofResult  = 2
	ofWeights = 3
)

// question is an operation with the states of its operands.
type question struct {
	schedule.Contraction
	schedule.Op
	have  []State
	free  []bool // operands that every rank already has whole: no edge brings them
	stays []bool // operands that do not travel
	want  wish
	// ofColumns reports whether the functions can be applied to each rank's columns.
	ofColumns func() bool
}

// resolve finds the cheapest answer for a contraction.
func (q question) resolve() (answer, error) {
	var best *answer
	var why error
	for _, gathered := range q.choices() {
		a := answer{gathered: gathered}
		states := slices.Clone(q.have)
		for i, travels := range gathered {
			if travels {
				states[i] = State{}
			}
			if travels && !q.free[i] {
				a.cost += perEdge + []int{ofFirst, ofWeights}[min(i, 1)]
			}
		}
		err := a.make(q.Contraction, states)
		if err == nil {
			err = a.leave(q.want)
		}
		if err != nil {
			why = first(why, err)
		} else if best == nil || a.cost < best.cost {
			best = &a
		}
	}
	if best == nil {
		return answer{}, why
	}
	return *best, nil
}

// choices are all sets of operands that may travel: operands that are not whole. An operand that only rank 0 has always
// travels.
func (q question) choices() [][]bool {
	list := [][]bool{make([]bool, len(q.have))}
	for i, s := range q.have {
		if s == (State{}) || q.stays[i] {
			continue
		}
		for _, before := range list[:len(list):len(list)] {
			with := slices.Clone(before)
			with[i] = true
			list = append(list, with)
		}
		if s.Root {
			list = slices.DeleteFunc(list, func(g []bool) bool { return !g[i] })
		}
	}
	return list
}

// make finds the state of the result for operands in these states.
func (a *answer) make(c schedule.Contraction, states []State) error {
	letter, cut := byte(0), Cut{}
	for i, s := range states {
		if !s.Spread() {
			continue
		}
		l := c.In[i][s.Axis-1]
		if letter != 0 && (l != letter || s.Cut != cut) {
			return fmt.Errorf("both %c and %c are spread over the ranks", letter, l)
		}
		letter, cut = l, s.Cut
	}
	if letter == 0 {
		return nil
	}
	if at := strings.IndexByte(c.Out, letter); at >= 0 {
		a.made = State{Axis: at + 1, Cut: cut}
		return nil
	}
	for i, s := range states {
		if strings.IndexByte(c.In[i], letter) >= 0 && !s.Spread() {
			return fmt.Errorf("%c is summed over, and is spread in one operand and whole in another", letter)
		}
	}
	if a.made = (State{Partial: true}); c.OfRanks() { // each summand by itself
		a.made = Along(0)
	}
	return nil
}

// leave finds the edge from the state in which the result is made to the state in which it is wanted.
func (a *answer) leave(want wish) error {
	a.left = a.made
	switch {
	case want.known && want.cut && a.made.Partial && !want.state.Spread():
		return errors.New("a sum is not made a part after another")
	case want.known:
		a.left = want.state
	case a.made.Partial && want.whole, a.made.Rows() && want.whole:
		a.left = State{}
	case a.made.Partial:
		a.left = want.rows
	}
	if a.left == a.made {
		return nil
	}
	if _, ok := between(a.made, a.left); !ok {
		return fmt.Errorf("no edge leads from %s to %s", a.made, a.left)
	}
	if !a.made.Partial {
		a.cost += ofResult
	}
	a.cost += perEdge
	return nil
}

// first is the first error that is not nil.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

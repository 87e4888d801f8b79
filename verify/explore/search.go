package explore

import (
	"fmt"
	"slices"
	"strings"
)

// Explore looks at every state of the system and returns the violations it found.
func Explore(sys System) Verdict { return explored(sys).verdict }

// Learned is the system together with the results of its steps in these modes. Systems that With makes of it do not
// compute the results again.
func (s System) Learned(modes ...Mode) System {
	s.known = explored(s.With(s.Ranks, modes...)).contents
	return s
}

func explored(sys System) *search {
	m := build(sys)
	if m.Limit == 0 {
		m.Limit = 20000
	}
	x := &search{machine: m, next: make([][]int32, len(m.steps)), seen: map[string]bool{}, matched: map[int32]int32{},
		contents: newContents(sys.known), verdict: Verdict{Violations: m.static, Complete: true}}
	for i, st := range m.steps {
		for _, p := range st.before {
			x.next[p] = append(x.next[p], int32(i))
		}
	}
	if !x.over() {
		x.from(m.start())
	}
	return x
}

// search is an exploration under way.
type search struct {
	*machine
	contents *contents
	next     [][]int32 // the direct successors of each step
	seen     map[string]bool
	matched  map[int32]int32 // the post that ended each wait
	path     []int32
	closing  *closure
	verdict  Verdict
}

// from explores a state and all states that follow it.
func (x *search) from(s *state) {
	length := len(x.path)
	defer func() { x.path = x.path[:length] }()
	for {
		enabled := x.enabled(s)
		x.conflicting(s, enabled)
		if len(enabled) == 0 {
			x.ended(s)
			return
		}
		if !x.Full {
			enabled = x.stubborn(s, enabled)
		}
		if x.over() {
			return
		}
		if len(enabled) == 1 {
			x.step(s, enabled[0])
			continue
		}
		if !x.fresh(s) {
			return
		}
		for _, i := range enabled {
			next := s.clone()
			x.step(next, i)
			x.from(next)
			x.path = x.path[:len(x.path)-1]
		}
		return
	}
}

func (x *search) step(s *state, i int32) {
	x.verdict.Steps++
	x.path = append(x.path, i)
	x.take(s, i)
}

// fresh reports whether the search has not met the state before, so that orders branch here.
func (x *search) fresh(s *state) bool {
	key := s.key()
	if x.seen[key] {
		return false
	}
	if len(x.seen) >= x.Limit {
		x.verdict.Complete = false
		return false
	}
	x.seen[key] = true
	x.verdict.States++
	return true
}

// over reports whether the search must end.
func (x *search) over() bool {
	if x.First && len(x.verdict.Violations) > 0 {
		x.verdict.Complete = false
		return true
	}
	return !x.verdict.Complete
}

// conflicting looks for two conflicting steps that can be taken in one state.
func (x *search) conflicting(s *state, enabled []int32) {
	for _, i := range enabled {
		for _, j := range x.steps[i].conflicts {
			if i < j && x.able(s, j) {
				x.race(i, j)
			}
		}
	}
}

func (x *search) race(i, j int32) {
	a, b := x.steps[i], x.steps[j]
	p := NoRace
	switch {
	case a.signals() && b.signals() && a.word == b.word:
		p = OnePost
	case !x.overlap(a, b):
		p = InRun
	}
	x.found(p, fmt.Sprintf("at once: %s; %s", a, b))
}

// overlap reports whether two accesses conflict in memory, and not only in the state of a peer's run.
func (x *search) overlap(a, b *step) bool {
	meet := func(r, w []int32) bool {
		return slices.ContainsFunc(r, func(n int32) bool { return slices.Contains(w, n) })
	}
	return meet(a.reads, b.writes) || meet(a.writes, b.reads) || meet(a.writes, b.writes)
}

// ended looks at a state in which no step can be taken.
func (x *search) ended(s *state) {
	if s.left > 0 {
		var blocked []string
		for i, st := range x.steps {
			if !s.done[i] && s.missing[i] == 0 {
				blocked = append(blocked, st.String())
			}
		}
		x.found(NoDeadlock, fmt.Sprintf("%d steps are left, nothing goes on: %s", s.left, strings.Join(blocked, "; ")))
		return
	}
	for w, v := range s.value {
		if v != 0 {
			x.found(AtRest, fmt.Sprintf("%s holds %d at the end", x.words[w], v))
		}
	}
}

// found notes the first violation of a property.
func (x *search) found(p Property, text string) {
	if x.verdict.Broke(p) {
		return
	}
	v := Violation{Property: p, Text: text}
	for _, i := range x.path {
		v.Order = append(v.Order, x.steps[i].String())
	}
	x.verdict.Violations = append(x.verdict.Violations, v)
}

package explore

// stubborn returns the steps to take from a state: the smallest set that it finds. A set is closed when (1) for each of
// its steps that can be taken, every later step that conflicts with the step is in the set, and (2) for each of its
// steps that can't be taken, a cause that has to happen first is in the set: one step before it, or every write that
// may end its wait. Then no order of other steps can affect the steps of the set.
func (x *search) stubborn(s *state, enabled []int32) []int32 {
	best := enabled
	if x.closing == nil {
		x.closing = &closure{search: x, in: newMarks(len(x.steps)), yes: newMarks(len(x.steps)),
			no: newMarks(len(x.steps))}
	}
	c := x.closing
	c.state = s
	for _, t := range enabled {
		c.clear()
		c.include(t)
		if c.able < len(best) {
			best = nil
			for _, e := range enabled {
				if c.in.has(e) {
					best = append(best, e)
				}
			}
		}
		if len(best) == 1 {
			break
		}
	}
	return best
}

// closure is a set of steps that is being closed.
type closure struct {
	*search
	*state
	in      marks
	yes, no marks // the answers of covered, until the set grows
	able    int
}

// clear empties the set.
func (c *closure) clear() {
	c.in.clear()
	c.forget()
	c.able = 0
}

func (c *closure) forget() {
	c.yes.clear()
	c.no.clear()
}

// marks is a set of steps that is emptied at once.
type marks struct {
	when []int32
	now  int32
}

func newMarks(n int) marks { return marks{make([]int32, n), 1} }

func (m *marks) has(i int32) bool { return m.when[i] == m.now }

func (m *marks) put(i int32) { m.when[i] = m.now }

func (m *marks) clear() { m.now++ }

// include puts a step into the set, and all steps that it needs.
func (c *closure) include(i int32) {
	if c.in.has(i) {
		return
	}
	c.in.put(i)
	c.forget()
	if c.machine.able(c.state, i) {
		c.able++
		for _, j := range c.steps[i].conflicts {
			if !c.done[j] && (c.machine.able(c.state, j) || !c.covered(j)) {
				c.include(j)
			}
		}
		return
	}
	for _, p := range c.steps[i].before {
		if !c.done[p] {
			c.include(p)
			return
		}
	}
	for _, p := range c.posts[c.steps[i].word] {
		if !c.done[p] && c.steps[p].value == c.steps[i].value {
			c.include(p)
		}
	}
}

// covered reports whether a step can be taken only after a step of the set.
func (c *closure) covered(i int32) bool {
	switch {
	case c.in.has(i) || c.yes.has(i):
		return true
	case c.no.has(i):
		return false
	}
	c.no.put(i) // if the search meets it again on the way, it is no help
	if !c.blocked(i) {
		return false
	}
	c.yes.put(i)
	return true
}

func (c *closure) blocked(i int32) bool {
	st := c.steps[i]
	for _, p := range st.before {
		if !c.done[p] && c.covered(p) {
			return true
		}
	}
	if st.kind != wait || c.value[st.word] == st.value {
		return false
	}
	for _, p := range c.posts[st.word] {
		if !c.done[p] && c.steps[p].value == st.value && !c.covered(p) {
			return false
		}
	}
	return true
}

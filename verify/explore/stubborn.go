package explore

// stubborn returns the steps to take from a state: the smallest set that it finds.
// A set is closed when (1) for each of its steps that can be taken, every later step
// that conflicts with it is in the set, and (2) for each that can't, something that
// has to happen first is in the set: one step before it, or every write that may end
// its wait. Then no order of other steps can touch what the set does.
func (x *search) stubborn(s *state, enabled []int32) []int32 {
	best := enabled
	for _, t := range enabled {
		c := closure{search: x, state: s, in: map[int32]bool{}, known: map[int32]int8{}}
		c.include(t)
		if c.able < len(best) {
			best = nil
			for _, e := range enabled {
				if c.in[e] {
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

// closure is a set being closed.
type closure struct {
	*search
	*state
	in    map[int32]bool
	known map[int32]int8 // what covered found: 1 yes, -1 no, while the set stays as it is
	able  int
}

// include puts a step into the set, and all that it needs.
func (c *closure) include(i int32) {
	if c.in[i] {
		return
	}
	c.in[i] = true
	clear(c.known)
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

// covered says that a step can't be taken before one of the set is.
func (c *closure) covered(i int32) bool {
	if c.in[i] {
		return true
	}
	if k := c.known[i]; k != 0 {
		return k > 0
	}
	c.known[i] = -1 // met again on the way: no help
	if c.blocked(i) {
		c.known[i] = 1
	}
	return c.known[i] > 0
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

package explore

import (
	"encoding/binary"
	"fmt"
	"slices"

	"ovgen/verify/ops"
)

// state is one state of all ranks: steps done, words and contents.
type state struct {
	done    []bool
	missing []int32 // of each step: the number of its predecessors that are not done
	left    int
	value   []uint32 // of each word
	writer  []int32  // of each word: the step that wrote it last, -1 if none
	holds   []int32  // of each atom: its contents
}

func (m *machine) start() *state {
	s := &state{done: make([]bool, len(m.steps)), missing: make([]int32, len(m.steps)), left: len(m.steps),
		value: make([]uint32, len(m.words)), writer: make([]int32, len(m.words)),
		holds: make([]int32, len(m.atoms.names))}
	for i, st := range m.steps {
		s.missing[i] = int32(len(st.before))
	}
	for i := range s.writer {
		s.writer[i] = -1
	}
	return s
}

func (s *state) clone() *state {
	c := *s
	c.done, c.missing = slices.Clone(s.done), slices.Clone(s.missing)
	c.value, c.writer, c.holds = slices.Clone(s.value), slices.Clone(s.writer), slices.Clone(s.holds)
	return &c
}

// key is equal for equal states.
func (s *state) key() string {
	b := make([]byte, 0, len(s.done)/8+8*len(s.value)+4*len(s.holds)+8)
	for i := 0; i < len(s.done); i += 8 {
		var bits byte
		for j, d := range s.done[i:min(i+8, len(s.done))] {
			if d {
				bits |= 1 << j
			}
		}
		b = append(b, bits)
	}
	for i, v := range s.value {
		b = binary.LittleEndian.AppendUint32(b, v)
		b = binary.LittleEndian.AppendUint32(b, uint32(s.writer[i]))
	}
	for _, h := range s.holds {
		b = binary.LittleEndian.AppendUint32(b, uint32(h))
	}
	return string(b)
}

// able reports whether a step can be taken.
func (m *machine) able(s *state, i int32) bool {
	if s.done[i] || s.missing[i] > 0 {
		return false
	}
	st := m.steps[i]
	return st.kind != wait || s.value[st.word] == st.value
}

// enabled lists the steps that can be taken.
func (m *machine) enabled(s *state) []int32 {
	var list []int32
	for i := range m.steps {
		if m.able(s, int32(i)) {
			list = append(list, int32(i))
		}
	}
	return list
}

// take takes a step and reports the properties it breaks.
func (x *search) take(s *state, i int32) {
	st := x.steps[i]
	x.inRun(s, st)
	switch st.kind {
	case mark:
		x.mark(s, st)
	case wait:
		x.match(i, s.writer[st.word])
	case write:
		if st.value != 0 && s.value[st.word] == st.value {
			x.found(OnePost, fmt.Sprintf("the word holds %d already: %s", st.value, st))
		}
		s.value[st.word], s.writer[st.word] = st.value, i
	case access:
		x.access(s, st)
	case check:
		x.check(s, st)
	}
	s.done[i] = true
	s.left--
	for _, n := range x.next[i] {
		s.missing[n]--
	}
}

// mark notes that a rank's run has started or ended.
func (x *search) mark(s *state, st *step) {
	if st.op == nil || st.op.Kind != ops.After && st.op.Kind != ops.Done {
		return
	}
	text := "between runs"
	if st.op.Kind == ops.After {
		text = fmt.Sprintf("run %d", st.run+1)
	}
	s.holds[x.life[st.rank]] = x.contents.name(text)
}

// inRun checks that the runs that a step needs are under way.
func (x *search) inRun(s *state, st *step) {
	for _, a := range st.lives {
		if have := x.contents.text(s.holds[a]); have != fmt.Sprintf("run %d", st.run+1) {
			x.found(InRun, fmt.Sprintf("%s is in %q: %s", x.atoms.names[a], have, st))
		}
	}
}

func (x *search) access(s *state, st *step) {
	switch {
	case st.op == nil && st.wrote.Input:
		x.made(s, st)
	case st.op == nil:
		for _, a := range st.writes {
			s.holds[a] = 0
		}
	case st.op.Kind == ops.Collective:
		x.together(s, st)
	case st.op.Kind != ops.Signal && len(st.results) > 0: // the other case is a step word, which no operation reads
		x.made(s, st)
	}
}

// check compares the result that the caller reads with the expected one.
func (x *search) check(s *state, st *step) {
	want := x.Results[st.result].Want(st.run)
	for _, a := range st.reads {
		n := min(x.atoms.sizes[a], len(want))
		if n < x.atoms.sizes[a] || !slices.Equal(x.elements(s, []int32{a}), want[:n]) {
			x.found(Contents, fmt.Sprintf("%s is not what it should be after run %d: it holds %q",
				x.atoms.names[a], st.run+1, x.contents.text(s.holds[a])))
			return
		}
		want = want[n:]
	}
}

// match checks that the same post ends a wait in every order.
func (x *search) match(w, post int32) {
	if before, ok := x.matched[w]; ok && before != post {
		x.found(OnePost, fmt.Sprintf("%s is ended by different posts", x.steps[w]))
		return
	}
	x.matched[w] = post
	if post >= 0 && x.steps[post].run != x.steps[w].run {
		x.found(AtRest, fmt.Sprintf("a post of one run ends a wait of another: %s; %s", x.steps[post], x.steps[w]))
	}
}

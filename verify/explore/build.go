package explore

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/verify/ops"
)

// machine is a system cut into steps.
type machine struct {
	System
	steps []*step
	atoms *atoms
	life  []int32 // an atom of each rank, which the starts and ends of its runs write
	// communicators has an atom for each rank, which the rank's collectives write.
	communicators []int32
	meetings      map[at]meeting
	words         []ops.Loc
	number        map[ops.Loc]int32
	posts         [][]int32 // of each word: the steps that write it
	group         int32
	static        []Violation // found without running
}

func build(s System) *machine {
	m := &machine{System: s, number: map[ops.Loc]int32{}, meetings: map[at]meeting{}}
	if m.ElementBits == 0 {
		m.ElementBits = 32
	}
	if err := ops.WellFormed(s.Ranks); err != nil {
		m.report(WellFormed, "%v", err)
	} else {
		m.checkOperations()
	}
	if len(m.static) > 0 {
		m.atoms = cut(nil, m.bitsOf)
		return m // nothing to follow
	}
	m.checkBounds()
	m.checkPackets()
	m.cutMemory()
	for r, list := range s.Ranks {
		b := &rankBuilder{machine: m, rank: r, list: list, streams: map[string][]int32{}, events: map[int][]int32{}}
		for run, mode := range s.Modes {
			b.run, b.met = run, 0
			b.whole(mode)
		}
		b.run = len(s.Modes)
		b.write()
	}
	m.meet()
	m.checkWords()
	m.relate()
	return m
}

func (m *machine) cutMemory() {
	var uses []ops.Use
	for _, list := range m.Ranks {
		row, grouped := int64(1), int64(0)
		for i, o := range list {
			if i == 0 || list[i-1].Step != o.Step || list[i-1].Stream != o.Stream {
				launch := launchOf(list[i:])
				row, grouped = rowIn(launch), m.rowsInGroups(launch)
			}
			if grouped > 0 && len(o.Uses) > 0 {
				uses = append(uses, ofGroup(o, grouped, 0)...)
			}
			uses = append(uses, m.taken(&o, row)...)
			for run := range m.Modes {
				uses = append(uses, m.taken(m.turned(&o, run), row)...)
			}
		}
	}
	for _, b := range m.Memory {
		uses = append(uses, b.Use)
	}
	for _, r := range m.Results {
		uses = append(uses, r.At)
	}
	m.atoms = cut(uses, m.bitsOf)
	for r := range m.Ranks {
		m.life = append(m.life, m.atoms.add(fmt.Sprintf("run of rank %d", r)))
		m.communicators = append(m.communicators, m.atoms.add(fmt.Sprintf("communicator of rank %d", r)))
	}
}

// bitsOf is the number of bits of an element of a buffer.
func (m *machine) bitsOf(buffer string) int64 { return cmp.Or(m.Narrow[buffer], m.ElementBits) }

// taken lists the uses of an operation and, where blocks take parts of the uses, the first block's parts too.
func (m *machine) taken(o *ops.Op, row int64) []ops.Use {
	uses := o.Uses
	for i, u := range o.Uses {
		if o.ByBlocks && !ops.OfStream(u.At) {
			uses = append(uses[:len(uses):len(uses)], m.partOf(u, 0, max(m.together(o, u, i, row), 1)))
		}
	}
	return uses
}

// word is the number of a word.
func (m *machine) word(at ops.Loc) int32 {
	n, ok := m.number[at]
	if !ok {
		n = int32(len(m.words))
		m.number[at] = n
		m.words = append(m.words, at)
		m.posts = append(m.posts, nil)
	}
	return n
}

// report notes a violation that holds in every order.
func (m *machine) report(p Property, format string, args ...any) {
	for _, v := range m.static {
		if v.Property == p {
			return
		}
	}
	m.static = append(m.static, Violation{Property: p, Text: fmt.Sprintf(format, args...)})
}

// checkWords reports words with two posters, words that another rank than the owner awaits, and words that operations
// signal both by blocks and otherwise: there are as many words as blocks.
func (m *machine) checkWords() {
	poster, signal := map[int32]*step{}, map[int32]*step{}
	for _, s := range m.steps {
		if s.signals() {
			if o := signal[s.word]; o != nil && o.op.ByBlocks != s.op.ByBlocks {
				m.report(WellFormed, "%s is signalled by blocks and otherwise: %s; %s", m.words[s.word], o, s)
			}
			signal[s.word] = s
		}
		switch {
		case s.kind == wait && m.words[s.word].Rank != s.rank:
			m.report(OnePost, "%s waits in the memory of rank %d", s, m.words[s.word].Rank)
		case s.kind == write && s.value != 0:
			if p := poster[s.word]; p != nil && p.rank != s.rank {
				m.report(OnePost, "%s has two posters: %s; %s", m.words[s.word], p, s)
			}
			poster[s.word] = s
		}
	}
}

// checkOperations reports operations that use memory or words of ranks that do not exist, or of ranks on other hosts.
func (m *machine) checkOperations() {
	away := func(a, b int) bool { return a/m.eachHost() != b/m.eachHost() }
	for r, list := range m.Ranks {
		for _, o := range list {
			wrong := false
			for _, u := range o.Uses {
				wrong = wrong || u.Bytes < 0 || u.At.Offset < 0 || u.At.Rank < 0 || u.At.Rank >= len(m.Ranks)
			}
			for _, w := range o.Words {
				wrong = wrong || w.At.Offset < 0 || w.At.Rank < 0 || w.At.Rank >= len(m.Ranks)
			}
			if wrong {
				m.report(WellFormed, "rank %d: no operation has this form: %s", r, &o)
			}
			if slices.ContainsFunc(o.Uses, func(u ops.Use) bool { return away(u.At.Rank, r) }) ||
				slices.ContainsFunc(o.Words, func(w ops.Word) bool { return away(w.At.Rank, r) }) {
				m.report(Reached, "rank %d: it uses another host: %s", r, &o)
			}
		}
	}
}

// checkBounds reports operations that leave buffers and semaphores of known size.
func (m *machine) checkBounds() {
	size := map[place]int64{}
	for _, b := range m.Memory {
		p, _, end := span(b.Use)
		size[p] = max(size[p], end)
	}
	within := func(at ops.Loc, bytes int64) bool {
		end, ok := m.Words[at.Buffer]
		if t, turns := m.Turns[at.Buffer]; turns {
			end, ok = t.Bytes, true
		}
		if !ok {
			end, ok = size[place{at.Rank, at.Buffer}]
		}
		return !ok || at.Offset >= 0 && at.Offset+bytes <= end
	}
	for r, list := range m.Ranks {
		for _, o := range list {
			m.checkColumns(r, &o, within)
			for _, u := range o.Uses {
				if !within(u.At, u.Bytes) {
					m.report(WellFormed, "rank %d: %s is out of bounds: %s", r, u, &o)
				}
			}
			for _, w := range o.Words {
				if !within(w.At, 4) {
					m.report(WellFormed, "rank %d: %s is out of bounds: %s", r, w, &o)
				}
			}
		}
	}
}

// relate lists for each step the steps that conflict with it.
func (m *machine) relate() {
	readers, writers := map[int32][]int32{}, map[int32][]int32{}
	words := map[int32][]int32{}
	for i, s := range m.steps {
		for _, a := range s.reads {
			readers[a] = append(readers[a], int32(i))
		}
		for _, a := range s.lives {
			readers[a] = append(readers[a], int32(i))
		}
		for _, a := range s.writes {
			writers[a] = append(writers[a], int32(i))
		}
		if s.signals() {
			words[s.word] = append(words[s.word], int32(i))
		}
		if s.kind == write {
			m.posts[s.word] = append(m.posts[s.word], int32(i))
		}
	}
	seen := newMarks(len(m.steps))
	for i, s := range m.steps {
		seen.clear()
		seen.put(int32(i))
		add := func(list []int32) {
			for _, j := range list {
				if !seen.has(j) && (m.steps[j].group != s.group || m.steps[j].block != s.block || s.op == nil) {
					seen.put(j)
					s.conflicts = append(s.conflicts, j)
				}
			}
		}
		for _, a := range s.reads {
			add(writers[a])
		}
		for _, a := range s.lives {
			add(writers[a])
		}
		for _, a := range s.writes {
			add(readers[a])
			add(writers[a])
		}
		if s.signals() {
			add(words[s.word])
		}
	}
}

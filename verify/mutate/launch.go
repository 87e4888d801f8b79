package mutate

import (
	"fmt"
	"slices"

	"ovgen/schedule/hostir"
)

// launch mutates a kernel that signals around its work: it leaves out, doubles and moves its words and its work, and
// signals on another stream. whole makes the program's body from the kernel's replacement.
func (m *maker) launch(s hostir.Step, whole func(...hostir.Node) []hostir.Node) {
	words := s.Words()
	around := func(pre, post []hostir.Word) hostir.Step {
		c := s
		c.Pre, c.Post = pre, post
		return c
	}
	split := func(list []hostir.Word, at int) hostir.Step { return around(list[:at:at], list[at:]) }
	add := func(kind, what string, list ...hostir.Node) { m.node(kind, s, " "+what, whole(list...)) }
	var alone []hostir.Node
	for _, w := range words {
		alone = append(alone, signal(s.Stream, w))
	}
	add("drop", "the work", alone...)
	for at := range len(words) + 1 {
		if at != len(s.Pre) {
			add("move", fmt.Sprintf("the work after %d words", at), split(words, at))
		}
	}
	for _, other := range m.others(s.Stream) {
		list := slices.Clone(alone)
		add("other stream", "the work on "+other.Set, slices.Insert(list, len(s.Pre),
			hostir.On(around(nil, nil), other))...)
	}
	for i, w := range words {
		n := fmt.Sprintf("word %d, %s", i+1, w)
		less, more := slices.Delete(slices.Clone(words), i, i+1), slices.Insert(slices.Clone(words), i, w)
		fewer, further := len(s.Pre), len(s.Pre)
		if i < len(s.Pre) {
			fewer, further = fewer-1, further+1
		}
		add("drop", n, split(less, fewer))
		add("double", n, split(more, further))
		for j := range words {
			if j != i { // past the work too where it lies between the two
				add("move", fmt.Sprintf("%s to %d", n, j+1), split(slices.Insert(slices.Clone(less), j, w), len(s.Pre)))
				add("move", fmt.Sprintf("%s to %d by the work", n, j+1),
					split(slices.Insert(slices.Clone(less), j, w), fewer))
			}
		}
		for _, other := range m.others(s.Stream) {
			list := []hostir.Node{signal(other, w), split(less, fewer)}
			if i >= len(s.Pre) {
				slices.Reverse(list)
			}
			add("other stream", n+" on "+other.Set, list...)
		}
	}
}

// others are the other streams that have no number.
func (m *maker) others(s hostir.StreamRef) (list []hostir.StreamRef) {
	for _, set := range m.program.Streams {
		if set.Name != s.Set && set.Count.IsZero() {
			list = append(list, hostir.Stream(set.Name))
		}
	}
	return list
}

// signal is a kernel that posts or awaits one word.
func signal(s hostir.StreamRef, w hostir.Word) hostir.Step {
	if w.Wait {
		return hostir.Step{Stream: s, Pre: []hostir.Word{w}, By: hostir.WaitKernel}
	}
	return hostir.Step{Stream: s, Post: []hostir.Word{w}, By: hostir.PostKernel}
}

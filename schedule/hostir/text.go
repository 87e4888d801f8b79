package hostir

import (
	"fmt"
	"slices"
	"strings"
)

// text is the text of a node that holds no other nodes.
func text(n Node) string {
	switch n := n.(type) {
	case Let:
		return n.Name + " = " + n.Value.String()
	case Synchronize:
		return names(n.On, ", ", "Synchronize(%s)")
	case Share:
		of := strings.Join(n.Buffers, ", ")
		if n.To.IsZero() {
			return "ShareMemHandles(" + of + ")"
		}
		return fmt.Sprintf("ShareMemHandles(%s to %s, from %s)", of, n.To, n.From)
	case Step:
		return n.text()
	}
	panic(fmt.Sprintf("hostir: text of a node of kind %T", n))
}

// text is the text of a step: its parts in their order, in braces where one kernel does them all.
func (s Step) text() string {
	list := strings.Join(slices.Concat(s.phases()...), ";  ")
	switch {
	case s.By == "" || s.Kind() == SumKind && !s.Fused() && s.By == ReduceKernel:
		return list
	case s.Ahead:
		return list + " by kernel, weight ahead"
	case !s.Fused() && s.By == s.alone():
		return list + " by kernel"
	}
	return s.open() + list + s.done()
}

// phases are the texts of a step: its waits and posts before the work, the work, and its waits and posts after the
// work.
func (s Step) phases() [][]string {
	if x, ok := s.Do.(PacketSpread); ok {
		sum, spread := x.Steps(s)
		list := sum.phases()
		for _, one := range spread {
			list = append(list, one.phases()...)
		}
		return list
	}
	if x, ok := s.Do.(PacketRows); ok {
		list := [][]string{{x.Make.text()}}
		for _, one := range x.Steps(s) {
			list = append(list, one.phases()...)
		}
		if len(x.Then.Makes) > 0 {
			list = append(list, []string{x.Then.text()})
		}
		return list
	}
	var work []string
	if s.Do != Nothing {
		work = []string{s.Do.text()}
	}
	return [][]string{s.sent(), texts(s.Pre), work, texts(s.Post)}
}

// sent is the text of the data that packets bring, which stands before their flags.
func (s Step) sent() []string {
	x, sends := SentBy(s.Do)
	if !sends {
		return nil
	}
	return []string{fmt.Sprintf("Send(%s, %s)", x.Landing, x.Each)}
}

// open begins the text of a kernel, which does the step as a whole or by blocks. done ends the text; for a scatter
// whose groups of tiles post, it says so.
func (s Step) open() string {
	if _, scatters := s.Do.(Scatter); s.ByBlocks && !scatters {
		return s.By + " by blocks{"
	}
	return s.By + "{"
}

func (s Step) done() string {
	if _, scatters := s.Do.(Scatter); s.ByBlocks && scatters {
		return "} by groups"
	}
	return "}"
}

// texts are the texts of words.
func texts(words []Word) (list []string) {
	for _, w := range words {
		list = append(list, w.String())
	}
	return list
}

// alone is the kernel that does a step with one part.
func (s Step) alone() string {
	w, signals := s.Signal()
	x, applies := s.Do.(Apply)
	product, multiplies := s.Do.(Product)
	switch {
	case s.Kind() == SumKind:
		return ReduceKernel
	case multiplies:
		return product.Kernel()
	case applies:
		return x.kernel()
	case s.Kind() == CopyKind:
		return CopyKernel
	case signals && w.Wait:
		return WaitKernel
	case signals:
		return PostKernel
	}
	return ""
}

// String is "Post ready -> every peer", "Wait ready[from]" or "Wait step[i] <- from".
func (w Word) String() string {
	name, member := w.Semaphore, ""
	if !w.Index.IsZero() {
		member = "[" + w.Index.String() + "]"
	}
	peer := "every peer"
	if !w.Peer.IsZero() {
		peer = w.Peer.String()
	}
	switch {
	case !w.Wait:
		return "Post " + name + member + " -> " + peer
	case member != "":
		return "Wait " + name + member + " <- " + peer
	}
	return "Wait " + name + "[" + peer + "]"
}

// String is A, A@from, C[r], slots@to[r], C[0..r-1] or, for each value of an index,
// slots[0..D-1], A@0..D-1[r] or slots[2*q + j], q = 0..D-1.
func (v View) String() string {
	name, index := v.Buffer, ""
	if !v.Index.IsZero() {
		index = v.Index.String()
		if !v.Count.IsZero() {
			index = span(v.Index, Add(v.Index, v.Count))
		}
		if v.Padded {
			index += ", padded"
		}
		if v.Columns {
			index = ":, " + index
		}
	}
	peer := ""
	if !v.Peer.IsZero() {
		if peer = v.Peer.String(); strings.Contains(peer, " ") {
			peer = "(" + peer + ")"
		}
	}
	each := ""
	if v.Each.Index != "" {
		all := span(v.Each.From, v.Each.To)
		switch v.Each.Index {
		case index:
			index = all
		case peer:
			peer = all
		default:
			each = ", " + v.Each.Index + " = " + all
		}
	}
	if peer != "" {
		name += "@" + peer
	}
	if index != "" {
		name += "[" + index + "]"
	}
	return name + each
}

// String is main, work[i] or work[1..D-1].
func (s StreamRef) String() string {
	switch {
	case !s.Index.IsZero():
		return s.Set + "[" + s.Index.String() + "]"
	case !s.To.IsZero():
		return s.Set + "[" + span(s.From, s.To) + "]"
	}
	return s.Set
}

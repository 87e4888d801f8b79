package hostir

import (
	"fmt"
	"strings"
)

// text is one node that holds no others.
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

// text is a step: its parts in their order, in braces where one kernel does them all.
func (s Step) text() string {
	parts := append(s.sent(), texts(s.Pre)...)
	if s.Do != Nothing {
		parts = append(parts, s.work())
	}
	parts = append(parts, texts(s.Post)...)
	list := strings.Join(parts, ";  ")
	switch {
	case s.By == "" || s.Do == Sum && !s.Fused() && s.By == ReduceKernel:
		return list
	case !s.Fused() && s.By == s.alone():
		return list + " by kernel"
	}
	return s.open() + list + s.done()
}

// sent is the data that packets bring, before their flags.
func (s Step) sent() []string {
	x, sends := SentBy(s.Do)
	if !sends {
		return nil
	}
	return []string{fmt.Sprintf("Send(%s, %s)", x.Landing, x.Each)}
}

// open begins the text of a kernel, of all of it or of each block. done ends it, for each group of tiles where they
// post.
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

// texts are words.
func texts(words []Word) (list []string) {
	for _, w := range words {
		list = append(list, w.String())
	}
	return list
}

// alone is the kernel of a step with one part.
func (s Step) alone() string {
	w, signals := s.Signal()
	switch {
	case s.Do == Sum:
		return ReduceKernel
	case s.Do == Apply && (s.Func == s.By || s.By == ElementsKernel || s.Makes != nil):
		return s.By
	case s.Do == Copy:
		return CopyKernel
	case signals && w.Wait:
		return WaitKernel
	case signals:
		return PostKernel
	}
	return ""
}

// work is Set(C, A), Reduce(C, slots[0..D-1]) or Linear(C += A, B, Bias, gelu).
func (s Step) work() string {
	if o, ok := s.Do.(operated); ok {
		return o.text()
	}
	name, into := "Set", ", "
	var operands []string
	for _, v := range s.Reads {
		operands = append(operands, v.String())
	}
	switch s.Do {
	case Apply:
		name = "Apply " + s.Func
		if s.Makes != nil {
			var formulas []string
			for _, e := range s.Makes {
				formulas = append(formulas, e.String())
			}
			name = "Make [" + strings.Join(formulas, ", then ") + "] of rows of " + s.Columns.String()
		}
		if !s.Width.IsZero() {
			operands = append(operands, "heads of "+s.Width.String())
		}
		if s.Epsilon != 0 {
			operands = append(operands, fmt.Sprintf("epsilon %g", s.Epsilon))
		}
	case Call:
		name = "Call " + s.Func
	case Gather:
		name = "Gather"
	case Sum:
		name = "Reduce"
	case Product:
		name = fmt.Sprintf("Product[%s]", s.Index)
		if f, err := ParseProduct(s.Index); err == nil {
			name = f.Name
		}
		if s.Accumulate {
			into = " += "
		}
		if s.Func != "" {
			operands = append(operands, s.Func)
		}
	}
	var results []string
	for _, v := range s.Writes {
		results = append(results, v.String())
	}
	return name + "(" + strings.Join(results, ", ") + into + strings.Join(operands, ", ") + ")" + s.Launch.String()
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
	if v.Row {
		name += " to each row"
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

package hostir

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	columnWidth  = 8  // the least width of the column that names streams
	remarkColumn = 75 // where remarks start
	lineWidth    = 96 // of lists that continue on another line
)

// Print writes the program as a person would on a whiteboard: its memory and constants, and then a line for each
// sequence of steps on one stream, headed by the stream, in the order in which they are enqueued. Programs that enqueue
// different operations print differently.
func Print(p *Program) string {
	w := &printer{}
	if p.OverHosts() {
		w.wrapped("mesh:", []string{"H hosts of L ranks, rank r = h*L + l; every peer is of the own host"})
	}
	for _, owner := range []Owner{Caller, Plan} {
		var texts []string
		for _, b := range p.Buffers {
			if b.Owner == owner {
				texts = append(texts, b.text())
			}
		}
		w.wrapped(string(owner)+":", texts)
	}
	w.setup(p)
	w.list(p.Body, "", columnWidth)
	return w.out.String()
}

// PrintNode writes one node of a program.
func PrintNode(n Node) string {
	w := &printer{}
	w.list([]Node{n}, "", columnWidth)
	return w.out.String()
}

type printer struct{ out strings.Builder }

// line ends a line of text, with its remark if it has one.
func (w *printer) line(text, remark string) {
	if remark != "" {
		text = fmt.Sprintf("%-*s# %s", max(remarkColumn, len(text)+2), text, remark)
	}
	w.out.WriteString(strings.TrimRight(text, " ") + "\n")
}

// wrapped prints texts in as few lines as they fit into, the first with a heading.
func (w *printer) wrapped(heading string, texts []string) {
	line := ""
	flush := func() {
		w.line(fmt.Sprintf("%-*s%s", columnWidth, heading, line), "")
		heading, line = "", ""
	}
	for _, t := range texts {
		if line != "" && len(line)+len(t) > lineWidth {
			flush()
		}
		if line != "" {
			line += ";  "
		}
		line += t
	}
	if line != "" {
		flush()
	}
}

// setup prints the constants and the steps of New.
func (w *printer) setup(p *Program) {
	var constants []string
	for name, n := range p.Constants {
		constants = append(constants, fmt.Sprintf("%s = %d", name, n))
	}
	slices.Sort(constants)
	w.wrapped("New:", constants)
	for _, n := range p.Setup {
		w.line(fmt.Sprintf("%-*s%s", columnWidth, "New:", text(n)), n.Source().Remark)
	}
}

// list prints nodes, each headed by its stream.
func (w *printer) list(nodes []Node, indent string, width int) {
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return unused(n, nodes) })
	for i := 0; i < len(nodes); i++ {
		switch n := nodes[i].(type) {
		case For:
			w.loop(n, indent)
			continue
		case If:
			w.choice(n, indent, width)
			continue
		}
		head := heading(nodes[i])
		parts, remark := []string{text(nodes[i])}, nodes[i].Source().Remark
		for i+1 < len(nodes) && heading(nodes[i+1]) == head && joined(nodes[i], nodes[i+1]) {
			next, more := nodes[i+1].Source().Remark, text(nodes[i+1])
			long := len(indent)+max(width, len(head)+2)+len(strings.Join(append(parts, more), ";  ")) > lineWidth
			if long || next != "" && remark != "" && next != remark {
				break
			}
			i++
			remark = cmp.Or(remark, next)
			parts = append(parts, more)
		}
		if head != "" {
			head = fmt.Sprintf("%-*s", width, head+":")
			if !strings.HasSuffix(head, " ") {
				head += " "
			}
		}
		line := indent + head + strings.Join(parts, ";  ")
		if s, ok := nodes[i].(Step); ok && s.Fused() && len(line) > lineWidth {
			line = w.phases(s, indent+head)
		}
		w.line(line, remark)
	}
}

// phases prints a kernel's signals before its work, the work, and the signals after it, a line each, and returns the
// last line.
func (w *printer) phases(s Step, head string) string {
	head += s.open()
	var last string
	for _, words := range s.phases() {
		if len(words) == 0 {
			continue
		}
		if last != "" {
			w.line(last, "")
		}
		last = head + strings.Join(words, ";  ")
		head = strings.Repeat(" ", len(head))
	}
	return last + s.done()
}

// loop prints a loop. Names that are bound at its start stand in its first line.
func (w *printer) loop(l For, indent string) {
	head := fmt.Sprintf("%sfor %s in %s:", indent, l.Index, bounds(l.From, l.To))
	body := slices.DeleteFunc(slices.Clone(l.Body), func(n Node) bool { return unused(n, l.Body) })
	for len(body) > 0 {
		let, ok := body[0].(Let)
		if !ok {
			break
		}
		head += "  " + text(let)
		body = body[1:]
	}
	width := columnWidth
	Walk(body, func(n Node) {
		if h := heading(n); !strings.Contains(h, ",") {
			width = max(width, len(h)+2)
		}
	})
	w.line(head, l.Remark)
	w.list(body, indent+"  ", width)
}

// choice prints both branches of an If, or the only branch that does something.
func (w *printer) choice(n If, indent string, width int) {
	if len(n.Then) == 0 {
		w.line(fmt.Sprintf("%sif %s != %s:", indent, n.X, n.Y), n.Remark)
		w.list(n.Else, indent+"  ", width)
		return
	}
	w.line(fmt.Sprintf("%sif %s == %s:", indent, n.X, n.Y), n.Remark)
	w.list(n.Then, indent+"  ", width)
	if len(n.Else) > 0 {
		w.line(indent+"else:", "")
		w.list(n.Else, indent+"  ", width)
	}
}

// joined reports whether two nodes under one heading share a line: a post stands apart from the product after it.
func joined(a, b Node) bool {
	if _, ok := a.(Let); ok {
		_, ok = b.(Let)
		return ok
	}
	next, ok := b.(Step)
	if !ok {
		return false
	}
	step, ok := a.(Step)
	if !ok {
		return !next.Fused()
	}
	if step.Fused() || next.Fused() {
		return false
	}
	first, posts := step.Signal()
	if !posts || first.Wait {
		return true
	}
	second, signals := next.Signal()
	return signals && (!second.Wait || first.Semaphore == second.Semaphore)
}

// unused reports whether a node names a value that no expression of a list mentions.
func unused(n Node, list []Node) bool {
	let, ok := n.(Let)
	if !ok {
		return false
	}
	found := false
	Walk(list, func(n Node) {
		Exprs(n, func(_ string, e Expr) {
			e.Vars(func(v string) { found = found || v == let.Name })
		})
	})
	return !found
}

// bounds prints a range of a loop: D for all, 1..D-1 otherwise.
func bounds(from, to Expr) string {
	if from.Equal(Const(0)) {
		return to.String()
	}
	return span(from, to)
}

// span prints a range that ends before D as 0..D-1.
func span(from, to Expr) string { return compact(from) + ".." + compact(Sub(to, Const(1))) }

// compact is an expression in its simplest form, without blanks.
func compact(e Expr) string { return strings.ReplaceAll(e.Simplify().String(), " ", "") }

// heading names the streams on which a node's operations are enqueued.
func heading(n Node) string {
	streams := Streams(n)
	if s, ok := n.(Synchronize); ok {
		streams = s.Streams
	}
	return names(streams, ", ", "%s")
}

// names prints streams, each in a format.
func names(streams []StreamRef, between, format string) string {
	var list []string
	for _, s := range streams {
		list = append(list, fmt.Sprintf(format, s))
	}
	return strings.Join(list, between)
}

// text is a buffer: C [M, N] by M/D*N.
func (b Buffer) text() string {
	text := b.Name + " " + b.Tensor.String()
	if b.Tensor.Root {
		text += " on rank 0"
	}
	if b.Inner.Tensor.Name != "" {
		inner := b.Inner.Tensor
		inner.Within = ""
		text += fmt.Sprintf(" with %s %s in it", inner.Name, inner)
	}
	if !b.Chunk.Equal(b.Elements) {
		text += " by " + compact(b.Chunk)
	}
	if !b.Rows.IsZero() {
		text += " of columns"
	}
	if !b.Counts.IsZero() {
		text += fmt.Sprintf(" times count[%s] of at most %s", b.Counts, compact(b.Elements))
	}
	if !b.Room.IsZero() {
		text += " with room for " + compact(b.Room)
	}
	if b.Lands.Flags != "" {
		of := "of packets"
		if b.Lands.Words {
			of = "of data"
		}
		text += fmt.Sprintf(" in %d halves, %s with flags %s", b.Lands.Halves, of, b.Lands.Flags)
	}
	return text
}

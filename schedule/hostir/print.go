package hostir

import (
	"fmt"
	"slices"
	"strings"
)

// remarkColumn is where remarks start.
const remarkColumn = 75

// Print writes the program as a person would on a whiteboard: a line for each run
// of nodes on one stream, headed by the stream; or, where steps take anonymous
// streams in turn, in nvFuser's order of current streams.
func Print(p *Program) string {
	w := &printer{program: p}
	for _, s := range p.Streams {
		if s.Name == poolName {
			w.current(p.Setup, "", "")
			w.current(p.Body, "", mainName)
			return w.out.String()
		}
	}
	w.setup(p.Setup)
	w.columns(p.Body, "", columnWidth)
	return w.out.String()
}

// columnWidth is the least width of the column that names streams.
const columnWidth = 8

// Stream sets whose names the printed forms know.
const (
	mainName = "main"
	poolName = "streams" // anonymous, taken in turn
)

type printer struct {
	program *Program
	out     strings.Builder
}

// line ends a line of text, with its remark if it has one.
func (w *printer) line(text, remark string) {
	if remark != "" {
		text = fmt.Sprintf("%-*s# %s", max(remarkColumn, len(text)+2), text, remark)
	}
	w.out.WriteString(strings.TrimRight(text, " ") + "\n")
}

func (w *printer) setup(nodes []Node) {
	for _, n := range nodes {
		w.line(fmt.Sprintf("%-*s%s", columnWidth, "New:", w.text(n, false)), n.Source().Remark)
	}
}

// columns prints nodes headed by their stream.
func (w *printer) columns(nodes []Node, indent string, width int) {
	for i := 0; i < len(nodes); i++ {
		if l, ok := nodes[i].(For); ok {
			for i+1 < len(nodes) && l.same(nodes[i+1]) {
				i++
				l.Body = append(slices.Clone(l.Body), nodes[i].(For).Body...)
			}
			w.loop(l, indent)
			continue
		}
		if b, ok := nodes[i].(If); ok {
			w.either(b, indent)
			continue
		}
		head := heading(nodes[i])
		parts, remark := []string{w.text(nodes[i], false)}, nodes[i].Source().Remark
		for i+1 < len(nodes) && heading(nodes[i+1]) == head && joined(nodes[i], nodes[i+1]) {
			i++
			parts = append(parts, w.text(nodes[i], false))
			if r := nodes[i].Source().Remark; r != "" {
				remark = r
			}
		}
		if head != "" {
			head = fmt.Sprintf("%-*s", width, head+":")
			if !strings.HasSuffix(head, " ") {
				head += " "
			}
		}
		w.line(indent+head+strings.Join(parts, ";  "), remark)
	}
}

// either prints a branch of the columns form.
func (w *printer) either(n If, indent string) {
	w.line(fmt.Sprintf("%sif %s == %s:", indent, n.X, n.Y), n.Remark)
	w.columns(n.Then, indent+"  ", columnWidth)
	if len(n.Else) > 0 {
		w.line(indent+"else:", "")
		w.columns(n.Else, indent+"  ", columnWidth)
	}
}

// joined says whether two nodes of one stream share a line: a post stands apart
// from the product behind it, and a loop's body is one line a stream.
func joined(a, b Node) bool {
	switch b.(type) {
	case Synchronize, For, If:
		return false
	}
	if _, ok := a.(Post); ok {
		_, wait := b.(Wait)
		return wait
	}
	return true
}

// same says that n is a loop over the same range, which this form prints with it:
// what orders streams is Synchronize, not the order of enqueuing.
func (l For) same(n Node) bool {
	o, ok := n.(For)
	return ok && o.Index == l.Index && o.From.Equal(l.From) && o.To.Equal(l.To)
}

// loop prints a loop of the columns form; values bound at its head stand in its line.
func (w *printer) loop(l For, indent string) {
	head := fmt.Sprintf("%sfor %s in %s:", indent, l.Index, bounds(l.From, l.To))
	var rest []Node
	seen := map[string]bool{}
	width := columnWidth
	for _, n := range l.Body {
		if let, ok := n.(Let); ok {
			if used(let.Name, l.Body) && !seen[let.Name] {
				seen[let.Name] = true
				head += "  " + w.text(let, false)
			}
			continue
		}
		if _, ok := n.(Select); ok {
			continue
		}
		if h := heading(n); !strings.Contains(h, ",") {
			width = max(width, len(h)+2)
		}
		rest = append(rest, n)
	}
	w.line(head, l.Remark)
	w.columns(rest, indent+"  ", width)
}

// used says whether a name bound by Let occurs in what the columns form shows.
func used(name string, body []Node) bool {
	found := false
	see := func(e Expr) {
		e.Vars(func(v string) { found = found || v == name })
	}
	views := func(list ...View) {
		for _, v := range list {
			see(v.Index)
			see(v.Peer)
		}
	}
	Walk(body, func(n Node) {
		switch n := n.(type) {
		case Set:
			views(n.Dst, n.Src)
		case Matmul:
			views(n.C, n.A)
		case Linear:
			views(n.C, n.A)
		case Gradient:
			views(n.C, n.A, n.B)
		case Reduce:
			views(n.Dst)
			for _, t := range n.Terms {
				views(t.View)
			}
		case Wait:
			see(n.Peer)
			if n.Comm != nil {
				see(n.Comm.Peer)
			}
		case Post:
			see(n.Peer)
			if n.Comm != nil {
				see(n.Comm.Peer)
			}
		case If:
			see(n.X)
			see(n.Y)
		}
	})
	return found
}

// bounds prints a range of a loop: D for all, 1..D-1 otherwise.
func bounds(from, to Expr) string {
	if from.Equal(Const(0)) {
		return to.String()
	}
	return span(from, to)
}

// heading names the streams a node is issued on.
func heading(n Node) string {
	streams := Streams(n)
	if s, ok := n.(Synchronize); ok {
		streams = s.Streams
	}
	var names []string
	for _, s := range streams {
		names = append(names, s.String())
	}
	return strings.Join(names, ", ")
}

// String is main, work[i] or work[1..D-1].
func (s StreamRef) String() string {
	switch {
	case !s.Index.IsZero():
		return s.Set + "[" + s.Index.String() + "]"
	case !s.To.IsZero():
		return s.Set + "[" + s.From.String() + ".." + s.To.String() + "-1]"
	}
	return s.Set
}

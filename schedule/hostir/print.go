package hostir

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// remarkColumn is where remarks start.
const remarkColumn = 75

// Print writes the program as a person would on a whiteboard: a line for each run
// of nodes on one stream, headed by the stream; or, where steps take anonymous
// streams in turn, in nvFuser's order of current streams. There a collective is one
// node, and the posts and waits around it are its backend's and not shown.
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
	w.names(p.Body, "")
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
	nodes = slices.DeleteFunc(slices.Clone(nodes), named)
	for i := 0; i < len(nodes); i++ {
		switch n := nodes[i].(type) {
		case For:
			for i+1 < len(nodes) && n.same(nodes[i+1]) {
				i++
				n.Body = append(slices.Clone(n.Body), nodes[i].(For).Body...)
			}
			w.loop(n, indent)
			continue
		case If:
			for i+1 < len(nodes) && n.same(nodes[i+1]) {
				i++
				next := nodes[i].(If)
				n.Then, n.Else = append(slices.Clone(n.Then), next.Then...), append(slices.Clone(n.Else), next.Else...)
			}
			w.choice(n, indent, func(list []Node, indent string) {
				w.names(list, indent)
				w.columns(list, indent, width)
			})
			continue
		}
		head := heading(nodes[i])
		parts, remark := []string{w.text(nodes[i], false)}, nodes[i].Source().Remark
		for i+1 < len(nodes) && heading(nodes[i+1]) == head && joined(nodes[i], nodes[i+1]) {
			next := nodes[i+1].Source().Remark
			if next != "" && remark != "" && next != remark {
				break
			}
			i++
			remark = cmp.Or(remark, next)
			parts = append(parts, w.text(nodes[i], false))
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

// names prints the names that a list of nodes gives, ahead of it and on one line.
func (w *printer) names(nodes []Node, indent string) {
	var parts []string
	seen := map[string]bool{}
	for _, n := range nodes {
		if let, ok := n.(Let); ok && !seen[let.Name] && used(let.Name, nodes) {
			seen[let.Name] = true
			parts = append(parts, w.text(let, false))
		}
	}
	if len(parts) > 0 {
		w.line(indent+strings.Join(parts, ";  "), "")
	}
}

// named says that a node gives a name: this form has those ahead, or in loops' heads.
func named(n Node) bool {
	switch n.(type) {
	case Let, Select:
		return true
	}
	return false
}

// choice prints both branches of an If, or the one that does something.
func (w *printer) choice(n If, indent string, branch func(list []Node, indent string)) {
	if len(n.Then) == 0 {
		w.line(fmt.Sprintf("%sif %s != %s:", indent, n.X, n.Y), n.Remark)
		branch(n.Else, indent+"  ")
		return
	}
	w.line(fmt.Sprintf("%sif %s == %s:", indent, n.X, n.Y), n.Remark)
	branch(n.Then, indent+"  ")
	if len(n.Else) > 0 {
		w.line(indent+"else:", "")
		branch(n.Else, indent+"  ")
	}
}

// joined says whether two nodes of one stream share a line: a post stands apart
// from the product behind it, and a loop's body is one line a stream.
func joined(a, b Node) bool {
	switch b.(type) {
	case Synchronize, For, If:
		return false
	}
	if post, ok := a.(Post); ok {
		switch b := b.(type) {
		case Post:
			return true
		case Wait:
			return post.Semaphore == b.Semaphore
		}
		return false
	}
	return true
}

// same says that n is a choice of the same kind, whose branches print as one.
func (c If) same(n Node) bool {
	o, ok := n.(If)
	return ok && o.X.Equal(c.X) && o.Y.Equal(c.Y)
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
	seen := map[string]bool{}
	width := columnWidth
	for _, n := range l.Body {
		if let, ok := n.(Let); ok && !seen[let.Name] && used(let.Name, l.Body) {
			seen[let.Name] = true
			head += "  " + w.text(let, false)
		}
	}
	Walk(l.Body, func(n Node) {
		if h := heading(n); !strings.Contains(h, ",") {
			width = max(width, len(h)+2)
		}
	})
	w.line(head, l.Remark)
	w.columns(l.Body, indent+"  ", width)
}

// used says whether a name bound by Let occurs in what the columns form shows.
func used(name string, body []Node) bool {
	found := false
	see := func(list ...Expr) {
		for _, e := range list {
			e.Vars(func(v string) { found = found || v == name })
		}
	}
	views := func(list ...View) {
		for _, v := range list {
			see(v.Index, v.Count, v.Peer)
		}
	}
	Walk(body, func(n Node) {
		for _, s := range Streams(n) {
			see(s.Index, s.From, s.To)
		}
		switch n := n.(type) {
		case Let:
			see(n.Value)
		case Select:
			views(n.Of)
		case For:
			see(n.From, n.To)
		case If:
			see(n.X, n.Y)
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
				see(t.From, t.To)
			}
		case ShareMemHandles:
			if n.Send != nil {
				see(n.Send.Peer, n.Recv.Peer)
			}
		case Communication:
			views(n.In, n.Out)
			see(n.Index)
		case Wait:
			see(n.Peer, n.Index)
			if n.Comm != nil {
				see(n.Comm.Peer)
			}
		case Post:
			see(n.Peer, n.Index)
			if n.Comm != nil {
				see(n.Comm.Peer)
			}
		case Allocate, GetCurrentStream, Synchronize, LaunchKernel: // streams are seen above, and bodies walked
		default:
			panic(unknown("names", n))
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
		return s.Set + "[" + span(s.From, s.To) + "]"
	}
	return s.Set
}

package hostir

import (
	"fmt"
	"reflect"
	"strings"
)

// current prints nodes in nvFuser's form: SetCurrentStream where the stream
// changes, slices by Select.
func (w *printer) current(nodes []Node, indent, stream string) {
	for i := 0; i < len(nodes); i++ {
		switch n := nodes[i].(type) {
		case For:
			w.currentLoop(n, indent)
		case If:
			w.branch(n, indent, stream)
		case Synchronize:
			text := w.text(n, true)
			if s := n.Streams[0].anonymous(); s != stream {
				stream, text = s, "SetCurrentStream("+s+");  "+text
			}
			w.line(indent+text, n.Remark)
		default:
			parts, remark := []string{w.text(n, true)}, n.Source().Remark
			for i+1 < len(nodes) && together(n, nodes[i+1]) {
				i++
				parts = append(parts, w.text(nodes[i], true))
			}
			w.line(indent+strings.Join(parts, ";  "), remark)
		}
	}
}

// currentLoop prints a loop that starts by making its steps' stream current.
func (w *printer) currentLoop(l For, indent string) {
	head := fmt.Sprintf("%sfor %s in %s:", indent, l.Index, bounds(l.From, l.To))
	stream := ""
	Walk(l.Body, func(n Node) {
		if s := heading(n); stream == "" && s != "" {
			stream = strings.TrimSuffix(strings.TrimPrefix(s, poolName+"["), "]")
		}
	})
	set := "SetCurrentStream(" + stream + ")"
	if len(l.Body) == 1 {
		w.line(head+"   "+set+";  "+w.text(l.Body[0], true), l.Remark)
		return
	}
	w.line(head, l.Remark)
	w.line(indent+"  "+set, "")
	w.current(l.Body, indent+"  ", stream)
}

func (w *printer) branch(n If, indent, stream string) {
	head := fmt.Sprintf("%sif %s == %s:", indent, n.X, n.Y)
	if len(n.Then) == 1 {
		w.line(head+"   "+w.text(n.Then[0], true), n.Then[0].Source().Remark)
	} else {
		w.line(head, "")
		w.current(n.Then, indent+"  ", stream)
	}
	if len(n.Else) > 0 {
		w.line(indent+"else:", "")
		w.current(n.Else, indent+"  ", stream)
	}
}

// together says whether nodes of the same kind share a line in nvFuser's form.
func together(a, b Node) bool {
	switch a.(type) {
	case Allocate, Let, Post, Wait:
		return reflect.TypeOf(a) == reflect.TypeOf(b)
	}
	return false
}

// anonymous names a stream taken in turn by its index alone.
func (s StreamRef) anonymous() string {
	if s.Set == poolName && !s.Index.IsZero() {
		return s.Index.String()
	}
	return s.String()
}

// text is one node; selects says that slices are written as Select.
func (w *printer) text(n Node, selects bool) string {
	switch n := n.(type) {
	case Allocate:
		b, _ := w.program.Buffer(n.Buffer)
		return n.Buffer + " = Allocate " + b.Tensor.String()
	case GetCurrentStream:
		return n.Name + " = GetCurrentStream"
	case Let:
		return n.Name + " = " + n.Value.String()
	case Select:
		return n.Name + " = " + n.Of.text(true)
	case Synchronize:
		var parts []string
		for _, s := range n.On {
			name := s.String()
			if selects {
				name = s.anonymous()
			}
			parts = append(parts, "Synchronize("+name+")")
		}
		return strings.Join(parts, ", ")
	case ShareMemHandles:
		if n.Send != nil {
			return fmt.Sprintf("ShareMemHandles(send = (%s, %s), recv = (%s, %s))",
				n.Send.Buffer.alias(selects), n.Send.Peer, n.Recv.Buffer.alias(selects), n.Recv.Peer)
		}
		return "ShareMemHandles(" + strings.Join(n.Buffers, ", ") + ")"
	case Post:
		return postText(n, selects)
	case Wait:
		return waitText(n)
	case Set:
		return fmt.Sprintf("Set(%s, %s)%s", n.Dst.alias(selects), n.Src.alias(selects), by(n.Kernel))
	case Matmul:
		if selects {
			return fmt.Sprintf("Matmul(%s, %s, %s)", n.C.alias(true), n.A.alias(true), n.B.alias(true))
		}
		return fmt.Sprintf("Matmul(%s%s%s%s)", n.C.alias(false), into(n.Accumulate), n.A.alias(false), n.B.other())
	case Linear:
		if selects {
			text := fmt.Sprintf("Linear(%s, %s, %s", n.C.alias(true), n.A.alias(true), n.B.alias(true))
			if n.Bias.Buffer != "" {
				text += ", " + strings.ToLower(n.Bias.Buffer)
			}
			return text + ")"
		}
		text := fmt.Sprintf("Linear(%s%s%s%s", n.C.alias(false), into(n.Accumulate), n.A.alias(false), n.B.other())
		if n.Gelu {
			text += ", gelu"
		}
		return text + ")"
	}
	return sumText(n)
}

// sumText is a node that adds, or a kernel that does what others do.
func sumText(n Node) string {
	switch n := n.(type) {
	case Reduce:
		return n.text()
	case Gradient:
		return fmt.Sprintf("Gradient(%s%s%s, %s)", n.C.alias(false), into(n.Accumulate), n.A.alias(false), n.B.alias(false))
	case LaunchKernel:
		w := &printer{}
		var parts []string
		for _, b := range n.Body {
			parts = append(parts, strings.TrimSuffix(w.text(b, false), by(true)))
		}
		return n.Name + "{" + strings.Join(parts, ";  ") + "}"
	}
	return fmt.Sprintf("%T", n)
}

// text is Reduce(C, slots[0..D-1]).
func (n Reduce) text() string {
	parts := []string{n.Dst.alias(false)}
	for _, t := range n.Terms {
		switch {
		case t.Index == "":
			parts = append(parts, t.View.text(false))
		case t.Peer.IsZero() && !t.View.Index.Equal(Var(t.Index)):
			parts = append(parts, fmt.Sprintf("%s, %s = %s", t.View.text(false), t.Index, span(t.From, t.To)))
		case t.Peer.IsZero():
			parts = append(parts, t.Buffer+"["+span(t.From, t.To)+"]")
		case t.View.Index.IsZero():
			parts = append(parts, t.Buffer+"@"+span(t.From, t.To))
		default:
			parts = append(parts, t.Buffer+"@"+span(t.From, t.To)+"["+t.View.Index.String()+"]")
		}
	}
	return "Reduce(" + strings.Join(parts, ", ") + ")"
}

// span is 0..D-1.
func span(from, to Expr) string { return from.String() + ".." + last(to) }

// last is the value before an end: D-1, or D-2 before D - 1.
func last(to Expr) string {
	if to.op == '-' && to.y.op == 'c' {
		return fmt.Sprintf("%s-%d", to.x, to.y.num+1)
	}
	return to.String() + "-1"
}

// into stands between a result and the operands that it is made of or added to by.
func into(accumulate bool) string {
	if accumulate {
		return " += "
	}
	return ", "
}

func postText(n Post, selects bool) string {
	switch {
	case n.Comm != nil && n.Comm.Send:
		return fmt.Sprintf("Post(send %s -> %s)%s", n.Comm.Buffer.alias(selects), n.Comm.Peer, by(n.Kernel))
	case n.Comm != nil:
		return fmt.Sprintf("Post(recv %s <- %s)%s", n.Comm.Buffer.alias(selects), n.Comm.Peer, by(n.Kernel))
	case n.Peer.IsZero():
		return "Post " + n.Semaphore + of(n.Index) + " -> every peer" + by(n.Kernel)
	}
	return "Post " + n.Semaphore + of(n.Index) + " -> " + n.Peer.String() + by(n.Kernel)
}

func waitText(n Wait) string {
	switch {
	case n.Comm != nil && n.Comm.Send:
		return "Wait(send)" + by(n.Kernel)
	case n.Comm != nil:
		return "Wait(recv)" + by(n.Kernel)
	case !n.Index.IsZero() && n.Peer.IsZero():
		return "Wait " + n.Semaphore + of(n.Index) + " <- every peer" + by(n.Kernel)
	case !n.Index.IsZero():
		return "Wait " + n.Semaphore + of(n.Index) + " <- " + n.Peer.String() + by(n.Kernel)
	case n.Peer.IsZero():
		return "Wait " + n.Semaphore + "[every peer]" + by(n.Kernel)
	}
	return "Wait " + n.Semaphore + "[" + n.Peer.String() + "]" + by(n.Kernel)
}

// of is the member of a semaphore that has several.
func of(index Expr) string {
	if index.IsZero() {
		return ""
	}
	return "[" + index.String() + "]"
}

// by marks what emitted kernels do.
func by(kernel bool) string {
	if kernel {
		return " by kernel"
	}
	return ""
}

// other is an operand that is not B, which the columns form leaves out.
func (v View) other() string {
	if v.Buffer == "B" {
		return ""
	}
	return ", " + v.alias(false)
}

// alias is the view under the name that Select gave it, where there is one.
func (v View) alias(selects bool) string {
	if selects && v.Alias != "" {
		return v.Alias
	}
	return v.text(selects)
}

// text is Select(C, 0, from) or, in the columns form, g[from], A@from or A.
func (v View) text(selects bool) string {
	name := v.Buffer
	switch {
	case v.Index.IsZero() && v.Peer.IsZero():
		return name
	case !v.Peer.IsZero() && v.Index.IsZero():
		return name + "@" + v.Peer.String()
	case !v.Peer.IsZero():
		return name + "@" + v.Peer.String() + "[" + v.Index.String() + "]"
	case selects:
		return "Select(" + name + ", 0, " + v.Index.String() + ")"
	}
	if v.Alias != "" {
		name = v.Alias
	}
	return name + "[" + v.Index.String() + "]"
}

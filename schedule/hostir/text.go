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
		return fmt.Sprintf("Matmul(%s, %s)", n.C.alias(false), n.A.alias(false))
	case Linear:
		if selects {
			text := fmt.Sprintf("Linear(%s, %s, %s", n.C.alias(true), n.A.alias(true), n.B.alias(true))
			if n.Bias.Buffer != "" {
				text += ", " + strings.ToLower(n.Bias.Buffer)
			}
			return text + ")"
		}
		return fmt.Sprintf("Linear(%s, %s)", n.C.alias(false), n.A.alias(false))
	}
	return fmt.Sprintf("%T", n)
}

func postText(n Post, selects bool) string {
	switch {
	case n.Comm != nil && n.Comm.Send:
		return fmt.Sprintf("Post(send %s -> %s)%s", n.Comm.Buffer.alias(selects), n.Comm.Peer, by(n.Kernel))
	case n.Comm != nil:
		return fmt.Sprintf("Post(recv %s <- %s)%s", n.Comm.Buffer.alias(selects), n.Comm.Peer, by(n.Kernel))
	case n.Peer.IsZero():
		return "Post " + n.Semaphore + " -> every peer" + by(n.Kernel)
	}
	return "Post " + n.Semaphore + " -> " + n.Peer.String() + by(n.Kernel)
}

func waitText(n Wait) string {
	switch {
	case n.Comm != nil && n.Comm.Send:
		return "Wait(send)" + by(n.Kernel)
	case n.Comm != nil:
		return "Wait(recv)" + by(n.Kernel)
	case n.Peer.IsZero():
		return "Wait " + n.Semaphore + "[every peer]" + by(n.Kernel)
	}
	return "Wait " + n.Semaphore + "[" + n.Peer.String() + "]" + by(n.Kernel)
}

// by marks what emitted kernels do.
func by(kernel bool) string {
	if kernel {
		return " by kernel"
	}
	return ""
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
	case !v.Peer.IsZero():
		return name + "@" + v.Peer.String()
	case selects:
		return "Select(" + name + ", 0, " + v.Index.String() + ")"
	}
	if v.Alias != "" {
		name = v.Alias
	}
	return name + "[" + v.Index.String() + "]"
}

package hostir

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ovgen/schedule"
)

// current prints nodes in nvFuser's form: SetCurrentStream where the stream
// changes, slices by Select. A collective's signals are its backend's, not shown.
// It returns the stream that is current behind them.
func (w *printer) current(nodes []Node, indent, stream string) string {
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		if w.hidden(n) || unused(n, nodes) {
			continue
		}
		switch n := n.(type) {
		case For:
			stream = w.currentLoop(n, indent)
			continue
		case If:
			w.branch(n, indent, stream)
			continue
		}
		set := ""
		if s := first(n); s != "" && s != stream {
			stream, set = s, "SetCurrentStream("+s+");  "
		}
		parts, remark := []string{set + w.text(n, true)}, n.Source().Remark
		for i+1 < len(nodes) && together(n, nodes[i+1]) && (first(nodes[i+1]) == "" || first(nodes[i+1]) == stream) {
			i++
			if n = nodes[i]; !unused(n, nodes) {
				parts = append(parts, w.text(n, true))
			}
		}
		w.line(indent+strings.Join(parts, ";  "), remark)
	}
	return stream
}

// unused says that a node names what nothing around it uses.
func unused(n Node, around []Node) bool {
	let, ok := n.(Let)
	return ok && !used(let.Name, around)
}

// first is the stream a node is issued on, empty for one that enqueues nothing.
func first(n Node) string {
	list := Streams(n)
	if len(list) == 0 || list[0].Set == "" {
		return ""
	}
	return list[0].anonymous()
}

// hidden says that a node signals for the program's collectives.
func (w *printer) hidden(n Node) bool {
	collective := false
	Walk(w.program.Body, func(n Node) {
		if _, ok := n.(Communication); ok {
			collective = true
		}
	})
	switch n := n.(type) {
	case Post:
		return collective && n.Comm == nil
	case Wait:
		return collective && n.Comm == nil
	}
	return false
}

// currentLoop prints a loop that starts by making its steps' stream current.
func (w *printer) currentLoop(l For, indent string) string {
	head := fmt.Sprintf("%sfor %s in %s:", indent, l.Index, bounds(l.From, l.To))
	stream := ""
	Walk(l.Body, func(n Node) {
		if s := first(n); stream == "" && s != "" {
			stream = s
		}
	})
	set := "SetCurrentStream(" + stream + ")"
	if _, choice := l.Body[0].(If); len(l.Body) == 1 && !choice {
		w.line(head+"   "+set+";  "+w.text(l.Body[0], true), l.Remark)
		return stream
	}
	w.line(head, l.Remark)
	w.line(indent+"  "+set, "")
	return w.current(l.Body, indent+"  ", stream)
}

// branch prints both ways of an If, one node in the line of its condition.
func (w *printer) branch(n If, indent, stream string) {
	if len(n.Then) != 1 {
		w.choice(n, indent, func(list []Node, indent string) { w.current(list, indent, stream) })
		return
	}
	w.line(fmt.Sprintf("%sif %s == %s:   %s", indent, n.X, n.Y, w.text(n.Then[0], true)), n.Then[0].Source().Remark)
	if len(n.Else) > 0 {
		w.line(indent+"else:", "")
		w.current(n.Else, indent+"  ", stream)
	}
}

// together says whether nodes share a line in nvFuser's form: those of one kind, a
// collective and its wait, a copy and its wait, a slice and its product.
func together(a, b Node) bool {
	switch a.(type) {
	case Allocate, Let, Post:
		return reflect.TypeOf(a) == reflect.TypeOf(b)
	case Wait:
		_, set := b.(Set)
		return set || reflect.TypeOf(a) == reflect.TypeOf(b)
	case Communication:
		_, ok := b.(Wait)
		return ok
	case Select:
		switch b.(type) {
		case Select, Matmul, Linear, Gradient:
			return true
		}
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
		return n.Buffer + " = Allocate " + allocated(b.Tensor).String()
	case GetCurrentStream:
		return n.Name + " = GetCurrentStream"
	case Let:
		return n.Name + " = " + n.Value.String()
	case Select:
		return n.Name + " = " + View{Buffer: n.Of.Buffer, Index: n.Of.Index, Count: n.Of.Count}.text(true)
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
	return w.rareText(n, selects)
}

// rareText is a node that few programs have.
func (w *printer) rareText(n Node, selects bool) string {
	switch n := n.(type) {
	case Reduce:
		return n.text()
	case Gradient:
		return fmt.Sprintf("Gradient(%s%s%s, %s)", n.C.alias(false), into(n.Accumulate), n.A.alias(false), n.B.alias(false))
	case LaunchKernel:
		var parts []string
		for _, b := range n.Body {
			parts = append(parts, strings.TrimSuffix(w.text(b, selects), by(true)))
		}
		return n.Name + "{" + strings.Join(parts, ";  ") + "}"
	case Communication:
		return fmt.Sprintf("Communication(%s, team = all, in = %s, out = %s, backend = IPC)%s", n.Kind, n.In.alias(selects), n.Out.alias(selects), by(n.CopyKernel))
	}
	panic(unknown("text", n))
}

// allocated is a tensor as memory: of several splits of an axis none is the steps'.
func allocated(t schedule.Tensor) schedule.Tensor {
	t.Axes = slices.Clone(t.Axes)
	for i, a := range t.Axes {
		if len(a.Outer) > 1 {
			a.Outer = slices.Clone(a.Outer)
			for j := range a.Outer {
				a.Outer[j].Kind = schedule.Plain
			}
			t.Axes[i] = a
		}
	}
	return t
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
func span(from, to Expr) string { return compact(from) + ".." + last(to) }

// compact is an expression without blanks.
func compact(e Expr) string { return strings.ReplaceAll(e.String(), " ", "") }

// last is the value before an end: 1 before 2, D-1, D-2 before D - 1, or D before D + 1.
func last(to Expr) string {
	if to.op == 'c' {
		return Const(to.num - 1).String()
	}
	if to.op == '-' && to.y.op == 'c' {
		return fmt.Sprintf("%s-%d", to.x, to.y.num+1)
	}
	if to.op == '+' && to.y.Equal(Const(1)) {
		return compact(*to.x)
	}
	return compact(to) + "-1"
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
	case n.Comm != nil && n.Comm.Peer.IsZero():
		return "Wait" // for a collective, by its stream
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

// text is Select(C, 0, from) or, in the columns form, g[from], A@from, A or C[0..r-1].
func (v View) text(selects bool) string {
	name := v.Buffer
	if !v.Peer.IsZero() {
		name += "@" + v.Peer.String()
	} else if v.Alias != "" && !selects && !v.Index.IsZero() {
		name = v.Alias
	}
	if v.Index.IsZero() {
		return name
	}
	index := v.Index.String()
	if !v.Count.IsZero() {
		if of, ok := v.Index.Without(v.Count); ok {
			index = of.String() // one of slices of that many chunks
		} else {
			index = v.chunks()
		}
	}
	if selects && v.Peer.IsZero() {
		return "Select(" + name + ", 0, " + index + ")"
	}
	if v.Padded {
		return name + "[" + index + ", padded]"
	}
	return name + "[" + index + "]"
}

// chunks are the first and the last of a view of several: 0..r-1.
func (v View) chunks() string {
	end := Add(v.Index, v.Count)
	switch {
	case v.Index.Equal(Const(0)):
		end = v.Count
	case v.Index.op == '+' && v.Index.y.op == 'c' && v.Count.op == '-':
		if y := v.Count.y; y.Equal(*v.Index.x) { // x + c, and n - x of them
			end = Add(*v.Count.x, *v.Index.y)
		}
	}
	if end.op == '+' && end.y.op == 'c' && end.x.op == '-' && end.x.y.Equal(*end.y) {
		end = *end.x.x
	}
	return span(v.Index, end)
}

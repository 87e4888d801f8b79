package emit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// body writes the nodes of a host program as statements of issue.
type body struct {
	unit    *unit
	used    map[string]bool // variables that the statements so far mention
	aliases map[string]bool // names that Select has bound
	loops   []string        // indices of the loops around
	err     error           // the first
}

// item is what became of one node. One that only gives a name is dropped when
// nothing behind it uses that name.
type item struct {
	code    []jen.Code
	defines string
	used    map[string]bool
	apart   bool // a loop, or commented: it starts a paragraph
}

// issue is the body of issue.
func (u *unit) issue() ([]jen.Code, error) {
	b := &body{unit: u, aliases: map[string]bool{}}
	code, used := b.nodes(expand(u.program.Body))
	var locals, values []jen.Code
	for _, v := range []struct{ name, field string }{{"r", "rank"}, {"d", "ranks"}} {
		if used[v.name] {
			locals, values = append(locals, jen.Id(v.name)), append(values, jen.Id("p").Dot(v.field))
		}
	}
	var head []jen.Code
	if len(locals) > 0 {
		head = append(head, jen.List(locals...).Op(":=").List(values...))
	}
	if used[mainStream] {
		head = append(head, jen.Id(mainStream).Op(":=").Id("q").Dot("Main").Call())
	}
	slices.SortFunc(u.chunks, func(a, b chunk) int { return strings.Compare(a.field, b.field) })
	return append(head, code...), b.err
}

// nodes writes a list of nodes and returns which variables it uses of those around.
func (b *body) nodes(list []hostir.Node) ([]jen.Code, map[string]bool) {
	items := make([]item, len(list))
	outer := b.used
	for i, n := range list {
		b.used = map[string]bool{}
		items[i] = b.node(n)
		items[i].used = b.used
	}
	b.used = outer
	used := map[string]bool{}
	var kept []block
	for i := len(items) - 1; i >= 0; i-- {
		it := items[i]
		if it.defines != "" {
			if !used[it.defines] {
				continue
			}
			delete(used, it.defines)
		}
		maps.Copy(used, it.used)
		if len(it.code) > 0 {
			kept = append(kept, block{it.code, it.apart})
		}
	}
	slices.Reverse(kept)
	return paragraphs(kept), used
}

// block is the statements of one node.
type block struct {
	code  []jen.Code
	apart bool // it starts a paragraph
}

// paragraphs sets blank lines ahead of what starts a paragraph.
func paragraphs(blocks []block) []jen.Code {
	var code []jen.Code
	for i, b := range blocks {
		if b.apart && i > 0 {
			code = append(code, jen.Line())
		}
		code = append(code, b.code...)
	}
	return code
}

// node writes one node.
func (b *body) node(n hostir.Node) item {
	var it item
	_, it.apart = n.(hostir.For)
	if r := n.Source().Remark; r != "" {
		it.apart = true
		it.code = append(it.code, jen.Comment("// "+sentence(r)))
	}
	switch n := n.(type) {
	case hostir.For:
		it.code = append(it.code, b.loop(n.Index, n.From, n.To, func() []jen.Code { return b.inner(n.Body) })...)
	case hostir.If:
		branch := jen.If(b.expr(n.X).Op("==").Add(b.expr(n.Y))).Block(b.inner(n.Then)...)
		if len(n.Else) > 0 {
			branch.Else().Block(b.inner(n.Else)...)
		}
		it.code = append(it.code, branch)
	case hostir.Let:
		it.defines = n.Name
		it.code = append(it.code, jen.Id(n.Name).Op(":=").Add(b.expr(n.Value)))
	case hostir.Select:
		b.aliases[n.Name] = true
		it.defines = n.Name
		it.code = append(it.code, jen.Id(n.Name).Op(":=").Add(b.address(n.Of)))
	case hostir.Synchronize:
		it.code = append(it.code, b.synchronize(n)...)
	case hostir.Post:
		it.code = append(it.code, b.signal("Post", n.Kernel, n.Stream, n.Semaphore, n.Peer))
	case hostir.Wait:
		it.code = append(it.code, b.signal("Wait", n.Kernel, n.Stream, n.Semaphore, n.Peer))
	case hostir.Set:
		it.code = append(it.code, b.set(n))
	case hostir.Matmul:
		it.code = append(it.code, b.product("Matmul", n.Stream, n.C, n.A, n.B, nil))
	case hostir.Linear:
		it.code = append(it.code, b.product("Linear", n.Stream, n.C, n.A, n.B, &n.Bias))
	case hostir.Allocate, hostir.GetCurrentStream:
		return item{} // New and Queue.Main have done it
	default:
		b.fail("no Go is known for node %T", n)
	}
	return it
}

// inner writes a body whose names end with it.
func (b *body) inner(list []hostir.Node) []jen.Code {
	code, used := b.nodes(list)
	maps.Copy(b.used, used)
	return code
}

// loop writes a for statement; its index is no variable of what is around.
func (b *body) loop(index string, from, to hostir.Expr, inner func() []jen.Code) []jen.Code {
	b.loops = append(b.loops, index)
	code := inner()
	b.loops = b.loops[:len(b.loops)-1]
	if len(code) == 0 {
		return nil
	}
	indexed := b.used[index]
	delete(b.used, index)
	var head *jen.Statement
	switch {
	case !from.Equal(hostir.Const(0)):
		head = jen.For(jen.Id(index).Op(":=").Add(b.expr(from)), jen.Id(index).Op("<").Add(b.expr(to)), jen.Id(index).Op("++"))
	case indexed:
		head = jen.For(jen.Id(index).Op(":=").Range().Add(b.expr(to)))
	default:
		head = jen.For(jen.Range().Add(b.expr(to)))
	}
	return []jen.Code{head.Block(code...)}
}

// synchronize writes one call for each pair of streams, ranges as loops.
func (b *body) synchronize(n hostir.Synchronize) []jen.Code {
	var code []jen.Code
	for _, s := range n.Streams {
		for _, on := range n.On {
			code = append(code, b.each(s, func(s jen.Code) []jen.Code {
				return b.each(on, func(on jen.Code) []jen.Code {
					return []jen.Code{jen.Id("q").Dot("Synchronize").Call(s, on)}
				})
			})...)
		}
	}
	return code
}

// each writes code for every stream of a reference.
func (b *body) each(s hostir.StreamRef, code func(jen.Code) []jen.Code) []jen.Code {
	if s.To.IsZero() {
		return code(b.stream(s))
	}
	index := "i"
	for slices.Contains(b.loops, index) {
		index = string(index[0] + 1)
	}
	return b.loop(index, s.From, s.To, func() []jen.Code {
		return code(b.stream(hostir.StreamRef{Set: s.Set, Index: hostir.Var(index)}))
	})
}

// stream is an expression for one stream.
func (b *body) stream(s hostir.StreamRef) jen.Code {
	if s.Set == mainStream {
		b.used[mainStream] = true
		return jen.Id(mainStream)
	}
	field := jen.Id("p").Dot(unexported(s.Set))
	if !s.Index.IsZero() {
		field.Index(b.expr(s.Index))
	}
	return field
}

// signal is a post or a wait.
func (b *body) signal(call string, kernel bool, s hostir.StreamRef, semaphore string, peer hostir.Expr) jen.Code {
	args := []jen.Code{b.stream(s), jen.Id("p").Dot(unexported(semaphore))}
	if !peer.IsZero() {
		args = append(args, b.expr(peer))
	}
	return b.call(call, kernel, args)
}

// set is a copy.
func (b *body) set(n hostir.Set) jen.Code {
	return b.call("Set", n.Kernel, []jen.Code{b.stream(n.Stream), b.address(n.Dst), b.address(n.Src), b.bytes(n.Dst)})
}

// call is a call of the queue, or of the kernel that does the same.
func (b *body) call(name string, kernel bool, args []jen.Code) jen.Code {
	if kernel {
		return jen.Id("p").Dot("kernels").Dot(unexported(name)).Call(append([]jen.Code{jen.Id("q")}, args...)...)
	}
	return jen.Id("q").Dot(name).Call(args...)
}

// product is a Matmul or, with bias not nil, a Linear.
func (b *body) product(call string, s hostir.StreamRef, c, a, w hostir.View, bias *hostir.View) jen.Code {
	g, err := b.unit.gemm(c, a, w, bias)
	if err != nil {
		b.fail("%w", err)
	}
	args := []jen.Code{b.stream(s), jen.Id("p").Dot(g), b.address(c), b.address(a), b.address(w)}
	if bias != nil && bias.Buffer != "" {
		args = append(args, b.address(*bias))
	} else if bias != nil {
		args = append(args, jen.Lit(0))
	}
	return jen.Id("q").Dot(call).Call(args...)
}

// address is where a view starts.
func (b *body) address(v hostir.View) jen.Code {
	if v.Alias != "" && b.aliases[v.Alias] {
		b.used[v.Alias] = true
		return jen.Id(v.Alias)
	}
	offset := jen.Lit(0)
	if !v.Index.IsZero() && !v.Index.Equal(hostir.Const(0)) {
		offset = jen.Int64().Call(b.expr(v.Index)).Op("*").Add(b.bytes(v))
	}
	buffer := jen.Id("p").Dot(unexported(v.Buffer))
	if v.Peer.IsZero() {
		return buffer.Dot("At").Call(offset)
	}
	return buffer.Dot("Peer").Call(b.expr(v.Peer), offset)
}

// bytes is the field that holds a view's size.
func (b *body) bytes(v hostir.View) jen.Code {
	field, err := b.unit.chunk(v)
	if err != nil {
		b.fail("%w", err)
	}
	return jen.Id("p").Dot(field)
}

// expr is an index expression, in ints.
func (b *body) expr(e hostir.Expr) *jen.Statement {
	return jen.Id(e.Text(func(name string) string {
		if name == string(schedule.D) {
			name = "d"
		}
		b.used[name] = true
		return name
	}))
}

func (b *body) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

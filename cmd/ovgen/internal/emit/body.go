package emit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule/hostir"
)

// body writes the nodes of a host program as statements of issue.
type body struct {
	unit    *unit
	used    map[string]bool // variables that the statements so far use
	loops   []string        // indices of the enclosing loops
	renamed map[string]string
	err     error // the first error
}

// item is the Go of one node, with the names of the buffers that the node fills. An item that only defines a name is
// dropped if no later item uses that name.
type item struct {
	code    []jen.Code
	defines string
	value   jen.Code // of the name
	used    map[string]bool
	apart   bool // the item is a loop, or has a comment: it starts a paragraph
	fills   []string
}

// issue writes the functions of a run: issue alone, or issue and the sections that it calls.
func (u *unit) issue() ([]section, error) {
	if err := u.findProducts(); err != nil {
		return nil, err
	}
	b := &body{unit: u, renamed: rename(u.program.Body)}
	sections := u.sections(b.items(u.program.Body))
	slices.SortFunc(u.chunks, func(a, b chunk) int { return strings.Compare(a.field, b.field) })
	return sections, b.err
}

// statements writes the items, after declarations of the caller's stream and of the variables of a rank's place that
// the items use, in one line or in two.
func statements(items []item, oneLine bool) []jen.Code {
	code, used := joined(items)
	var locals, values []jen.Code
	for _, v := range places {
		if used[v.local] {
			locals, values = append(locals, jen.Id(v.local)), append(values, jen.Id("q").Dot(v.call).Call())
		}
	}
	main, stream := jen.Id(hostir.MainStream), jen.Id("q").Dot("Main").Call()
	if oneLine && used[hostir.MainStream] {
		locals, values = append(locals, main), append(values, stream)
	}
	var head []jen.Code
	if len(locals) > 0 {
		head = append(head, jen.List(locals...).Op(":=").List(values...))
	}
	if !oneLine && used[hostir.MainStream] {
		head = append(head, main.Op(":=").Add(stream))
	}
	return append(head, code...)
}

// items writes a list of nodes.
func (b *body) items(list []hostir.Node) []item {
	items := make([]item, len(list))
	outer := b.used
	for i, n := range list {
		b.used = map[string]bool{}
		items[i] = b.node(n, i > 0 && list[i-1].Source().Remark == n.Source().Remark)
		items[i].used = b.used
		hostir.Steps(list[i:i+1], func(s hostir.Step) {
			_, writes := s.Views()
			for _, v := range writes {
				items[i].fills = append(items[i].fills, v.Buffer)
			}
		})
	}
	b.used = outer
	return items
}

// joined returns the statements of items, and the outer variables that they use.
func joined(items []item) ([]jen.Code, map[string]bool) {
	items = slices.Clone(items)
	used := map[string]bool{}
	for i, it := range slices.Backward(items) {
		if it.defines != "" && !used[it.defines] {
			items[i] = item{}
			continue
		}
		delete(used, it.defines)
		maps.Copy(used, it.used)
	}
	var kept []block
	op := map[string]string{} // "=" for a name that is defined already
	for _, it := range items {
		if it.defines != "" {
			it.code = append(it.code, jen.Id(it.defines).Op(cmp.Or(op[it.defines], ":=")).Add(it.value))
			op[it.defines] = "="
		}
		if len(it.code) > 0 {
			kept = append(kept, block{it.code, it.apart})
		}
	}
	return paragraphs(kept), used
}

// block is the statements of one node.
type block struct {
	code  []jen.Code
	apart bool // the block starts a paragraph
}

// paragraphs sets a blank line before each block that starts a paragraph.
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

// node writes one node. said says that the node before it has the same remark.
func (b *body) node(n hostir.Node, said bool) item {
	var it item
	_, it.apart = n.(hostir.For)
	if r := n.Source().Remark; r != "" && !said {
		it.apart = true
		it.code = append(it.code, jen.Comment("// "+sentence(r)))
	}
	switch n := n.(type) {
	case hostir.For:
		it.code = append(it.code, b.loop(n.Index, n.From, n.To, func() []jen.Code { return b.inner(n.Body) })...)
	case hostir.If:
		it.code = append(it.code, b.branch(n)...)
	case hostir.Let:
		it.defines, it.value = b.local(n.Name), b.expr(n.Value)
	case hostir.Synchronize:
		it.code = append(it.code, b.synchronize(n)...)
	case hostir.Share:
		it.code = append(it.code, b.share(n)...)
	case hostir.Step:
		it.code = append(it.code, b.step(n)...)
	default:
		b.fail("no Go is known for node %T", n)
	}
	return it
}

// inner writes a nested body; names that it defines are not visible outside.
func (b *body) inner(list []hostir.Node) []jen.Code {
	code, used := joined(b.items(list))
	maps.Copy(b.used, used)
	return code
}

// branch writes an if statement; where only its Else has statements, the condition is negated.
func (b *body) branch(n hostir.If) []jen.Code {
	then, other := b.inner(n.Then), b.inner(n.Else)
	switch {
	case len(then)+len(other) == 0:
		return nil
	case len(then) == 0:
		return []jen.Code{jen.If(b.expr(n.X).Op("!=").Add(b.expr(n.Y))).Block(other...)}
	case len(other) == 0:
		return []jen.Code{jen.If(b.expr(n.X).Op("==").Add(b.expr(n.Y))).Block(then...)}
	}
	return []jen.Code{jen.If(b.expr(n.X).Op("==").Add(b.expr(n.Y))).Block(then...).Else().Block(other...)}
}

// loop writes a for statement; its index is not visible outside.
func (b *body) loop(index string, from, to hostir.Expr, inner func() []jen.Code) []jen.Code {
	index = b.local(index)
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
		head = jen.For(jen.Id(index).Op(":=").Add(b.expr(from)), b.below(index, to), jen.Id(index).Op("++"))
	case indexed:
		head = jen.For(jen.Id(index).Op(":=").Range().Add(b.expr(to)))
	default:
		head = jen.For(jen.Range().Add(b.expr(to)))
	}
	return []jen.Code{head.Block(code...)}
}

// below is i < d, or i <= d where d + 1 is the end.
func (b *body) below(index string, to hostir.Expr) jen.Code {
	last := hostir.Sub(to, hostir.Const(1)).Simplify()
	if _, err := last.Eval(nil); err != nil && len(last.String()) < len(to.String()) {
		return jen.Id(index).Op("<=").Add(b.expr(last))
	}
	return jen.Id(index).Op("<").Add(b.expr(to))
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
	if s.Set == hostir.MainStream {
		b.used[hostir.MainStream] = true
		return jen.Id(hostir.MainStream)
	}
	field := jen.Id("p").Dot(unexported(s.Set))
	if !s.Index.IsZero() {
		field.Index(b.expr(s.Index))
	}
	return field
}

// expr is an index expression, in ints.
func (b *body) expr(e hostir.Expr) *jen.Statement {
	return jen.Id(e.Text(func(name string) string {
		name = b.local(name)
		b.used[name] = true
		return name
	}))
}

// local is the Go name of a variable of the program.
func (b *body) local(name string) string {
	if other, ok := b.renamed[name]; ok {
		return other
	}
	for _, v := range places {
		if v.name == name {
			return v.local
		}
	}
	return constant(name)
}

// places are the variables of a rank's place: the name in programs, the name in Go, and the call of a queue or a
// builder that returns the value.
var places = []struct{ name, local, call string }{
	{"r", "r", "Rank"}, {"D", "d", "Size"}, {"H", "hosts", "Hosts"}, {"L", "each", "PerHost"}, {"h", "h", "Host"},
	{"l", "l", "Local"},
}

// rename finds other names for those variables of a program whose names issue uses for the plan or the queue.
func rename(list []hostir.Node) map[string]string {
	taken := map[string]bool{}
	hostir.Walk(list, func(n hostir.Node) {
		hostir.Exprs(n, func(_ string, e hostir.Expr) { e.Vars(func(name string) { taken[name] = true }) })
	})
	names := map[string]string{}
	for name, free := range map[string][]string{"p": {"part", "piece"}, "q": {"j", "k", "l", "t"}} {
		i := slices.IndexFunc(free, func(n string) bool { return !taken[n] })
		names[name] = free[max(i, 0)]
	}
	return names
}

func (b *body) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

package emit

import (
	"fmt"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/prove"
)

// programFile is program.go: what a caller uses, and the host program.
func (u *unit) programFile() ([]byte, error) {
	body, err := u.issue()
	if err != nil {
		return nil, err
	}
	f := u.file()
	u.identity(f)
	u.shape(f)
	u.buffers(f)
	u.planType(f)
	u.constructor(f)
	u.methods(f)
	f.Line()
	f.Add(doc("issue enqueues one run: the host program of the package comment, node by node."))
	f.Func().Params(jen.Id("p").Op("*").Id("Plan")).Id("issue").Params(jen.Id("q").Op("*").Qual(planPath, "Queue")).Block(body...)
	return render(f, path.Join(u.name, "program.go"))
}

// identity is the package's static description.
func (u *unit) identity(f *jen.File) {
	for _, name := range u.constants() {
		what := "the number of streams that the steps take in turn"
		if name == chunkCount {
			what = name + ", the number of chunks that the work is cut in"
		}
		f.Add(docf("%s is %s.", constant(name), what))
		f.Const().Id(constant(name)).Op("=").Lit(int(u.program.Constants[name]))
		f.Line()
	}
	f.Add(doc("program is what the ranks compare before they run together."))
	values := []jen.Code{
		jen.Id("Name").Op(":").Lit(u.name),
		jen.Id("Hash").Op(":").Lit(u.hash()),
		jen.Id("Proof").Op(":").Lit(u.proof()),
	}
	if ranks := u.proven(); len(ranks) > 0 {
		values = append(values, jen.Id("Ranks").Op(":").Index().Int().Values(ranks...))
	}
	if u.eager() {
		values = append(values, jen.Id("Eager").Op(":").True())
	}
	if u.puts() {
		values = append(values, jen.Id("Puts").Op(":").True())
	}
	if u.device {
		values = append(values, jen.Id("Code").Op(":").Op("&").Id("code"))
	}
	f.Var().Id("program").Op("=").Qual(planPath, "Program").Custom(lineByLine, values...)
}

// hash is of all that ranks must have alike: the host program, its proof and the device
// code. The program's text leaves a collective's own signals out; the proof's stamp does not.
func (u *unit) hash() string {
	texts := [][]byte{[]byte(hostir.Print(u.program)), []byte(u.proof())}
	if u.device {
		texts = append(texts, u.code.header.Bytes, u.code.source.Bytes)
	}
	return driver.Digest(texts...)
}

// chunkCount is what programs call the number of chunks.
const chunkCount = "S"

// constant is the Go name of what generation binds.
func constant(name string) string {
	if name == chunkCount {
		return "chunks"
	}
	return name
}

// lineByLine writes the fields of a literal in their order.
var lineByLine = jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}

// proof is the package's stamp: the mesh sizes it was proven for and the hash of
// what was proven.
func (u *unit) proof() string {
	if u.Proof == nil {
		return "unproven"
	}
	text := fmt.Sprintf("proven for D = %s, stamp %.16s", u.Proof.Ranks(), u.Proof.Stamp)
	switch {
	case !u.Proof.Replay():
		text += ", eager only: " + prove.InOrder
	case u.eager():
		text += ", eager only: it exchanges handles in the loop"
	}
	return text
}

// eager says that the program must not be captured.
func (u *unit) eager() bool {
	return u.Proof != nil && !u.Proof.Replay() || len(u.inLoop()) > 0
}

// puts says that a run writes into peers' memory and that a rank waits by stream memory
// operations: what it sees then of memory that peers wrote is not the driver's promise
// on every link.
func (u *unit) puts() bool {
	writes, waits := false, false
	hostir.Walk(expand(u.program.Body), func(n hostir.Node) {
		if to, ok := result(n); ok {
			writes = writes || !to.Peer.IsZero()
		}
	})
	hostir.Walk(unfused(u.program.Body), func(n hostir.Node) {
		if w, ok := n.(hostir.Wait); ok {
			waits = waits || !w.Kernel
		}
	})
	return writes && waits
}

// result is what a node writes.
func result(n hostir.Node) (to hostir.View, ok bool) {
	switch n := n.(type) {
	case hostir.Set:
		return n.Dst, true
	case hostir.Reduce:
		return n.Dst, true
	case hostir.Matmul:
		return n.C, true
	case hostir.Linear:
		return n.C, true
	case hostir.Gradient:
		return n.C, true
	}
	return to, false
}

// unfused are the nodes of a body but for what kernels do inside.
func unfused(body []hostir.Node) []hostir.Node {
	return hostir.Map(expand(body), func(n hostir.Node) []hostir.Node {
		if _, ok := n.(hostir.LaunchKernel); ok {
			return nil
		}
		return []hostir.Node{n}
	})
}

// proven are the mesh sizes that New accepts.
func (u *unit) proven() []jen.Code {
	var ranks []jen.Code
	if u.Proof != nil {
		for _, s := range u.Proof.Sizes {
			ranks = append(ranks, jen.Lit(s.Ranks))
		}
	}
	return ranks
}

// shape is type Shape with its Check.
func (u *unit) shape(f *jen.File) {
	symbols := u.symbols()
	f.Line()
	f.Add(docf("Shape is the size and element type of %s, the same on all ranks. %s", article(u.program.Name), u.extents(symbols)))
	f.Type().Id("Shape").StructFunc(func(g *jen.Group) {
		ids := make([]jen.Code, len(symbols))
		for i, s := range symbols {
			ids[i] = jen.Id(s)
		}
		g.List(ids...).Int()
		g.Id("Type").Qual(devicePath, "Type").Comment(strings.Join(u.typeWords(), ", "))
	})
	f.Line()
	f.Add(doc("maxExtent keeps the bytes of every tensor within an int64."))
	f.Const().Id("maxExtent").Op("=").Lit(1).Op("<<").Lit(bits.TrailingZeros(schedule.MaxExtent))
	f.Line()
	f.Add(doc("Check reports everything that keeps this many ranks from running the shape."))
	f.Func().Params(jen.Id("s").Id("Shape")).Id("Check").Params(jen.Id("ranks").Int()).Error().Block(u.check(symbols)...)
	f.Line()
	f.Add(doc("String is the shape as errors print it."))
	format := make([]string, len(symbols))
	args := make([]jen.Code, len(symbols))
	for i, s := range symbols {
		format[i], args[i] = s+" %d", jen.Id("s").Dot(s)
	}
	f.Func().Params(jen.Id("s").Id("Shape")).Id("String").Params().String().Block(
		jen.Return(jen.Qual("fmt", "Sprintf").Call(append(append([]jen.Code{jen.Lit(strings.Join(format, ", ") + ", %s")}, args...), jen.Id("s").Dot("Type"))...)))
}

// extents says of which symbols each rank has a part, and of which all.
func (u *unit) extents(symbols []string) string {
	cut := map[string]bool{}
	for _, t := range u.program.Schedule.Tensors {
		if axis, _, ok := t.Sharded(); ok {
			cut[string(t.Axes[axis].Extent)] = true
		}
	}
	var spread, own []string
	text := ""
	for _, s := range symbols {
		switch {
		case s == string(schedule.P):
			text = " P is the most rows that one rank's part may have."
		case cut[s]:
			spread = append(spread, s)
		default:
			own = append(own, s)
		}
	}
	if len(own) > 0 {
		text = fmt.Sprintf("%s %s of each rank's own tensors.", list(own), are(own)) + text
	}
	if len(spread) > 0 {
		text = fmt.Sprintf("%s %s counted over all ranks, of which each has a part. ", list(spread), are(spread)) + text
	}
	return strings.TrimSpace(text)
}

// list is "M, K and N".
func list(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// are is the verb for so many.
func are(words []string) string {
	if len(words) == 1 {
		return "is"
	}
	return "are"
}

// check is the body of Check.
func (u *unit) check(symbols []string) []jen.Code {
	extents := make([]jen.Code, len(symbols))
	for i, s := range symbols {
		extents[i] = jen.Values(jen.Lit(s), jen.Id("s").Dot(s))
	}
	errorf := func(args ...jen.Code) jen.Code {
		return jen.Id("errs").Op("=").Append(jen.Id("errs"), jen.Qual("fmt", "Errorf").Call(args...))
	}
	body := []jen.Code{
		jen.If(jen.Id("ranks").Op("<").Lit(1)).Block(jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit("no ranks: %d"), jen.Id("ranks")))),
		jen.Var().Id("errs").Index().Error(),
		jen.For(jen.List(jen.Id("_"), jen.Id("e")).Op(":=").Range().Index().Struct(jen.Id("name").String(), jen.Id("extent").Int()).Values(extents...)).Block(
			jen.If(jen.Id("e").Dot("extent").Op("<").Lit(1).Op("||").Id("e").Dot("extent").Op(">").Id("maxExtent")).Block(
				errorf(jen.Lit("%s is %d: it must lie between 1 and %d"), jen.Id("e").Dot("name"), jen.Id("e").Dot("extent"), jen.Id("maxExtent")),
			)),
	}
	if u.limited() {
		body = append(body, jen.If(jen.Id("ranks").Op(">").Id("maxRanks")).Block(
			errorf(jen.Lit("%d ranks: the kernels serve at most %d"), jen.Id("ranks"), jen.Id("maxRanks"))))
	}
	body = append(body, jen.If(jen.Id("err").Op(":=").Qual(planPath, "CheckElements").Call(u.factors(symbols)...), jen.Len(jen.Id("errs")).Op("==").Lit(0).Op("&&").Id("err").Op("!=").Nil()).Block(
		jen.Id("errs").Op("=").Append(jen.Id("errs"), jen.Id("err"))))
	for _, c := range u.program.Checks {
		by, text := u.divisor(c)
		left := by.Clone()
		if c.Times > 1 && c.By != "1" {
			left = jen.Parens(left)
		}
		if _, err := strconv.Atoi(string(c.Extent)); err == nil {
			body = append(body, jen.If(shapeExpr(c.Extent).Op("%").Add(left).Op("!=").Lit(0)).Block(
				errorf(jen.Lit(fmt.Sprintf("the extent %s is no multiple of %s%%d", c.Extent, text)), by)))
			continue
		}
		body = append(body, jen.If(shapeExpr(c.Extent).Op("%").Add(left).Op("!=").Lit(0)).Block(
			errorf(jen.Lit(fmt.Sprintf("%s is %%d: it must be a multiple of %s%%d", c.Extent, text)), shapeExpr(c.Extent), by)))
	}
	types := make([]jen.Code, len(u.program.Schedule.Types))
	for i, t := range u.program.Schedule.Types {
		types[i] = jen.Qual(devicePath, strings.ToUpper(string(t)))
	}
	return append(body,
		jen.Switch(jen.Id("s").Dot("Type")).Block(
			jen.Case(types...),
			jen.Default().Block(errorf(jen.Lit("type %v is not one of "+strings.Join(u.typeWords(), ", ")), jen.Id("s").Dot("Type"))),
		),
		jen.Return(jen.Qual("errors", "Join").Call(jen.Id("errs").Op("..."))),
	)
}

// factors are the ranks and all extents of tensors, symbols and constants.
func (u *unit) factors(symbols []string) []jen.Code {
	list := []jen.Code{jen.Id("ranks")}
	for _, s := range symbols {
		list = append(list, jen.Id("s").Dot(s))
	}
	seen := map[int]bool{}
	for _, t := range u.program.Schedule.Tensors {
		for _, a := range t.Axes {
			if n, err := strconv.Atoi(string(a.Extent)); err == nil && !seen[n] {
				seen[n] = true
				list = append(list, jen.Lit(n))
			}
		}
	}
	return list
}

// divisor is what a requirement divides by, and what an error calls it.
func (u *unit) divisor(c hostir.Divide) (by *jen.Statement, text string) {
	by = shapeExpr(c.By)
	if c.By == schedule.D {
		text = "the ranks, "
	}
	switch {
	case c.Times <= 1:
		return by, text
	case c.By == "1":
		return jen.Lit(int(c.Times)), ""
	case c.By == schedule.D:
		text = fmt.Sprintf("%d times the ranks, ", c.Times)
	}
	return jen.Lit(int(c.Times)).Op("*").Add(by), text
}

// shapeExpr is an extent as Check sees it.
func shapeExpr(e schedule.Extent) *jen.Statement {
	switch {
	case e == schedule.D:
		return jen.Id("ranks")
	case slices.Contains(symbols, e):
		return jen.Id("s").Dot(string(e))
	}
	return jen.Id(string(e))
}

// symbols that a shape can bind, in the order of its fields.
var symbols = []schedule.Extent{schedule.M, schedule.K, schedule.N, schedule.N2, schedule.N3, schedule.F, schedule.P}

// typeWords are the accepted types as texts.
func (u *unit) typeWords() []string {
	var words []string
	for _, t := range u.program.Schedule.Types {
		words = append(words, strings.ToUpper(string(t)))
	}
	return words
}

// symbols are the extents that the program's shape binds.
func (u *unit) symbols() []string {
	used := map[schedule.Extent]bool{}
	for _, t := range u.program.Schedule.Tensors {
		for _, a := range t.Axes {
			used[a.Extent] = true
			for _, s := range a.Outer {
				used[s.Most] = true
			}
		}
	}
	var list []string
	for _, e := range symbols {
		if used[e] {
			list = append(list, string(e))
		}
	}
	return list
}

// buffers is type Buffers: what the caller brings.
func (u *unit) buffers(f *jen.File) {
	f.Line()
	f.Add(doc(buffersComment + " " + u.apart()))
	f.Type().Id("Buffers").StructFunc(func(g *jen.Group) {
		for _, b := range u.owned(hostir.Caller) {
			g.Comment(fieldComment(b))
			g.Id(b.Name).Qual(devicePath, "Ptr")
		}
		if n, remark := u.counts(); n != nil {
			g.Add(docf("Counts %s.", remark))
			g.Id("Counts").Index().Int()
		}
	})
}

// apart says which buffers must overlap no other.
func (u *unit) apart() string {
	names := u.writes()
	switch n := len(names); n {
	case 0:
		return "Runs write none of it."
	case 1:
		return fmt.Sprintf("Runs write %s: Bind refuses memory for it that overlaps another buffer's.", names[0])
	default:
		return fmt.Sprintf("Runs write %s and %s: Bind refuses memory for them that overlaps another buffer's.",
			strings.Join(names[:n-1], ", "), names[n-1])
	}
}

// writes names the caller's buffers that runs write.
func (u *unit) writes() (names []string) {
	written := u.program.Written()
	for _, b := range u.owned(hostir.Caller) {
		if written[b.Name] {
			names = append(names, b.Name)
		}
	}
	return names
}

// share says which part of a tensor a rank brings, and who else reads it.
func share(b hostir.Buffer) string {
	_, _, sharded := b.Tensor.Sharded()
	var what []string
	switch {
	case b.Tensor.Root:
		what = append(what, "rank 0's")
	case sharded:
		what = append(what, "this rank's part")
	}
	if b.Shared {
		what = append(what, "which the peers read")
	}
	text := strings.Join(what, ", ")
	if b.Tensor.Root {
		text += "; zero on the others"
	}
	if text != "" {
		text = ": " + text
	}
	return text + within(b)
}

// within says which tensor lies within a buffer, and where.
func within(b hostir.Buffer) string {
	t := b.Inner.Tensor
	switch {
	case t.Name == "":
		return ""
	case b.Inner.Part:
		axis, _, _ := t.Sharded()
		rows := t.Axes[axis].Extent
		return fmt.Sprintf("; %s %s is rows r*%s/D to (r+1)*%s/D of it on rank r",
			t.Name, schedule.Tensor{Axes: t.Axes}, rows, rows)
	}
	return fmt.Sprintf("; %s %s is all of it, and a run replaces it", t.Name, schedule.Tensor{Axes: t.Axes})
}

// owned are the buffers of one owner.
func (u *unit) owned(by hostir.Owner) []hostir.Buffer {
	var list []hostir.Buffer
	for _, b := range u.program.Buffers {
		if b.Owner == by {
			list = append(list, b)
		}
	}
	return list
}

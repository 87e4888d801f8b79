package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// declarer declares the parts of a plan that are of one kind.
type declarer struct {
	name, text string
	code       func(goExpr) []jen.Code
}

// declaration writes Shape.declare, and a function for each kind of part if it is longer than a screen.
func (u *unit) declaration(f *jen.File) {
	kinds := []declarer{
		{"declareMemory", "declareMemory declares the buffers.", u.declareBuffers},
		{"declareStreams", "declareStreams declares the semaphores and streams.", func(expr goExpr) []jen.Code {
			return append(u.declareSemaphores(expr), u.declareStreams(expr)...)
		}},
		{"declareWork", "declareWork declares the products, the kernels and the caller's own work.", u.declareWork},
	}
	all := func(expr goExpr) (code []jen.Code) {
		for _, k := range kinds {
			code = append(code, k.code(expr)...)
		}
		return code
	}
	whole := u.declare(all)
	if linesOf(whole) <= mostLines {
		f.Line()
		f.Add(doc(declareText))
		f.Add(whole)
		return
	}
	f.Line()
	f.Add(doc(declareText))
	f.Add(u.declare(func(goExpr) (calls []jen.Code) {
		for _, k := range kinds {
			calls = append(calls, jen.Id("s").Dot(k.name).Call(jen.Id("b"), jen.Id("p")))
		}
		return calls
	}))
	for _, k := range kinds {
		f.Line()
		f.Add(doc(k.text))
		f.Add(jen.Func().Params(jen.Id("s").Id("Shape")).Id(k.name).Params(jen.Id("b").Op("*").Qual(planPath,
			"Builder"), jen.Id("p").Op("*").Id("Plan")).Block(u.withLocals(k.code)...))
	}
}

const declareText = "declare tells a builder what a plan of the shape consists of."

// withLocals is code, preceded by the variables that it uses: the shape's extents are locals m, k, n, and the ranks d.
func (u *unit) withLocals(code func(goExpr) []jen.Code) []jen.Code {
	used := map[string]bool{}
	list := code(func(e hostir.Expr) *jen.Statement {
		return jen.Id(e.Text(func(name string) string {
			if _, ok := u.program.Constants[name]; ok {
				return constant(name)
			}
			if name == string(schedule.P) {
				return "s.P" // p is the plan
			}
			used[name] = true
			return declared(name)
		}))
	})
	var locals, values []jen.Code
	for _, v := range places {
		if used[v.name] {
			locals, values = append(locals, jen.Id(v.local)), append(values, builderCall(v.call))
		}
	}
	for _, s := range u.symbols() {
		if used[s] {
			locals, values = append(locals, jen.Id(declared(s))), append(values, jen.Id("s").Dot(s))
		}
	}
	if len(locals) == 0 {
		return list
	}
	return append([]jen.Code{jen.List(locals...).Op(":=").List(values...)}, list...)
}

// declare is Shape.declare: it makes the plan, and declares its parts to the builder.
func (u *unit) declare(parts func(goExpr) []jen.Code) jen.Code {
	body := u.withLocals(func(expr goExpr) []jen.Code { return append(u.declareSizes(expr), parts(expr)...) })
	body = append(body, jen.Id("b").Dot("Issue").Call(jen.Id("p").Dot("issue")), jen.Return(jen.Id("p")))
	return jen.Func().Params(jen.Id("s").Id("Shape")).Id("declare").
		Params(jen.Id("b").Op("*").Qual(planPath, "Builder")).Op("*").Id("Plan").Block(body...)
}

// declared is the Go name of a variable in declare.
func declared(name string) string {
	for _, v := range places {
		if v.name == name {
			return v.local
		}
	}
	return strings.ToLower(name)
}

// declareSizes makes the plan and its sizes.
func (u *unit) declareSizes(expr goExpr) []jen.Code {
	code := []jen.Code{
		jen.Id("p").Op(":=").Op("&").Id("Plan").Values(set("Plan", builderCall("Plan"))),
	}
	for _, c := range u.chunks {
		code = append(code, setField(c.field, c.bytes(expr)))
	}
	for _, c := range u.widths {
		code = append(code, setField(c.field, jen.Int64().Call(expr(c.elements))))
	}
	for _, name := range u.program.Schedule.Numbers() {
		code = append(code, setField(unexported(name), number(name, "Value")))
	}
	code = append(code, jen.Line())
	if n, _ := u.counts(); n != nil {
		code = append(code, builderCall("Counts", n))
	}
	if e, ok := u.program.Schedule.Multiplied(); ok {
		code = append(code, builderCall("Rows", expr(extent(e))))
	}
	if e, ok := u.program.Balanced(); ok {
		code = append(code, builderCall("Balanced", expr(extent(e))))
	}
	return code
}

// declareWork declares products, collectives, kernels and calls.
func (u *unit) declareWork(expr goExpr) []jen.Code {
	code := u.declareProducts(expr)
	if u.program.Schedule.UsesNCCL() {
		code = append(code, builderCall("Collectives", jen.Id("s").Dot("Type")))
	}
	if u.launches() {
		code = append(code, setField("kernels",
			jen.Id("table").Dot("Declare").Call(jen.Id("b"), jen.Id("s").Dot("Type"))))
	}
	for _, p := range u.gemms {
		if p.tiles != "" && p.inOrder {
			code = append(code, jen.Qual(sameBitsPath, "Tiles").Call(jen.Id("b"), jen.Op("&").Id("code"),
				jen.Qual(kernelsPath, p.tiles.Ident()), planField(p.field)))
		}
	}
	for _, f := range u.fewRows() {
		code = append(code, setField(f.field,
			f.family().Dot("Declare").Call(jen.Id("b"), jen.Id("s").Dot("Type"))))
	}
	return append(code, u.declareCalls(expr)...)
}

// goExpr is the Go of an index expression.
type goExpr func(hostir.Expr) *jen.Statement

// builderCall calls a method of the plan's builder.
func builderCall(method string, args ...jen.Code) *jen.Statement {
	return jen.Id("b").Dot(method).Call(args...)
}

// planField is a field of the plan.
func planField(name string) *jen.Statement { return jen.Id("p").Dot(unexported(name)) }

// setField sets a field of the plan.
func setField(name string, value jen.Code) jen.Code { return planField(name).Op("=").Add(value) }

// sizeOf is the size in bytes of a number of elements.
func sizeOf(elements jen.Code) jen.Code { return jen.Id("s").Dot("Type").Dot("Bytes").Call(elements) }

func (u *unit) declareBuffers(expr goExpr) (code []jen.Code) {
	written := u.program.Written()
	for _, x := range u.program.Buffers {
		bytes := bytesOf(x.Elements, x.Bits(0), expr)
		value := builderCall(u.builder(x), jen.Lit(x.Name), bytes)
		if x.Lands.Flags != "" {
			value = builderCall("Packets", jen.Lit(x.Name), jen.Lit(x.Lands.Flags), bytes)
			if x.Lands.Words {
				value = builderCall("Words", value)
			}
		}
		if x.Tensor.Root {
			value = builderCall("Root", value)
		}
		if x.Owner == hostir.Caller && written[x.Name] {
			value = builderCall("Written", value)
		}
		if x.Owner == hostir.Caller && u.program.Schedule.MustAgree(x.Name) {
			value = builderCall("Alike", value)
		}
		code = append(code, setField(x.Name, value))
		if x.Counts.IsZero() {
			continue
		}
		code = append(code, u.uneven(x, planField(x.Name), bytesOf(x.Chunk, x.Bits(0), expr)))
		if !x.Room.IsZero() {
			code = append(code, builderCall("Padded", planField(x.Name), bytesOf(x.Room, x.Bits(0), expr)))
		}
	}
	return code
}

func (u *unit) declareSemaphores(expr goExpr) (code []jen.Code) {
	byBlocks := u.program.BlockSemaphores()
	for _, s := range u.semaphores() {
		value := builderCall("Semaphore", jen.Lit(s.Name))
		if !s.Count.IsZero() {
			value = builderCall("Semaphores", jen.Lit(s.Name), expr(s.Count))
		} else if byBlocks[s.Name] {
			value = builderCall("ByBlocks", value)
		}
		code = append(code, setField(s.Name, value))
	}
	return code
}

func (u *unit) declareStreams(expr goExpr) (code []jen.Code) {
	for _, s := range u.sideStreams() {
		priority := jen.Qual(driverPath, "Low")
		if s.High {
			priority = jen.Qual(driverPath, "High")
		}
		value := builderCall("Streams", jen.Lit(s.Name), expr(s.First), expr(s.Count), priority)
		switch {
		case s.Count.IsZero():
			value = builderCall("Stream", jen.Lit(s.Name), priority)
		case s.Falling:
			value = builderCall("FallingStreams", jen.Lit(s.Name), expr(s.First), expr(s.Count))
		}
		code = append(code, setField(s.Name, value))
	}
	return code
}

func (u *unit) declareProducts(expr goExpr) (code []jen.Code) {
	for _, p := range u.gemms {
		var desc []jen.Code
		if !p.parts {
			desc = append(desc, jen.Id("M").Op(":").Add(expr(p.m)))
		}
		desc = append(desc, jen.Id("K").Op(":").Add(expr(p.k)), jen.Id("N").Op(":").Add(expr(p.n)),
			jen.Id("Type").Op(":").Id("s").Dot("Type"))
		for i, name := range []string{"Of", "OfB"} {
			if typ := string([]schedule.Type{p.of, p.ofB}[i]); typ != "" {
				desc = append(desc, jen.Id(name).Op(":").Qual(driverPath, strings.ToUpper(typ)))
			}
		}
		for _, f := range []struct {
			name string
			set  bool
		}{
			{"Transposed", p.transposed}, {"TransposedA", p.transposedA},
			{"RowScales", p.rowScales}, {"BlockScales", p.inBlocks}, {"Bias", p.bias},
			{"Accumulate", p.accumulate},
			{"InOrder", p.inOrder},
		} {
			if f.set {
				desc = append(desc, jen.Id(f.name).Op(":").True())
			}
		}
		if p.function != "" {
			desc = append(desc, jen.Id("Func").Op(":").Lit(p.function))
		}
		declare := "Matmul"
		if p.parts {
			declare = "Parts"
		}
		value := jen.Qual(driverPath, "MatmulDesc").Values(desc...)
		if p.tiles == "" && !p.narrow {
			value = builderCall(declare, value)
		}
		code = append(code, setField(p.field, value))
	}
	return code
}

// builder is the Builder's method that declares a buffer.
func (u *unit) builder(x hostir.Buffer) string {
	switch {
	case x.Owner == hostir.Plan:
		return "Allocate"
	case u.inLoop()[x.Name]:
		return "InLoop"
	case x.Shared:
		return "Shared"
	}
	return "Caller"
}

// inLoop names the buffers whose handles are exchanged in the loop.
func (u *unit) inLoop() map[string]bool {
	list := map[string]bool{}
	hostir.Walk(u.program.Body, func(n hostir.Node) {
		if s, ok := n.(hostir.Share); ok {
			for _, buffer := range s.Buffers {
				list[buffer] = true
			}
		}
	})
	return list
}

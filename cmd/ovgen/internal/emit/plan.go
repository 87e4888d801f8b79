package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule/hostir"
)

// chunk is a number of elements whose size in bytes a plan keeps.
type chunk struct {
	field    string
	elements hostir.Expr
	bits     int64 // of an element; 0: elements have the plan's type
}

// bytes is the size of the elements as Go.
func (c chunk) bytes(expr goExpr) jen.Code { return bytesOf(c.elements, c.bits, expr) }

// bytesOf is the size in bytes of a number of elements, each of the given bits or, where bits is 0, of the plan's type.
func bytesOf(elements hostir.Expr, bits int64, expr goExpr) jen.Code {
	switch {
	case bits == 0:
		return sizeOf(expr(elements))
	case 8%bits == 0 && bits < 8:
		return jen.Int64().Call(expr(hostir.Div(elements, hostir.Const(8/bits)).Simplify()))
	case bits%8 != 0:
		return jen.Int64().Call(expr(hostir.Div(hostir.Mul(hostir.Const(bits), elements), hostir.Const(8)).Simplify()))
	}
	return jen.Int64().Call(expr(hostir.Mul(hostir.Const(bits/8), elements).Simplify()))
}

// planType writes type Plan. Its fields come in groups: sizes first, then the names of the host program.
func (u *unit) planType(f *jen.File) {
	text := fmt.Sprintf("Plan is %s of one shape on this rank. Its methods, which are those of plan.Plan but for "+
		"Bind, are not for several goroutines at once.", article(u.program.Name))
	switch {
	case len(u.inLoop()) > 0:
		text += " It must not be captured: the first run after a Bind exchanges handles, collectively and on the host."
	case u.eager():
		text += " It must not be captured."
	}
	f.Line()
	f.Add(doc(text))
	f.Type().Id("Plan").StructFunc(func(g *jen.Group) {
		g.Op("*").Qual(planPath, "Plan")
		g.Line()
		u.callFields(g)
		for _, c := range u.chunks {
			g.Id(c.field).Int64().Comment("bytes of " + c.elements.String() + " elements" + ofBits(c.bits))
		}
		for _, c := range u.widths {
			g.Id(c.field).Int64().Comment("columns " + c.of)
		}
		for _, name := range u.program.Schedule.Numbers() {
			g.Id(unexported(name)).Float64()
		}
		if len(u.chunks)+len(u.widths) > 0 {
			g.Line()
		}
		buffers, landings := u.memories()
		fields(g, names(buffers, func(b hostir.Buffer) string { return b.Name }), "Buffer")
		fields(g, names(landings, func(b hostir.Buffer) string { return b.Name }), "Packets")
		u.semaphoreFields(g)
		u.streamFields(g)
		u.productFields(g)
		u.kernelCallFields(g)
		if u.launches() {
			g.Id("kernels").Op("*").Qual(kernelsPath, "Set")
		}
		for _, f := range u.fewRows() {
			g.Id(f.field).Op("*").Qual(fewRowsPath, "Set").Comment(f.comment)
		}
		if u.terms {
			g.Id("terms").Index().Qual(driverPath, "Ptr").Comment("of the sum that issue enqueues")
		}
	})
}

// memories are the buffers of plain memory, and the buffers where packets land.
func (u *unit) memories() (buffers, landings []hostir.Buffer) {
	for _, b := range u.program.Buffers {
		if b.Lands.Flags != "" {
			landings = append(landings, b)
		} else {
			buffers = append(buffers, b)
		}
	}
	return buffers, landings
}

// semaphores are the program's semaphores, without the flags of packets.
func (u *unit) semaphores() []hostir.Semaphore {
	landings := u.program.Landings()
	return slices.DeleteFunc(slices.Clone(u.program.Semaphores), func(s hostir.Semaphore) bool {
		_, flags := landings[s.Name]
		return flags
	})
}

// semaphoreFields declares the semaphores.
func (u *unit) semaphoreFields(g *jen.Group) {
	var single, sets []string
	for _, s := range u.semaphores() {
		if s.Count.IsZero() {
			single = append(single, s.Name)
		} else {
			sets = append(sets, s.Name)
		}
	}
	singleAndSets(g, single, sets, "Semaphore")
}

// streamFields declares the streams except main.
func (u *unit) streamFields(g *jen.Group) {
	var single, sets []string
	for _, s := range u.sideStreams() {
		if s.Count.IsZero() {
			single = append(single, s.Name)
		} else {
			sets = append(sets, s.Name)
		}
	}
	singleAndSets(g, single, sets, "Stream")
}

// productFields declares the products: one, or one for each part.
func (u *unit) productFields(g *jen.Group) {
	var single, sets []string
	for _, p := range u.gemms {
		if p.tiles != "" || p.narrow {
			g.Id(p.field).Qual(driverPath, "MatmulDesc").Comment(map[bool]string{p.tiles != "": "of a shard",
				p.narrow: "by a weight of eight bits"}[true])
			continue
		}
		if p.parts {
			sets = append(sets, p.field)
		} else {
			single = append(single, p.field)
		}
	}
	singleAndSets(g, single, sets, "Product")
}

// singleAndSets declares the fields of single parts, and then the fields of sets.
func singleAndSets(g *jen.Group, single, sets []string, typ string) {
	fields(g, single, typ)
	for list := range slices.Chunk(sets, namesOfLine) {
		g.Add(ids(list).Index().Op("*").Qual(planPath, typ))
	}
}

func names[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = name(x)
	}
	return out
}

// namesOfLine is the number of fields of a plan that one line declares.
const namesOfLine = 6

// fields declares several fields of one type.
func fields(g *jen.Group, list []string, typ string) {
	for line := range slices.Chunk(list, namesOfLine) {
		g.Add(ids(line).Op("*").Qual(planPath, typ))
	}
}

// ids are names of fields, as a list.
func ids(list []string) *jen.Statement {
	ids := make([]jen.Code, len(list))
	for i, n := range list {
		ids[i] = jen.Id(unexported(n))
	}
	return jen.List(ids...)
}

// sideStreams are all streams except main.
func (u *unit) sideStreams() []hostir.StreamSet {
	return slices.DeleteFunc(slices.Clone(u.program.Streams),
		func(s hostir.StreamSet) bool { return s.Name == hostir.MainStream })
}

// widthField is the field of a plan for the width of heads, where it is an extent.
const widthField = "width"

// width is a field of a plan for a number of columns that is an extent.
type width struct {
	field, of string
	elements  hostir.Expr
}

// constants are the names that generation binds, sorted.
func (u *unit) constants() []string {
	var list []string
	for name := range u.program.Constants {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// constructor is func New with Shape.Memory, Bind and Shape.declare.
func (u *unit) constructor(f *jen.File) {
	program := func() jen.Code { return jen.Op("&").Id("Program") }
	f.Line()
	f.Add(doc("New makes a plan for a shape. It is collective, as plan.Make says."))
	f.Func().Id("New").Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("g").Op("*").Qual(groupPath, "Group"),
		jen.Id("s").Id("Shape")).
		Params(jen.Op("*").Id("Plan"), jen.Error()).Block(
		jen.Return(jen.Qual(planPath, "Make").Call(jen.Id("ctx"), jen.Id("g"), program(), jen.Id("s"),
			jen.Id("s").Dot("declare"))))
	f.Line()
	f.Add(doc("Memory is what a plan of the shape needs on a rank, at most: the caller's buffers, and what New takes."))
	f.Func().Params(jen.Id("s").Id("Shape")).Id("Memory").Params(jen.Id("ranks").Int()).
		Params(jen.Qual(planPath, "Memory"), jen.Error()).Block(
		jen.Return(jen.Qual(planPath, "Measure").Call(jen.Id("ranks"), program(), jen.Id("s"),
			jen.Id("s").Dot("declare"))))
	u.bind(f)
	u.declaration(f)
}

// bind is the method that takes the caller's buffers.
func (u *unit) bind(f *jen.File) {
	call, bound := "Bind", []jen.Code{jen.Id("ctx")}
	if n, _ := u.counts(); n != nil {
		call, bound = "BindCounts", append(bound, jen.Id("x").Dot("Counts"))
	}
	for _, b := range u.callers() {
		bound = append(bound, jen.Id("x").Dot(b.Name))
	}
	f.Line()
	f.Add(doc("Bind sets the memory that runs work on; plan.Plan.Bind says when it is collective."))
	f.Func().Params(jen.Id("p").Op("*").Id("Plan")).Id("Bind").Params(jen.Id("ctx").Qual("context", "Context"),
		jen.Id("x").Id("Buffers")).Error().Block(
		jen.Return(jen.Id("p").Dot("Plan").Dot(call).Call(bound...)))
}

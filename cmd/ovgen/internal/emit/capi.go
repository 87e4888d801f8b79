package emit

import (
	"fmt"
	"path"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/templates"
)

const libraryHeader = "ovgen.h"

// emitLibrary adds the C library of all schedules to the folder Options.Library: its header, and the main package that
// exports the functions of the header.
func emitLibrary(units []*unit, opt Options, files map[string][]byte) error {
	if err := checkLibrary(opt); err != nil {
		return err
	}
	header, err := templates.Render(templates.Part{Template: "c.h.tmpl", Data: libraryData(units)})
	if err != nil {
		return err
	}
	files[path.Join(opt.Library, libraryHeader)] = header.Bytes
	add := func(name string, f *jen.File) error {
		text, err := render(f, path.Join(opt.Library, name))
		files[path.Join(opt.Library, name)] = text
		return err
	}
	sim := newFile("main", runFrom)
	sim.HeaderComment("//go:build cgo")
	sim.Anon(path.Join(opt.ImportPath, hostName))
	if err := add("sim.go", sim); err != nil {
		return err
	}
	if err := add("main.go", libraryMain()); err != nil {
		return err
	}
	for _, u := range units {
		// The suffix keeps a name from meaning a test or a system.
		if err := add(u.name+"_c.go", u.exports()); err != nil {
			return err
		}
	}
	return nil
}

// libraryData is the header's data of the schedules.
func libraryData(units []*unit) templates.Library {
	data := templates.Library{From: runFrom, Elements: map[int]string{}}
	for _, name := range schedule.ElementTypes() {
		t, _ := driver.ParseType(string(name))
		data.Elements[int(t)] = strings.ToUpper(t.String())
	}
	for _, u := range units {
		s := templates.Schedule{C: u.prefix(), Title: u.program.Name, Op: u.program.Schedule.Operation(),
			Proof: u.proof(), Symbols: u.symbols()}
		for _, name := range u.program.Schedule.Numbers() {
			s.Numbers = append(s.Numbers, templates.Member{Name: name, Comment: numberIs(name)})
		}
		if u.eager() {
			s.Remarks = append(s.Remarks, "Its stream must not be captured, and ovgen_replay refuses it.")
		}
		for _, t := range u.typeWords() {
			s.Types = append(s.Types, "OVGEN_"+t)
		}
		s.Apart = u.apart()
		for _, b := range u.callers() {
			s.Buffers = append(s.Buffers, templates.Member{Name: b.Name,
				Comment: u.declared(b).String() + u.share(b) + "; " + u.held(b)})
		}
		if n, remark := u.counts(); n != nil {
			s.Counts = remark
		}
		for _, x := range u.calls() {
			s.Calls = append(s.Calls, templates.Member{Name: x.Name,
				Comment: comment(wrap(u.callText(x, "bind", "leave it NULL")))})
		}
		data.Schedules = append(data.Schedules, s)
	}
	return data
}

// libraryNames are identifiers of the library's files: a package with such a name is imported under another name.
var libraryNames = []string{"answer", "memory", "text", "g", "p", "s", "m", "b", "h", "ms", "err", "need", "ranks"}

// prefix of the package's names in C.
func (u *unit) prefix() string { return "ovgen_" + u.name }

// libraryFile starts a file of the library's main, with further C.
func libraryFile(more ...string) *jen.File {
	f := newFile("main", runFrom)
	f.ImportName(capiPath, path.Base(capiPath))
	f.CgoPreamble("#define OVGEN_TYPES_ONLY\n#include <stdlib.h>\n#include \"" + libraryHeader + "\"" +
		strings.Join(more, ""))
	return f
}

// parameter of an exported function.
type parameter struct {
	name string
	typ  *jen.Statement
}

func ctype(name string) *jen.Statement { return jen.Qual("C", name) }

func cin(name, typ string) parameter { return parameter{name, ctype(typ)} }

func pointer(name, typ string) parameter { return parameter{name, jen.Op("*").Add(ctype(typ))} }

// The parameters that most functions have.
var (
	groupIn  = cin("g", "ovgen_group")
	planIn   = cin("p", "ovgen_plan")
	streamIn = cin("s", "ovgen_stream")
	timeIn   = cin("ms", "int64_t")
)

// export writes a function of the header. It runs body, which returns an error, and returns a status and a text. The
// pointers in needed must not be NULL.
func export(f *jen.File, name string, params []parameter, needed []string, body ...jen.Code) {
	list := make([]jen.Code, 0, len(params)+1)
	for _, p := range params {
		list = append(list, jen.Id(p.name).Add(p.typ))
	}
	list = append(list, jen.Id("text").Op("**").Add(ctype("char")))
	if len(needed) > 0 {
		missing := jen.Id(needed[0]).Op("==").Nil()
		for _, n := range needed[1:] {
			missing.Op("||").Id(n).Op("==").Nil()
		}
		body = append([]jen.Code{jen.If(missing).Block(jen.Return(jen.Qual(capiPath, "ErrNull")))}, body...)
	}
	f.Line()
	f.Comment("//export " + name)
	f.Func().Id(name).Params(list...).Add(ctype("int")).Block(
		jen.Return(jen.Id("answer").Call(jen.Id("text"), jen.Func().Params().Error().Block(body...))))
}

// capi is a call of a function of the runtime's package capi.
func capi(name string, args ...jen.Code) *jen.Statement {
	return jen.Qual(capiPath, name).Call(args...)
}

func handle(name string) jen.Code            { return jen.Uintptr().Call(jen.Id(name)) }
func int64Of(name string) jen.Code           { return jen.Int64().Call(jen.Id(name)) }
func goString(x jen.Code) jen.Code           { return jen.Qual("C", "GoString").Call(x) }
func member(of, name string) *jen.Statement  { return jen.Id(of).Dot(name) }
func assign(name, typ string) *jen.Statement { return jen.Op("*").Id(name).Op("=").Add(ctype(typ)) }

// exports is the file of one schedule: its new and its bind.
func (u *unit) exports() *jen.File {
	f := libraryFile()
	own := u.importPath(u.options)
	u.importAs(f, u.options, libraryNames...)
	shape := jen.Dict{jen.Id("Type"): capi("Type", jen.Int().Call(member("s", "element")))}
	for _, s := range u.symbols() {
		shape[jen.Id(s)] = jen.Int().Call(member("s", s))
	}
	for _, name := range u.program.Schedule.Numbers() {
		shape[jen.Id(name)] = jen.Float32().Call(member("s", name))
	}
	export(f, u.prefix()+"_new",
		[]parameter{groupIn, pointer("s", "struct_"+u.prefix()+"_shape"), timeIn, pointer("p", "ovgen_plan")},
		[]string{"s", "p"},
		jen.List(jen.Id("h"), jen.Err()).Op(":=").Add(capi("New", handle("g"), int64Of("ms"), jen.Qual(own, "New"),
			jen.Qual(own, "Shape").Values(shape))),
		assign("p", "ovgen_plan").Call(jen.Id("h")),
		jen.Return(jen.Err()))
	export(f, u.prefix()+"_memory",
		[]parameter{pointer("s", "struct_"+u.prefix()+"_shape"), cin("ranks", "int"),
			pointer("m", "struct_ovgen_memory")}, []string{"s", "m"},
		jen.List(jen.Id("need"), jen.Err()).Op(":=").Qual(own, "Shape").Values(shape).
			Dot("Memory").Call(jen.Int().Call(jen.Id("ranks"))),
		jen.Op("*").Id("m").Op("=").Id("memory").Call(jen.Id("need")),
		jen.Return(jen.Err()))
	buffers, bind := jen.Dict{}, []jen.Code{}
	for _, b := range u.callers() {
		buffers[jen.Id(b.Name)] = jen.Qual(devicePath, "Ptr").Call(member("b", b.Name))
	}
	if n, _ := u.counts(); n != nil {
		buffers[jen.Id("Counts")] = jen.Id("counts")
		bind = append(bind, jen.List(jen.Id("counts"), jen.Err()).Op(":=").Add(capi("Counts",
			jen.Qual("unsafe", "Pointer").Call(member("b", "counts")), jen.Int64().Call(member("b", "counts_length")))),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())))
	}
	export(f, u.prefix()+"_bind",
		[]parameter{planIn, pointer("b", "struct_"+u.prefix()+"_buffers"), timeIn}, []string{"b"},
		append(bind, jen.Return(capi("Bind", handle("p"), int64Of("ms"),
			jen.Parens(jen.Op("*").Qual(own, "Plan")).Dot("Bind"), jen.Qual(own, "Buffers").Values(buffers))))...)
	for _, x := range u.calls() {
		set := jen.Id("p").Dot(x.Name).Op("=").Id("called").Call(jen.Lit(x.Name), jen.Id("function"), jen.Id("user"))
		export(f, u.prefix()+"_call_"+x.Name, []parameter{planIn, cin("function", "ovgen_call"),
			{"user", jen.Qual("unsafe", "Pointer")}}, nil, jen.Return(capi("Call", handle("p"),
			jen.Func().Params(jen.Id("p").Op("*").Qual(own, "Plan")).Block(set))))
	}
	return f
}

// checkLibrary refuses a folder that gen would take for the folder of a package.
func checkLibrary(opt Options) error {
	if opt.Library == ".." || strings.HasPrefix(opt.Library, "../") {
		return nil
	}
	return fmt.Errorf("its folder %s lies in that of the packages (name one beside it)", opt.Library)
}

package emit

import "github.com/dave/jennifer/jen"

// callsC is C that calls a function of the C caller.
const callsC = `

static inline int ovgen_calls(ovgen_call f, void *user, ovgen_stream s, const struct ovgen_range *to,
                              const struct ovgen_range *from, int count) {
  return f(user, s, *to, from, count);
}`

// libraryMain is the file of the functions that all schedules share.
func libraryMain() *jen.File {
	f := libraryFile(callsC)
	f.PackageComment("// Command main is the C library of all schedules: build it with -buildmode=c-shared.\n// " +
		"ovgen.h says what its functions do, who owns what and which thread may call them.")
	f.Func().Id("main").Params().Block()
	f.Line()
	f.Add(doc("answer makes a call and hands its error to C as a status and a text of the C heap."))
	f.Func().Id("answer").Params(jen.Id("text").Op("**").Add(ctype("char")),
		jen.Id("call").Func().Params().Error()).Add(ctype("int")).Block(
		jen.List(jen.Id("status"), jen.Id("message")).Op(":=").Add(capi("Do", jen.Id("call"))),
		jen.If(jen.Id("text").Op("!=").Nil()).Block(
			jen.Op("*").Id("text").Op("=").Nil(),
			jen.If(jen.Id("status").Op("!=").Qual(capiPath, "OK")).Block(
				jen.Op("*").Id("text").Op("=").Qual("C", "CString").Call(jen.Id("message")))),
		jen.Return(ctype("int").Call(jen.Id("status"))))
	f.Line()
	f.Comment("//export ovgen_free")
	f.Func().Id("ovgen_free").Params(jen.Id("text").Op("*").Add(ctype("char"))).Block(
		ctype("free").Call(jen.Qual("unsafe", "Pointer").Call(jen.Id("text"))))
	memoryOf(f)
	calledBy(f)
	exportGroup(f)
	exportPlan(f)
	exportMemory(f)
	exportPeers(f)
	return f
}

// memoryOf writes the function that makes a struct ovgen_memory.
func memoryOf(f *jen.File) {
	bytes := func(x *jen.Statement) *jen.Statement { return ctype("int64_t").Call(x) }
	need := func() *jen.Statement { return jen.Id("m") }
	f.Line()
	f.Add(doc("memory is what a plan needs, as C has it."))
	f.Func().Id("memory").Params(jen.Id("m").Qual(planPath, "Memory")).Add(ctype("struct_ovgen_memory")).Block(
		jen.Return(ctype("struct_ovgen_memory").Values(jen.Dict{
			jen.Id("caller_bytes"):    bytes(need().Dot("Caller").Call()),
			jen.Id("arena_bytes"):     bytes(need().Dot("Arena").Call()),
			jen.Id("staging_bytes"):   bytes(need().Dot("Staging")),
			jen.Id("words"):           bytes(need().Dot("Words")),
			jen.Id("packets_bytes"):   bytes(need().Dot("Packets")),
			jen.Id("workspace_bytes"): bytes(need().Dot("Workspace").Call()),
			jen.Id("tuning_bytes"):    bytes(need().Dot("Tuning")),
		})))
}

// calledBy writes the function that makes a C function a plan's Call.
func calledBy(f *jen.File) {
	f.Line()
	f.Add(doc("called is a function of C's for a call of a plan's; nil: there is none."))
	f.Func().Id("called").Params(jen.Id("name").String(), jen.Id("function").Add(ctype("ovgen_call")),
		jen.Id("user").Qual("unsafe", "Pointer")).Qual(planPath, "Call").Block(
		jen.If(jen.Id("function").Op("==").Nil()).Block(jen.Return(jen.Nil())),
		jen.Return(capi("Called", jen.Id("name"), jen.Func().Params(jen.Id("s").Uintptr(),
			jen.List(jen.Id("to"), jen.Id("from")).Qual("unsafe", "Pointer"), jen.Id("count").Int()).Int().Block(
			jen.Return(jen.Int().Call(ctype("ovgen_calls").Call(jen.Id("function"), jen.Id("user"),
				ctype("ovgen_stream").Call(jen.Id("s")),
				jen.Parens(jen.Op("*").Add(ctype("struct_ovgen_range"))).Call(jen.Id("to")),
				jen.Parens(jen.Op("*").Add(ctype("struct_ovgen_range"))).Call(jen.Id("from")),
				ctype("int").Call(jen.Id("count")))))))))
}

// exportGroup writes join, place, err, abort, watch and close.
func exportGroup(f *jen.File) {
	export(f, "ovgen_join", []parameter{pointer("c", "struct_ovgen_config"), timeIn, pointer("g", "ovgen_group")},
		[]string{"g"},
		jen.Var().Id("config").Qual(capiPath, "Config"),
		jen.If(jen.Id("c").Op("!=").Nil()).Block(
			jen.Id("config").Op("=").Qual(capiPath, "Config").Values(jen.Dict{
				jen.Id("Rank"):    jen.Int().Call(member("c", "rank")),
				jen.Id("Size"):    jen.Int().Call(member("c", "size")),
				jen.Id("Job"):     goString(member("c", "job")),
				jen.Id("Backend"): goString(member("c", "backend")),
				jen.Id("Context"): jen.Uintptr().Call(member("c", "context")),
				jen.Id("Arena"):   jen.Int64().Call(member("c", "arena_bytes")),
				jen.Id("Timeout"): jen.Int64().Call(member("c", "timeout_ms")),

				jen.Id("JoinTimeout"): jen.Int64().Call(member("c", "join_timeout_ms")),
				jen.Id("CallTimeout"): jen.Int64().Call(member("c", "call_timeout_ms")),
				jen.Id("RunTimeout"):  jen.Int64().Call(member("c", "run_timeout_ms")),
				jen.Id("Symmetric"):   jen.Int64().Call(member("c", "symmetric_bytes")),
				jen.Id("Unabortable"): member("c", "unabortable").Op("!=").Lit(0),
			}),
			jen.If(jen.Id("c").Dot("device").Op("!=").Nil()).Block(
				jen.Id("device").Op(":=").Int().Call(jen.Op("*").Id("c").Dot("device")),
				jen.Id("config").Dot("Device").Op("=").Op("&").Id("device"))),
		jen.List(jen.Id("h"), jen.Err()).Op(":=").Add(capi("Join", jen.Id("config"), int64Of("ms"))),
		assign("g", "ovgen_group").Call(jen.Id("h")),
		jen.Return(jen.Err()))
	export(f, "ovgen_place", []parameter{groupIn, pointer("rank", "int"), pointer("size", "int")},
		[]string{"rank", "size"},
		jen.List(jen.Id("r"), jen.Id("n"), jen.Err()).Op(":=").Add(capi("Place", handle("g"))),
		jen.List(jen.Op("*").Id("rank"), jen.Op("*").Id("size")).Op("=").List(ctype("int").Call(jen.Id("r")),
			ctype("int").Call(jen.Id("n"))),
		jen.Return(jen.Err()))
	export(f, "ovgen_err", []parameter{groupIn}, nil, jen.Return(capi("Err", handle("g"))))
	export(f, "ovgen_abort", []parameter{groupIn, pointer("reason", "char")}, nil,
		jen.Return(capi("Abort", handle("g"), goString(jen.Id("reason")))))
	export(f, "ovgen_watch", []parameter{groupIn, streamIn, timeIn}, nil,
		jen.Return(capi("Watch", handle("g"), handle("s"), int64Of("ms"))))
	export(f, "ovgen_close", []parameter{groupIn, timeIn}, nil, jen.Return(capi("Close", handle("g"), int64Of("ms"))))
}

// exportPlan writes the functions that the plans of all schedules share.
func exportPlan(f *jen.File) {
	export(f, "ovgen_enqueue", []parameter{planIn, streamIn}, nil,
		jen.Return(capi("Enqueue", handle("p"), handle("s"))))
	export(f, "ovgen_replay", []parameter{planIn, streamIn}, nil, jen.Return(capi("Replay", handle("p"), handle("s"))))
	export(f, "ovgen_run", []parameter{planIn, timeIn}, nil, jen.Return(capi("Run", handle("p"), int64Of("ms"))))
	export(f, "ovgen_plan_close", []parameter{planIn, timeIn}, nil,
		jen.Return(capi("ClosePlan", handle("p"), int64Of("ms"))))
	export(f, "ovgen_synchronize", []parameter{groupIn, streamIn}, nil,
		jen.Return(capi("Synchronize", handle("g"), handle("s"))))
}

// exportMemory writes the helpers for device memory.
func exportMemory(f *jen.File) {
	address := func(name string) jen.Code { return jen.Uint64().Call(jen.Id(name)) }
	host := func(name string) parameter { return parameter{name, jen.Qual("unsafe", "Pointer")} }
	bytes := cin("bytes", "int64_t")
	export(f, "ovgen_alloc", []parameter{groupIn, bytes, pointer("memory", "ovgen_ptr")}, []string{"memory"},
		jen.List(jen.Id("at"), jen.Err()).Op(":=").Add(capi("Alloc", handle("g"), int64Of("bytes"))),
		assign("memory", "ovgen_ptr").Call(jen.Id("at")),
		jen.Return(jen.Err()))
	export(f, "ovgen_free_device", []parameter{groupIn, cin("memory", "ovgen_ptr")}, nil,
		jen.Return(capi("Free", handle("g"), address("memory"))))
	export(f, "ovgen_copy_to", []parameter{groupIn, cin("to", "ovgen_ptr"), host("from"), bytes}, nil,
		jen.Return(capi("CopyTo", handle("g"), address("to"), jen.Id("from"), int64Of("bytes"))))
	export(f, "ovgen_copy_from", []parameter{groupIn, host("to"), cin("from", "ovgen_ptr"), bytes}, nil,
		jen.Return(capi("CopyFrom", handle("g"), jen.Id("to"), address("from"), int64Of("bytes"))))
	export(f, "ovgen_copy_device", []parameter{groupIn, cin("to", "ovgen_ptr"), cin("from", "ovgen_ptr"), bytes,
		streamIn}, nil,
		jen.Return(capi("Copy", handle("g"), address("to"), address("from"), int64Of("bytes"), handle("s"))))
}

// exportPeers writes the functions of memory that other ranks' kernels reach.
func exportPeers(f *jen.File) {
	export(f, "ovgen_peers", []parameter{groupIn, cin("memory", "ovgen_ptr"), cin("bytes", "int64_t"),
		cin("words", "int"), timeIn, pointer("p", "ovgen_shared"), pointer("buffers", "ovgen_ptr"),
		pointer("first", "ovgen_ptr")},
		[]string{"p", "buffers", "first"},
		jen.List(jen.Id("h"), jen.Id("b"), jen.Id("w"), jen.Err()).Op(":=").Add(capi("Peers", handle("g"),
			jen.Uint64().Call(jen.Id("memory")), int64Of("bytes"), jen.Int().Call(jen.Id("words")), int64Of("ms"))),
		assign("p", "ovgen_shared").Call(jen.Id("h")),
		jen.List(jen.Op("*").Id("buffers"), jen.Op("*").Id("first")).Op("=").List(ctype("ovgen_ptr").Call(jen.Id("b")),
			ctype("ovgen_ptr").Call(jen.Id("w"))),
		jen.Return(jen.Err()))
	export(f, "ovgen_peers_close", []parameter{cin("p", "ovgen_shared"), timeIn}, nil,
		jen.Return(capi("ClosePeers", handle("p"), int64Of("ms"))))
	export(f, "ovgen_symmetric", []parameter{groupIn, cin("bytes", "int64_t"), pointer("memory", "ovgen_ptr")},
		[]string{"memory"},
		jen.List(jen.Id("at"), jen.Err()).Op(":=").Add(capi("Symmetric", handle("g"), int64Of("bytes"))),
		assign("memory", "ovgen_ptr").Call(jen.Id("at")),
		jen.Return(jen.Err()))
}

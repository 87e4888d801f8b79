package mutate

// earlyKernels are mistakes in kernels that start before the end of the launch before, and wait for it first.
var earlyKernels = []KernelMutant{
	{File: "device/early.h", Text: "a start that does not wait", Order: true, Old: startEarly,
		New: "  next_may_start();\n}"},
	{File: "device/early.h", Text: "a start by which one thread alone waits", Order: true, Old: startEarly,
		New: "  next_may_start();\n  if (threadIdx.x == 0) {\n    last_has_ended();\n  }\n}"},
	{File: "device/early.h", Text: "a start by which the first block alone waits", Order: true, Old: startEarly,
		New: "  next_may_start();\n  if (blockIdx.x == 0) {\n    last_has_ended();\n  }\n}"},
	{File: "device/early.h", Text: "a wait behind which the compiler may move loads", Order: true,
		Old: `asm volatile("griddepcontrol.wait;" : : : "memory");`, New: `asm volatile("griddepcontrol.wait;" : : );`},
	{File: "device/early.h", Text: "the wait ahead of the leave to start", Order: true, Old: startEarly,
		New:   "  last_has_ended();\n  next_may_start();\n}",
		Right: "the next launch waits for the end of this one, whenever it starts"},
	{File: "device/early.h", Text: "no leave to start", Order: true, Old: startEarly, New: "  last_has_ended();\n}",
		Right: "the next launch starts when this one has ended"},
	{File: "packetgather.cu.tmpl", Text: "a block's turn read ahead of the wait", Order: true,
		Old: "{{if .Early}}  start_early();\n{{end}}  if (p.blocks == 0) {\n    return;\n  }\n" +
			"  const unsigned turn = p.turn[blockIdx.x];\n",
		New: "  if (p.blocks == 0) {\n    return;\n  }\n  const unsigned turn = p.turn[blockIdx.x];\n" +
			"{{if .Early}}  start_early();\n{{end}}"},
	behindWork("packets.cu.tmpl", "\n  "), behindWork("packetspread.cu.tmpl", "\n  "),
	behindWork("packetrows.cu.tmpl", "\n  "), behindWork("groups.cu.tmpl", " "),
	{File: "elements.cu.tmpl", Text: waitsLate, Order: true,
		Old: "{{template \"early\" $ -}}\n{{$.Name}}_of<{{.}}>(p); }",
		New: "{{$.Name}}_of<{{.}}>(p); {{template \"early\" $}} }"},
	{File: "push.cu.tmpl", Text: waitsLate, Order: true,
		Old: "{{template \"early\" $ -}}\n{{$.Name}}_of<{{.}}>(p); }",
		New: "{{$.Name}}_of<{{.}}>(p); {{template \"early\" $}} }"},
}

// The end of start_early, and a kernel that waits when its work is done.
const (
	startEarly = "  next_may_start();\n  last_has_ended();\n}"
	waitsLate  = "the wait behind the work"
)

// behindWork is the mistake in a template whose kernels begin in one line, behind some space.
func behindWork(file, space string) KernelMutant {
	return KernelMutant{File: file, Text: waitsLate, Order: true,
		Old: space + `{{template "early" $}}{{$.Name}}_of<{{.}}>(p);`,
		New: space + `{{$.Name}}_of<{{.}}>(p); {{template "early" $}}`}
}

package mutate

import "fmt"

// packetKernels are mistakes in kernels that send packets.
var packetKernels = []KernelMutant{
	{File: "device/packets.h", Text: "data as they are", Old: "~data[i] == 0 ? 1 : ~data[i]",
		New: "data[i] == 0 ? 1 : data[i]"},
	{File: "device/packets.h", Text: "data that are no packet go as one", Old: "~data[i] == 0 ? 1 : ~data[i]",
		New: "~data[i]"},
	{File: "device/packets.h", Text: "a packet of 1 is data", Old: "if (x[i] == 1) {", New: "if (~data[i] == 0) {"},
	{File: "device/packets.h", Text: "what lies beside without its flag", Old: "data[i] | flag", New: "data[i]"},
	{File: "device/packets.h", Text: "beside another packet", Old: "(u64 *)beside + i, data[i]",
		New: "(u64 *)beside + (i ^ 1), data[i]"},
	{File: "device/packets.h", Text: "all data lie beside", Old: "~data[i] == 0 ? 1 : ~data[i]", New: "1",
		Right: "the packet says so, and the data are taken from there"},
	{File: "device/packets.h", Text: "one packet stands for four", Order: true, Old: missing, New: "v.x == 0"},
	{File: "device/packets.h", Text: "any packet stands for four", Order: true, Old: missing,
		New: "v.x == 0 && v.y == 0 && v.z == 0 && v.w == 0"},
	{File: "device/packets.h", Text: "packets that are there already", Old: missing, New: "false"},
	{File: "device/packets.h", Text: "a packet compared as a float, whose two zeros are equal", Order: true,
		Old: missing, New: "__uint_as_float(v.x) == 0.0f || __uint_as_float(v.y) == 0.0f ||\n" +
			"         __uint_as_float(v.z) == 0.0f || __uint_as_float(v.w) == 0.0f"},
	{File: "device/packets.h", Text: "a packet compared as a float without subnormals", Order: true, Old: missing,
		New: "(v.x & 0x7f800000u) == 0 || (v.y & 0x7f800000u) == 0 || (v.z & 0x7f800000u) == 0 ||\n" +
			"         (v.w & 0x7f800000u) == 0"},
	{File: "device/packets.h", Text: "peers beyond the first ones are left out", Old: "first < n; first += at_once",
		New: "first < 1; first += at_once"},
	{File: "device/packets.h", Text: "the own rank is a peer", Old: "i < rank ? i : i + 1",
		New: "i <= rank ? i : i + 1"},
	{File: "device/packets.h", Text: "packets that stay", Old: "store_packets((unsigned *)from, nothing);",
		New: "(void)from, (void)nothing;"},
	{File: "device/packets.h", Text: "what lies beside is looked at once", Old: "} while (x < flag);",
		New: "} while (false);"},
	{File: "device/packets.h", Text: "what lies beside stays", Old: "store_beside(at, 0);", New: ""},
	{File: "device/packets.h", Text: "data from beside another packet", Old: "take_beside((u64 *)beside + i)",
		New: "take_beside((u64 *)beside + (i ^ 1))"},
	{File: "device/packets.h", Text: "a load that the compiler may move", Old: `: "l"(w) : "memory");`,
		New: `: "l"(w));`},
	{File: "device/packets.h", Text: "a store that the compiler may move", Old: `"r"(c), "r"(d) : "memory");`,
		New: `"r"(c), "r"(d));`},
	{File: "device/packets.h", Text: "a load that the compiler may make once for all", Order: true,
		Old: `asm volatile("ld.relaxed.sys.v4.u32`, New: `asm("ld.relaxed.sys.v4.u32`},
	{File: "device/packets.h", Text: "packets by a weak store", Order: true, Old: "st.relaxed.sys.v4.u32",
		New: "st.v4.u32"},
	{File: "device/packets.h", Text: "packets by a weak load", Order: true, Old: "ld.relaxed.sys.v4.u32",
		New: "ld.v4.u32"},
	{File: "device/packets.h", Text: "packets by a store for their own GPU", Order: true,
		Old: "st.relaxed.sys.v4.u32", New: "st.relaxed.gpu.v4.u32"},
	{File: "device/packets.h", Text: "packets by a load for their own GPU", Order: true,
		Old: "ld.relaxed.sys.v4.u32", New: "ld.relaxed.gpu.v4.u32"},
	{File: "device/packets.h", Text: "four packets by four stores, the last one first",
		Old: `asm volatile("st.relaxed.sys.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(to), "r"(a), "r"(b), "r"(c), ` +
			`"r"(d) : "memory");`,
		New:   storesOne("to + 3", "d") + storesOne("to + 2", "c") + storesOne("to + 1", "b") + storesOne("to", "a"),
		Right: "each packet is its own flag"},
	{File: "device/packets.h", Text: "what lies beside by a weak store", Order: true, Old: "st.relaxed.sys.u64",
		New: "st.u64"},
	{File: "device/packets.h", Text: "what lies beside by a weak load", Order: true, Old: "ld.relaxed.sys.u64",
		New: "ld.u64"},
	{File: "device/packets.h", Text: "what lies beside by two stores, the flag first", Order: true,
		Old: `asm volatile("st.relaxed.sys.u64 [%0], %1;" : : "l"(to), "l"(x) : "memory");`,
		New: storesOne("(unsigned *)to + 1", "(unsigned)(x >> 32)") + storesOne("(unsigned *)to", "(unsigned)x")},
	{File: "device/packets.h", Text: "whole loads at the end",
		Old: "(u64)tensor % 16 == 0 && at + 16 <= bytes) {\n    return", New: "(u64)tensor % 16 == 0) {\n    return"},
	{File: "device/packets.h", Text: "whole stores at the end",
		Old: "(u64)tensor % 16 == 0 && at + 16 <= bytes) {\n    *(uint4 *)",
		New: "(u64)tensor % 16 == 0) {\n    *(uint4 *)"},

	{File: "packets.cu.tmpl", Text: "rows of a sum that is not there",
		Old: "__syncthreads();  // the block's rows of the sum are there", New: ""},
	{File: "packetsum.tmpl", Text: "a block that begins inside a row",
		Old: "part_of_rows(bytes, p.rows * row_bytes)", New: "part_of_block(bytes, p.blocks)"},
	{File: "device/packets.h", Text: "a block with a row too many",
		Old: "struct Part part_of_rows(u64 bytes, u64 each)\n{",
		New: "struct Part part_of_rows(u64 bytes, u64 each)\n{\n  each += 16;"},
	{File: "packets.cu.tmpl", Text: "rows of the next block", Old: "(unsigned)part.bytes / (unsigned)row_bytes",
		New: "(unsigned)part.bytes / (unsigned)row_bytes + 1"},
	{File: "packetsum.tmpl", Text: "one half for all runs", Old: "turn == 0 ? 0 : p.half", New: "turn == 0 ? 0 : 0"},
	{File: "signals.tmpl", Text: "the half is not changed", Old: "p.turn[blockIdx.x] = 1 - turn;", New: ""},
	{File: "signals.tmpl", Text: "the half is changed by the first block alone",
		Old: "p.turn[blockIdx.x] = 1 - turn;", New: "p.turn[0] = 1 - turn;"},
	{File: "packetsum.tmpl", Text: "all blocks take the first one's half", Old: "turn = p.turn[blockIdx.x]",
		New: "turn = p.turn[0]"},
	{File: "signals.tmpl", Text: "the half is changed before all have seen it",
		Old: "  __syncthreads();\n  if (threadIdx.x == 0) {\n    p.turn",
		New: "  if (threadIdx.x == 0) {\n    p.turn"},
	{File: "packetsum.tmpl", Text: "every rank gets the first one's part", Old: ahead + ", i, bytes)",
		New: "*v = load_16<E>(p.terms[0 * k], i, bytes)"},
	{File: "packetsum.tmpl", Text: "packets for another peer", Old: "p.to[rank_after(p.rank, k + 1, p.n)]",
		New: "p.to[rank_after(p.rank, peers - k, p.n)]"},
	{File: "packetsum.tmpl", Text: "the last peer gets nothing", Old: "peers, [&](unsigned k, uint4 *v) { " + ahead,
		New: "peers - 1, [&](unsigned k, uint4 *v) { " + ahead},
	{File: "packetsum.tmpl", Text: "packets of the first peer alone", Old: "landing + peer_of(p.rank, k) * p.part;",
		New: "landing + peer_of(p.rank, 0) * p.part;"},
	{File: "packetsum.tmpl", Text: "what lies beside is sent elsewhere",
		Old: "to + p.beside + 2 * i, v", New: "to + p.beside + i, v"},
	{File: "packetsum.tmpl", Text: "packets taken back a run late, where a faster peer's may be",
		Old: "add<E>(x, " + takes + ");", New: takesLate("add<E>(x, %s)")},
	{File: "packetsum.tmpl", Text: "packets taken back before they are there",
		Old: "add<E>(x, take(", New: "look(from + i, &v);\n" +
			"          const unsigned nothing[4] = {};\n          store_packets((unsigned *)(from + i), nothing);\n" +
			"          add<E>(x, take("},
	{File: "packetsum.tmpl", Text: "the last peer is left out of the sum",
		Old: "peers, [&](unsigned k, uint4 *v) { look(", New: "peers - 1, [&](unsigned k, uint4 *v) { look("},
	{File: "packetsum.tmpl", Text: "peers are added in the order of a ring",
		Old: "look(landing + peer_of(p.rank, k)" + thenOwn + "landing + peer_of(p.rank, k)",
		New: "look(landing + rank_after(p.rank, k + 1, p.n)" + thenOwn + "landing + rank_after(p.rank, k + 1, p.n)"},
	{File: "packetsum.tmpl", Text: "the own part is sent as well", Old: "peers, [&](unsigned k, uint4 *v) { " + ahead,
		New: "peers + 1, [&](unsigned k, uint4 *v) { " + ahead},
	{File: "packetsum.tmpl", Text: "a peer's part in place of the own one",
		Old: "load_16<E>(p.terms[p.rank], i, bytes)", New: "load_16<E>(p.terms[0], i, bytes)"},
	{File: "packetsum.tmpl", Text: "a sum that begins with 1", Old: "x[k] = -0.0f;", New: "x[k] = 1.0f;"},
	{File: "packetsum.tmpl", Text: "the last rank's own part is left out", Old: "if (p.rank == peers)",
		New: "if (false)"},
	{File: "packetsum.tmpl", Text: "the own part is added first, on all ranks", Old: "if (k == p.rank)",
		New: "if (k == 0 && p.rank < peers)"},
	{File: "packetsum.tmpl", Text: "what is added is the block's first",
		Old: "load_16<E>(p.added, i, bytes);\n{{end}}    float",
		New: "load_16<E>(p.added, part.from, bytes);\n{{end}}    float"},
	{File: "packetsum.tmpl", Text: "nothing is added to what landed",
		Old: "load_16<E>(p.added, i, bytes);\n{{end}}    float", New: "uint4();\n{{end}}    float"},
	{File: "packetsum.tmpl", Text: "one unit a thread alone", Old: "end = part.from + part.bytes,",
		New: "end = part.from + (part.bytes < 16 * blockDim.x ? part.bytes : 16 * blockDim.x),"},
	{File: "packetsum.tmpl", Text: "every block does the first part", Old: "first = part.from + 16 * threadIdx.x",
		New: "first = 16 * threadIdx.x"},
	{File: "signals.tmpl", Text: "no step is noted", Old: "store_relaxed(p.step, (unsigned)p.value);", New: ""},

	{File: "push.cu.tmpl", Text: "one half for all runs", Old: "turn == 0 ? 0 : p.half", New: "turn == 0 ? 0 : 0"},
	{File: "push.cu.tmpl", Text: "words of one half for all runs", Old: "word = half + p.word", New: "word = p.word"},
	{File: "push.cu.tmpl", Text: "a post before all threads have sent",
		Old: "  __syncthreads();\n  if (peer) {\n    store_release", New: "  if (peer) {\n    store_release"},
	{File: "push.cu.tmpl", Text: "a post without release", Order: true, Old: "store_release((unsigned *)(p.to",
		New: "store_relaxed((unsigned *)(p.to"},
	{File: "push.cu.tmpl", Text: "no wait", Old: "await_word(own);", New: ""},
	{File: "push.cu.tmpl", Text: "no reset", Old: "store_relaxed(own, 0u);", New: ""},
	{File: "push.cu.tmpl", Text: "a sum before all have waited",
		Old: "  }\n  __syncthreads();\n  const char *terms", New: "  }\n  const char *terms"},
	{File: "push.cu.tmpl", Text: "every block posts for the first", Old: "blockIdx.x * p.next", New: "0 * p.next"},
	{File: "push.cu.tmpl", Text: "every rank gets the first one's part", Old: "p.terms[q] + part.from",
		New: "p.terms[0] + part.from"},
	{File: "push.cu.tmpl", Text: "the last peer gets nothing", Old: "ahead < p.n", New: "ahead + 1 < p.n"},
	{File: "push.cu.tmpl", Text: "what landed from the first rank alone", Old: "half + q * p.part;",
		New: "half + 0 * p.part;"},
	{File: "push.cu.tmpl", Text: "the own part in place of what is added",
		Old: "terms[p.n] = p.added;", New: "terms[p.n] = p.terms[p.rank];"},
	{File: "push.cu.tmpl", Text: "nothing is added to what landed", Old: "{{if .Added}} + {{.Added}}{{end}}, part",
		New: ", part"},
	{File: "packetgather.cu.tmpl", Text: "the own part stays where it is",
		Old: "store_16<halves>(p.dst + p.rank * bytes, i, bytes, own);", New: "(void)own;"},
	{File: "packetgather.cu.tmpl", Text: "all parts in one place", Old: "store_16<halves>(p.dst + q * bytes",
		New: "store_16<halves>(p.dst"},
	{File: "packetgather.cu.tmpl", Text: "what lies beside is sent elsewhere", Old: "to + p.beside + 2 * i, v",
		New: "to + p.beside + i, v"},
	{File: "packetgather.cu.tmpl", Text: "packets taken back a run late, where a faster peer's may be",
		Old: "store_16<halves>(p.dst + q * bytes, i, bytes, " + takes + ");",
		New: takesLate("store_16<halves>(p.dst + q * bytes, i, bytes, %s)")},
	{File: "packetgather.cu.tmpl", Text: "one half for all runs", Old: "turn == 0 ? 0 : p.half",
		New: "turn == 0 ? 0 : 0"},
	{File: "packetgather.cu.tmpl", Text: "packets of the first peer alone", Old: "from = landing + q * p.part",
		New: "from = landing + peer_of(p.rank, 0) * p.part"},
	{File: "packetgather.cu.tmpl", Text: "the last peer gets nothing", Old: "peers, [&](unsigned k, uint4 *v) { *v",
		New: "peers - 1, [&](unsigned k, uint4 *v) { *v"},
}

// storesOne stores one packet.
func storesOne(to, x string) string {
	return fmt.Sprintf(`asm volatile("st.relaxed.sys.b32 [%%0], %%1;" : : "l"(%s), "r"(%s) : "memory");`+"\n  ", to, x)
}

// spreadKernels are mistakes in the kernel that sends sums of packets to all.
var spreadKernels = []KernelMutant{
	{File: "packetspread.cu.tmpl", Text: "the half of the sums is not changed",
		Old: "*(unsigned *)((char *)&p.turn[blockIdx.x] + p.{{.Landing}}) = 1 - turn;", New: ""},
	{File: "packetspread.cu.tmpl", Text: "the next peer gets no sum",
		Old: "ahead = 1; ahead <= p.n", New: "ahead = 2; ahead <= p.n"},
	{File: "packetsum.tmpl", Text: "a sum is sent before the tensor is added",
		Old: "{{if eq .Added 1}}    add<E>(x, added);",
		New: "{{if eq .Added 1}}{{if .Spread}}    for (unsigned q = 0; q < p.n; q++) {\n" +
			"      if (q != p.rank) {\n" +
			"        char *const to = p.to[q] + p.{{(index .Going 0).Landing}} + half;\n" +
			"        send(to + i, to + p.beside + 2 * i, rounded<E>(x));\n      }\n    }\n{{end}}" +
			"    add<E>(x, added);"},
	{File: "packetsum.tmpl", Text: "two shots take parts back a run late, where a faster peer's may be",
		Old: "add<E>(x, " + takes + ");",
		New: "{{if .Spread}}" + takesLate("add<E>(x, %s)") + "{{else}}add<E>(x, " + takes + ");{{end}}"},
	{File: "packetsum.tmpl", Text: "two shots leave the last peer out of a sum",
		Old: "peers, [&](unsigned k, uint4 *v) { look(",
		New: "peers{{if .Spread}} - 1{{end}}, [&](unsigned k, uint4 *v) { look("},
	{File: "packetsum.tmpl", Text: "two shots use one half for all runs", Order: true, Old: "turn == 0 ? 0 : p.half",
		New: "turn == 0 ? 0 : {{if .Spread}}0{{else}}p.half{{end}}"},
	{File: "packetsum.tmpl", Text: "two shots add peers in the order of a ring",
		Old: "look(landing + peer_of(p.rank, k)" + thenOwn + "landing + peer_of(p.rank, k)",
		New: "look(landing + {{if .Spread}}rank_after(p.rank, k + 1, p.n){{else}}peer_of(p.rank, k){{end}}" + thenOwn +
			"landing + {{if .Spread}}rank_after(p.rank, k + 1, p.n){{else}}peer_of(p.rank, k){{end}}"},
	{File: "packetspread.cu.tmpl", Text: "sums sent to the half of another run",
		Old: "p.to[q] + p.{{.Landing}} + half;", New: "p.to[q] + p.{{.Landing}} + (p.half - half);"},
	{File: "packetspread.cu.tmpl", Text: "sums taken back a run late, where a faster peer's may be",
		Old: "v = " + takes + ";", New: takesLate("v = %s")},
	{File: "packetspread.cu.tmpl", Text: "sums that landed in the run before",
		Old: "from = landing + p.{{.Landing}} + q", New: "from = p.from + (p.half - half) + p.{{.Landing}} + q"},
	{File: "packetspread.cu.tmpl", Text: "sums land where parts do",
		Old: "p.to[q] + p.{{.Landing}} + half;", New: "p.to[q] + half;"},
	{File: "packetspread.cu.tmpl", Text: "what lies beside a sum is sent elsewhere",
		Old: "to + i, to + p.beside + 2 * i, v);\n      }", New: "to + i, to + p.beside + i, v);\n      }"},
	{File: "packetspread.cu.tmpl", Text: "the own sum stays out of the result",
		Old: "} else {", New: "} else if (false) {"},
	{File: "packetspread.cu.tmpl", Text: "all sums in one place",
		Old: "p.{{.Field}} + q * bytes - p.rank * bytes,", New: "p.{{.Field}},"},
	{File: "packetspread.cu.tmpl", Text: "rows of a sum that is not there",
		Old: "__syncthreads();  // the block's rows of the sum are there", New: ""},
	{File: "packetspread.cu.tmpl", Text: "what is made is sent before it is there",
		Old: "__syncthreads();  // and what is made of them", New: ""},
	{File: "packetspread.cu.tmpl", Text: "rows of the next block",
		Old: "(unsigned)(end - first + 16 * threadIdx.x) / (unsigned)row_bytes",
		New: "(unsigned)(end - first + 16 * threadIdx.x) / (unsigned)row_bytes + 1"},
	{File: "packetspread.cu.tmpl", Text: "the sum goes in place of what is made of it",
		Old: "load_16<E>(p.{{.Field}}, i, bytes)", New: "load_16<E>(p.x, i, bytes)"},
	{File: "packetspread.cu.tmpl", Text: "the last result that is made goes to nobody",
		Old: "{{range .MadeSpread}}", New: "{{range slice .MadeSpread 1}}"},
	{File: "packetspread.cu.tmpl", Text: "all results from where the first one lands",
		Old: "from = landing + p.{{.Landing}}", New: "from = landing + p.{{(index $.Going 0).Landing}}"},
}

// Texts of the kernels: which packets are not there, a peer's own part, and what lies between the two places of the
// packets of a peer.
const (
	missing = "v.x == 0 || v.y == 0 || v.z == 0 || v.w == 0"
	ahead   = "*v = load_16<E>(p.terms[rank_after(p.rank, k + 1, p.n)]"
	thenOwn = " * p.part + i, v); },\n        [&](unsigned k, uint4 v) {\n          if (k == p.rank) {\n" +
		"            add<E>(x, own);\n          }\n          char *const from = "
	takes = "take(from + i, from + p.beside + 2 * i, v)"
)

// takesLate takes packets, in a statement that then has them, and those of the half of the run before in their place: a
// peer that is a run ahead sends there already.
func takesLate(then string) string {
	return "while (" + missing + ") {\n            look(from + i, &v);\n          }\n" +
		"          const unsigned nothing[4] = {}, packets[4] = {v.x, v.y, v.z, v.w};\n" +
		"          store_packets((unsigned *)(from + p.half - 2 * half + i), nothing);\n" +
		"          const uint4 late = " + takes + ";\n" +
		"          store_packets((unsigned *)(from + i), packets);\n          " + fmt.Sprintf(then, "late") + ";"
}

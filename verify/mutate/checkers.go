package mutate

import "slices"

// ofCheckers lists bugs in prover and explorer, and in what they take for granted, which programs of the catalogue do
// not show.
var ofCheckers = slices.Concat(within("verify/prove", []CodeMutant{
	{File: "verify/prove/stamp.go", Text: "a stamp without the operations", Tests: "TestStamp",
		Old: "ops.Lines(list))", New: "ops.Lines(list[:0]))"},
	{File: "verify/prove/flat.go", Text: "parts end with a row at every shape", Tests: "TestFlatWithRow",
		Old: "chunk%row == 0", New: "chunk%row >= 0"},
	{File: "verify/prove/stamp.go", Text: "a stamp without the form of landings", Tests: "TestStamp",
		Old: `"%v %v\n", m.Halves, m.Lands)`, New: `"%v\n", m.Halves)`},
	{File: "verify/prove/collective.go", Text: "a rank gets less than the other sends", Tests: "TestExchanges",
		Old: "case sent != got:", New: "case sent < got:"},
}), within("verify/explore", []CodeMutant{
	{File: "verify/prove/collective.go", Text: "a rank gets less than the other sends", Tests: "TestCollectives",
		Old: "case sent != got:", New: "case sent < got:"},
	{File: "verify/explore/collective.go", Text: "a rank gets less than the other sends", Tests: "TestCollectives",
		Old: "from && sent != got", New: "from && sent < got"},
	{File: "verify/explore/search.go", Text: "one order alone, of two streams",
		Tests: "TestHistory/stream",
		Old:   "range enabled {\n			next", New: "range enabled[:1] {\n			next"},
	{File: "verify/explore/search.go", Text: "one order alone, of a post and a reset", Tests: "TestHistory/reset",
		Old: "range enabled {\n			next", New: "range enabled[:1] {\n			next"},
	{File: "verify/explore/search.go", Text: "one order alone, of a copy and its caller", Tests: "TestHistory/reuse",
		Old: "range enabled {\n			next", New: "range enabled[:1] {\n			next"},
	{File: "verify/explore/build.go", Text: "packets tell of everything", Tests: "TestPackets",
		Old: "	m.checkPackets()\n", New: ""},
	{File: "verify/prove/prove.go", Text: "packets tell of everything", Tests: "TestPackets",
		Old: "	(*proof).landings,\n", New: ""},
	{File: "verify/prove/graph.go", Text: "what is read ahead is read in its place", Tests: "TestAhead",
		Old: "append(after, b.ahead(n, o)...)...", New: "after..."},
	{File: "verify/explore/rank.go", Text: "what is read ahead is read in its place", Tests: "TestAhead",
		Old: "		if u.Ahead {\n", New: "		if false {\n"},
	{File: "verify/ops/packets.go", Text: "packets that stay", Tests: "TestPackets",
		Old: "		u.add(take)\n", New: ""},
	{File: "verify/prove/contents.go", Text: "packets that are there after they were taken", Tests: "TestPackets",
		Old: "*c = cell{stale, n}", New: "c.by = n"},
}), within("verify/sim", []CodeMutant{
	{File: "verify/sim/collective.go", Text: "a rank gets as much as it sends", Tests: "TestPartsExchanged",
		Old: "o.together.Bytes + o.together.More)", New: "o.together.Bytes)"},
}), within("verify/ops", []CodeMutant{
	{File: "verify/ops/form.go", Text: "parts in any order", Tests: "TestMalformed",
		Old: "ended || o.Part != last && o.Part != last+1", New: "false"},
	{File: "verify/ops/form.go", Text: "operations of two kernels in a launch", Tests: "TestMalformed",
		Old: "o.Kernel != first.Kernel, ", New: ""},
	{File: "verify/ops/form.go", Text: "what is read ahead anywhere", Tests: "TestMalformed",
		Old: "u.Ahead && (u.Write || !o.Early)", New: "false"},
	{File: "verify/ops/form.go", Text: "results anywhere", Tests: "TestMalformed",
		Old: "slices.ContainsFunc(writes, func(u Use) bool { return !u.Write })", New: "false"},
}), within("verify/touch", []CodeMutant{
	{File: "verify/touch/early.go", Text: "every early kernel may read before it waits", Tests: "TestAwaits",
		Old: "does == reads && !k.Ahead", New: "false"},
	{File: "verify/touch/early.go", Text: "an early kernel may write before it waits", Tests: "TestAwaits",
		Old: "does == writes || ", New: ""},
	{File: "verify/touch/early.go", Text: "the wait of the kernel behind is taken for its own", Tests: "TestAwaits",
		Old: "	body, _, _ = bytes.Cut(body, []byte(\".entry \"))\n", New: ""},
}), within("verify/sim", []CodeMutant{
	{File: "verify/sim/kernel.go", Text: "no early kernel is looked at", Tests: "TestEarlyKernel",
		Old: "errors.Join(err, touch.Awaits(m.code, k))", New: "err"},
}), within("verify/record", []CodeMutant{
	{File: "verify/record/driver.go", Text: "no early kernel is looked at", Tests: "TestEarlyKernel",
		Old: "errors.Join(err, touch.Awaits(code, &k))", New: "err"},
}))

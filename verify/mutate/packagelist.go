package mutate

// Edits that several mutants make. A plan whose steps have numbers is past New's dry run.
const (
	waitRead = "	q.Wait(p.copy, p.read)\n"
	copyOne  = "q.Set(p.copy, p.agathered.At(int64(peer)*p.chunkA), p.a.Peer(peer, 0), p.chunkA)"
	callKey  = "q.Call(main, \"Attention\", p.Attention, p.o.All(), p.query.All(), p.key.All()"
	planType = "	*plan.Plan\n"
	ranksTo8 = "[]int{1, 2, 3, 4, 5, 6, 7, 8}"
	inPlan   = "p := &Plan{Plan: b.Plan()"
)

// onRanks sets a word of a peer's staging by a call that the driver does not record, in
// groups of a size.
func onRanks(d string) string {
	return `	if len(p.Steps()) > 0 && d == ` + d + ` {
		for s, name := range p.Streams() {
			if name == "copy" {
				_ = p.Group().Driver().MemsetD32Async(p.agathered.Peer((r+1)%d, 0), 0, 1, s)
			}
		}
	}
	q.Post(p.copy, p.read)
`
}

// Packages are mistakes in emitted Go and in launches of kernels: in some runs, some types, some
// sizes of groups or of tensors only, in the geometry of launches, and in a package's description of
// itself.
var Packages = []PackageMutant{
	// Some runs.
	{Package: "allgatherlinear", File: "program.go", Text: "no wait in every twelfth run", Edits: []Edit{
		{planType, planType + "\tissued int\n"},
		{waitRead, "	if p.issued++; p.issued%12 != 0 {\n		q.Wait(p.copy, p.read)\n	}\n"}}},
	{Package: "allgatherlinear", File: "program.go", Text: "no wait but in the first run", Edits: []Edit{
		{planType, planType + "\tissued bool\n"},
		{waitRead, "	if !p.issued {\n		q.Wait(p.copy, p.read)\n	}\n	p.issued = len(p.Steps()) > 0\n"}}},

	// Some shapes.
	{Package: "allgatherlinear", File: "program.go", Text: "copies of half a chunk and 64 KiB at most", Edits: []Edit{
		{copyOne, "q.Set(p.copy, p.agathered.At(int64(peer)*p.chunkA), p.a.Peer(peer, 0), min(p.chunkA, " +
			"p.chunkA/2+64<<10))"}}},
	{Package: "allgatherlinear", File: "program.go", Text: "offsets of 32 bits", Edits: []Edit{
		{"q.Linear(p.work[i], p.gemm, p.c.At(int64(peer)*p.chunkC)",
			"q.Linear(p.work[i], p.gemm, p.c.At(int64(int32(peer)*int32(p.chunkC)))"}}},
	{Package: "allgatherlinear", File: "program.go", Text: "large chunks not waited for", Edits: []Edit{
		{"q.Synchronize(p.work[i], p.copy)",
			"if p.chunkA < 1<<30 {\n			q.Synchronize(p.work[i], p.copy)\n		}"}}},
	{Package: "allgatherlinearfp8", File: "program.go", Text: "the scales of rank 0", Edits: []Edit{
		{"ScaleA: p.scaleAgathered.At(int64(peer) * p.chunkScaleA)", "ScaleA: p.scaleAgathered.At(0)"}}},
	{Package: "allgatherlinearfp8", File: "program.go", Text: "half of the scales", Edits: []Edit{
		{"p.scaleA.Peer(peer, 0), p.chunkScaleA)", "p.scaleA.Peer(peer, 0), p.chunkScaleA/2)"}}},
	{Package: "allgatherlinearfp8", File: "program.go", Text: "scales from the run before", Edits: []Edit{
		{"		q.Set(p.copy, p.scaleAgathered.At(int64(peer)*p.chunkScaleA), p.scaleA.Peer(peer, 0), " +
			"p.chunkScaleA)\n", ""},
		{"	// A may be overwritten afterwards.\n", "	for i := 1; i < d; i++ {\n		peer := (r + i) % d\n" +
			"		q.Set(p.copy, p.scaleAgathered.At(int64(peer)*p.chunkScaleA), p.scaleA.Peer(peer, 0), " +
			"p.chunkScaleA)\n	}\n"}}},
	{Package: "allgatherlinearfp8", File: "program.go", Text: "one scale for all rows", Edits: []Edit{
		{"\n		RowScales: true, Bias: true", "\n		Bias: true"}}},
	{Package: "allgatherlinearquantised", File: "program.go", Text: "scales of the rank behind", Edits: []Edit{
		{"p.scales.Peer(peer, 0), p.chunkScales)", "p.scales.Peer((peer+1)%d, 0), p.chunkScales)"}}},
	{Package: "allgatherlinearquantised", File: "program.go", Text: "scales that travel before they are made",
		Edits: []Edit{{"	q.Post(main, p.ready)\n", ""}, {"	p.kernels.Function(\"quantise\")",
			"	q.Post(main, p.ready)\n	p.kernels.Function(\"quantise\")"}}},
	{Package: "invariantmlp", File: "program.go", Text: "rows whose bits change with their number", Edits: []Edit{
		{"Transposed: true, InOrder: true})", "Transposed: true})"}}},
	{Package: "invariantmlptiles", File: "kernels.go", Text: "a gather in any order", Edits: []Edit{
		{"Columns: 112, Cluster: 2}, InOrder: true}", "Columns: 112, Cluster: 2}}"}}},
	{Package: "allgatherquantised", File: "program.go", Text: "scales of the next row", Edits: []Edit{
		{"p.scales.Peer(peer, 0))", "p.scales.Peer(peer, 4))"}}},
	{Package: "allgatherquantised", File: "program.go", Text: "codes that are read before they are made", Edits: []Edit{
		{"	q.Post(main, p.ready)\n", ""}, {"	p.kernels.Function(\"quantise\")",
			"	q.Post(main, p.ready)\n	p.kernels.Function(\"quantise\")"}}},
	{Package: "allgatherquantisedrows", File: "program.go", Text: "scales of the next row", Edits: []Edit{
		{"		p.scalesCgathered.At(0)).Making(", "		p.scalesCgathered.At(4)).Making("}}},
	{Package: "allgatherquantisedrows", File: "program.go", Text: "scales land where codes do", Edits: []Edit{
		{"Landing: p.scaleslanded,", "Landing: p.landed,"}}},
	{Package: "allgatherquantisedrows", File: "program.go", Text: "scales of as many bytes as codes", Edits: []Edit{
		{"Bytes: p.bytesScales}", "Bytes: p.bytesCodes}"}}},
	{Package: "allgatherquantisedrows", File: "program.go", Text: "codes that are not widened", Edits: []Edit{
		{", Finished: p.c.At(0)}", "}"}}},
	{Package: "allreducenormquantised", File: "program.go", Text: "scales of the next row", Edits: []Edit{
		{"		p.scales.At(0)).Packets(", "		p.scales.At(4)).Packets("}}},
	{Package: "allgatherfp4", File: "program.go", Text: "scales of the next block", Edits: []Edit{
		{"p.scales.Peer(peer, 0))", "p.scales.Peer(peer, 1))"}}},
	{Package: "allgatherfp4", File: "program.go", Text: "scales of the rank behind", Edits: []Edit{
		{"p.scales.Peer(peer, 0))", "p.scales.Peer((peer+1)%d, 0))"}}},
	{Package: "allgatherfp4", File: "program.go", Text: "codes that are read before they are made", Edits: []Edit{
		{"	q.Post(main, p.ready)\n", ""}, {"	p.kernels.Function(\"quantisefp4\")",
			"	q.Post(main, p.ready)\n	p.kernels.Function(\"quantisefp4\")"}}},
	{Package: "allgatherfp4", File: "program.go", Text: "blocks of 32", Edits: []Edit{
		{"p.kernels.Function(\"quantisefp4\").Count(16)", "p.kernels.Function(\"quantisefp4\").Count(32)"}}},
	{Package: "allgathervfp4", File: "program.go", Text: "a byte for each code", Edits: []Edit{
		{"b.Uneven(p.codes, int64(n/2),", "b.Uneven(p.codes, int64(n),"}}},
	{Package: "allgathervfp4", File: "program.go", Text: "the own rank's scales", Edits: []Edit{
		{"p.scales.Peer(peer, 0))", "p.scales.At(0))"}}},
	{Package: "allgathermxfp4", File: "program.go", Text: "scales of the next block", Edits: []Edit{
		{"p.scales.Peer(peer, 0))", "p.scales.Peer(peer, 1))"}}},
	{Package: "allgathermxfp4", File: "program.go", Text: "blocks of 16", Edits: []Edit{
		{"p.kernels.Function(\"quantisemxfp4\").Count(32)", "p.kernels.Function(\"quantisemxfp4\").Count(16)"}}},
	{Package: "allgathermxfp8", File: "program.go", Text: "codes that are read before they are made", Edits: []Edit{
		{"	q.Post(main, p.ready)\n", ""}, {"	p.kernels.Function(\"quantise\")",
			"	q.Post(main, p.ready)\n	p.kernels.Function(\"quantise\")"}}},
	{Package: "allgatherblocksfp8", File: "program.go", Text: "scales of the next block", Edits: []Edit{
		{"p.scales.Peer(peer, 0))", "p.scales.Peer(peer, 4))"}}},
	{Package: "allgatherlinearblocksfp8", File: "program.go", Text: "scales of the rank behind", Edits: []Edit{
		{"p.scales.Peer(peer, 0), p.chunkScales)", "p.scales.Peer((peer+1)%d, 0), p.chunkScales)"}}},
	{Package: "allgatherlinearblocksfp8", File: "program.go", Text: "blocks of 256", Edits: []Edit{
		{"Count(128)", "Count(256)"}}},
	{Package: "allgatherlinearblocksfp8", File: "program.go", Text: "scales of rows", Edits: []Edit{
		{"BlockScales: true", "RowScales: true"}}},
	{Package: "linearreducescattere5m2", File: "program.go", Text: "codes multiplied as those of another type",
		Edits: []Edit{{"Of: driver.E5M2, OfB: driver.E4M3", "Of: driver.E4M3"}}},
	{Package: "linearreducescatterblocksfp8", File: "program.go", Text: "scales of four rows on", Edits: []Edit{
		{"ScaleA: p.scales.At(0)", "ScaleA: p.scales.At(16)"}}},
	{Package: "linearallreducequantised", File: "program.go", Text: "scales of four rows on", Edits: []Edit{
		{"ScaleA: p.scales.At(0)", "ScaleA: p.scales.At(16)"}}},
	{Package: "allgathervquantised", File: "program.go", Text: "scales of the rank behind", Edits: []Edit{
		{"p.scales.Peer(peer, 0))", "p.scales.Peer((peer+1)%d, 0))"}}},
	{Package: "allgathervquantised", File: "program.go", Text: "rows that are read ahead of their word", Edits: []Edit{
		{"q.Wait(p.work[i], p.ready, peer)", "q.Wait(main, p.ready, peer)"}}},
	{Package: "allgathervquantised", File: "program.go", Text: "as many rows made as the own rank has", Edits: []Edit{
		{"p.c.Part(peer), p.c.Size(peer),", "p.c.Part(peer), p.c.Size(r),"}}},
	{Package: "reducescatterquantised", File: "program.go", Text: "scales of the rows behind", Edits: []Edit{
		{"int64(r)*p.chunkScales), p.scales.At(int64(peer)*p.chunkScales),",
			"int64(r)*p.chunkScales), p.scales.At(int64((peer+1)%d)*p.chunkScales),"}}},
	{Package: "reducescatterquantised", File: "program.go", Text: "codes that leave before they are made",
		Edits: []Edit{{"		q.Synchronize(p.put, main)\n		q.Set(p.put, p.scalesslots",
			"		q.Set(p.put, p.scalesslots"}}},
	{Package: "reducescatterquantised", File: "program.go", Text: "the own term by the scales of rank 0's",
		Edits: []Edit{{"p.terms = append(p.terms, p.scales.At(int64(r)*p.chunkScales))",
			"p.terms = append(p.terms, p.scales.At(0))"}}},
	{Package: "reducescattervquantised", File: "program.go", Text: "a scale for each half of a row", Edits: []Edit{
		{"p.kernels.Scaled(p.columnsCodes)", "p.kernels.Scaled(p.columnsCodes / 2)"}}},
	{Package: "linearreducescatterquantised", File: "program.go", Text: "codes that leave before they are made",
		Edits: []Edit{{"		q.Synchronize(p.puts[i], p.work[i])\n", ""}}},
	{Package: "allreducequantised", File: "program.go", Text: "sums that are read ahead of their word", Edits: []Edit{
		{"q.Wait(p.copy, p.sumsready, peer)", "q.Wait(main, p.sumsready, peer)"}}},
	{Package: "alltoallfp8", File: "program.go", Text: "scales for the rank behind", Edits: []Edit{
		{"p.scaleA.Peer(peer, int64(r)*p.chunkScaleA)", "p.scaleA.Peer(peer, int64((r+1)%d)*p.chunkScaleA)"}}},
	{Package: "alltoallvfp8", File: "program.go", Text: "scales behind the word that lets them be overwritten",
		Edits: []Edit{{"		q.Set(p.copy, p.scaleC.Part(peer), p.scaleA.PeerPart(peer, r), " +
			"p.scaleC.Size(peer))\n", ""},
			{"	q.Post(p.copy, p.read)\n", "	q.Post(p.copy, p.read)\n	for i := 1; i < d; i++ {\n" +
				"		peer := (r + i) % d\n		q.Set(p.copy, p.scaleC.Part(peer), " +
				"p.scaleA.PeerPart(peer, r), p.scaleC.Size(peer))\n	}\n"}}},
	{Package: "allgatherlinear", File: "program.go", Text: "one less in depth",
		Edits: []Edit{{"K: k, N: n", "K: k - 1, N: n"}}},
	{Package: "linearreducescatter", File: launching, Text: "sums of one element less from 1 MiB on", Edits: []Edit{
		{"uint64(bytes/unit)", "uint64(bytes/unit-min(bytes>>20, 1))"}}},
	{Package: "alltoallv", File: "program.go", Text: "parts of no rows copied whole", Edits: []Edit{
		{"p.a.PeerPart(peer, r), p.c.Size(peer))", "p.a.PeerPart(peer, r), max(p.c.Size(peer), 4))"}}},

	{Package: "alltoallcolumns", File: "program.go", Text: "rows without the columns between", Edits: []Edit{
		{"int64(r)*p.partA), Pitch: p.rowA}, p.partA, p.chunkA)\n	}",
			"int64(r)*p.partA), Pitch: p.partA}, p.partA, p.chunkA)\n	}"}}},
	{Package: "alltoallcolumns", File: "program.go", Text: "one row less", Edits: []Edit{
		{"Pitch: p.rowA}, p.partA, p.chunkA)\n	}", "Pitch: p.rowA}, p.partA, p.chunkA-p.partA)\n	}"}}},
	{Package: "alltoallcolumns", File: "program.go", Text: "rows for columns", Edits: []Edit{
		{"plan.Rows{At: p.a.Peer(peer, int64(r)*p.partA)", "plan.Rows{At: p.a.Peer(peer, int64(r)*p.chunkA)"}}},

	// Calls of the caller's own work.
	{Package: "llamalayer", File: "program.go", Text: "a call with its operands the other way round", Edits: []Edit{
		{"p.query.All(), p.key.All()", "p.key.All(), p.query.All()"}}},
	{Package: "llamalayer", File: "program.go", Text: "a call of less than there is", Edits: []Edit{
		{callKey + ", p.value.All())\n", callKey + ", plan.Range{At: p.value.At(0), Bytes: p.chunkKey})\n"}}},
	{Package: "llamalayer", File: "program.go", Text: "a call on the stream of sums", Edits: []Edit{
		{"q.Call(main", "q.Call(p.put"}}},
	{Package: "llamalayer", File: "program.go", Text: "heads of half as many columns", Edits: []Edit{
		{"p.width = int64(w)", "p.width = int64(w / 2)"}}},
	{Package: "normedheads", File: "program.go", Text: "an epsilon of another model", Edits: []Edit{
		{"numbers.Epsilon(s.Epsilon).Value()", "numbers.Epsilon(s.Epsilon).Value() / 10"}}},
	{Package: "llamalayer", File: "program.go", Text: "no call", Edits: []Edit{
		{"	" + callKey + ", p.value.All())\n", ""}}},

	// Some types.
	{Package: "allgatherlinear", File: "program.go", Text: "no wait in bf16", Edits: []Edit{
		{planType, planType + "\tnarrow bool\n"},
		{inPlan, "p := &Plan{narrow: s.Type == device.BF16, Plan: b.Plan()"},
		{waitRead, "	if !p.narrow {\n		q.Wait(p.copy, p.read)\n	}\n"}}},
	{Package: "allgatherlinear", File: "program.go", Text: "products of fp32",
		Edits: []Edit{{"Type: s.Type, Transposed", "Type: driver.FP32, Transposed"}}},
	{Package: "linearreducescatter", File: launching, Text: "sums take bf16 for fp16", Edits: []Edit{
		{"	s := &Set{element: typ}\n", "	if typ == driver.FP16 {\n		typ = driver.BF16\n	}\n	s := " +
			"&Set{element: typ}\n"}}},

	// Some sizes of groups.
	{Package: "allgatherlinear", File: "program.go", Text: "more ranks than were proven",
		Edits: []Edit{{ranksTo8, "[]int{1, 2, 3, 4, 5, 6, 7, 8, 9}"}}},
	{Package: "allgatherlinear", File: "program.go", Text: "any number of ranks", Edits: []Edit{{ranksTo8, "nil"}}},
	{Package: "allgatherlinear", File: "program.go", Text: "no wait where more ranks run than were proven",
		Edits: []Edit{
			{ranksTo8, "[]int{1, 2, 3, 4, 5, 6, 7, 8, 9}"},
			{waitRead, "	if d <= 8 {\n		q.Wait(p.copy, p.read)\n	}\n"}}},
	{Package: "allgatherlinear", File: "program.go", Text: "a peer's staging set on 2 ranks",
		Edits: []Edit{{"	q.Post(p.copy, p.read)\n", onRanks("2")}}},
	{Package: "allgatherlinear", File: "program.go", Text: "a peer's staging set on 8 ranks",
		Edits: []Edit{{"	q.Post(p.copy, p.read)\n", onRanks("8")}}},

	// The host.
	{Package: "allgatherlinear", File: "program.go", Text: "the host waits in the midst of a run",
		Edits: []Edit{{"	q.Post(p.copy, p.read)\n",
			"	if len(p.Steps()) > 0 {\n		_ = p.Group().Driver().CtxSynchronize()\n	}\n" +
				"	q.Post(p.copy, p.read)\n"}}},

	// Launches.
	{Package: "allgatherlinearkernels", File: launching, Text: "a wait with a thread too few", Edits: []Edit{
		{launchWait + "1, max(len(words), 1))", launchWait + "1, max(len(words)-1, 1))"}}},
	{Package: "allgatherlinearkernels", File: launching, Text: "a post with a thread too few", Edits: []Edit{
		{launchPost + "1, max(len(words), 1))", launchPost + "1, max(len(words)-1, 1))"}}},
	{Package: "allgatherlinearkernels", File: launching, Text: "a post of two blocks",
		Edits: []Edit{{launchPost + "1", launchPost + "2"}}},
	{Package: "allgatherlinearkernels", File: launching, Text: "a wait of two blocks",
		Edits: []Edit{{launchWait + "1", launchWait + "2"}}},
	{Package: "allgatherlinearfused", File: launching, Text: "a get of two rows of blocks", Edits: []Edit{
		{"	q.Launch(on, k.handle, dim(grid), dim(block),",
			"	two := dim(grid)\n	if k.Kind == Get {\n		two.Y = 2\n	}\n" +
				"	q.Launch(on, k.handle, two, dim(block),"}}},
	{Package: "allgatherlinearfused", File: "../../runtime/kernels/table.go", Text: "blocks of 32 threads",
		Edits: []Edit{{"const threads = 512", "const threads = 32"}},
		Right: "a kernel posts to 32 peers at most, a thread each"},
	{Package: "allgatherlinearfused", File: launching, Text: "one count word for all streams", Edits: []Edit{
		{"q.CountWord(on)", "q.CountWord(q.Main())"}}},

	// The declared touches of a kernel.
	{Package: "allgatherlinearfused", File: "../../verify/tables/touches.go",
		Text: "four bytes read that are not declared", Edits: []Edit{
			{"At: driver.Ptr(x.p[x.At.Src]), Bytes: bytes}", "At: driver.Ptr(x.p[x.At.Src]), Bytes: bytes - 4}"}}},
}

const (
	launching  = "../../runtime/kernels/launch.go"
	launchPost = "	k.put(PostPost, words)\n	k.enqueue(q, on, "
	launchWait = "uint64(step), uint64(value)\n	k.enqueue(q, on, "
)

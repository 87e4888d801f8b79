package mutate

import "slices"

// ofMemory lists bugs in a plan's memory of packets, in its graphs, and in the release by Close and by an abort.
var ofMemory = slices.Concat(within("runtime/plan", []CodeMutant{
	{File: "runtime/plan/finish.go", Text: "New leaves the memory of packets as it was",
		Tests: "TestPacketsBeginAtZero",
		Old:   "err := p.clearPackets(); err != nil", New: "err := error(nil); err != nil"},
	{File: "runtime/plan/packets.go", Text: "New clears one half of packets", Tests: "TestPacketsBeginAtZero",
		Old: "0, x.size(p.Size())/4", New: "0, x.half(p.Size())/4"},
	{File: "runtime/plan/packets.go", Text: "New clears packets and no turns", Tests: "TestPacketsBeginAtZero",
		Old: "0, x.size(p.Size())/4", New: "0, x.turn(p.Size())/4"},
	{File: "runtime/plan/close.go", Text: "Close keeps the memory of packets", Tests: "TestPacketsBeginAtZero",
		Old: "p.group.Arena().FreeKept(x.offset)", New: "_ = x"},
	{File: "runtime/plan/bind.go", Text: "graphs with old addresses of peers are kept", Tests: "TestStaleGraphs",
		Old: "err := p.graphs.drop(); err != nil", New: "err := error(nil); err != nil"},
	{File: "runtime/plan/graphs.go", Text: "a graph is made while a run waits", Tests: "TestGraphBehindRun",
		Old: "err := p.drain(ctx); err != nil", New: "err := error(nil); err != nil"},
}), within("runtime/group", []CodeMutant{
	{File: "runtime/group/arena.go", Text: "an abort releases the packets of the first plan alone",
		Tests: "TestAbortReleasesKept", Old: "a.low == 0 || end-bytes < a.low", New: "a.low == 0"},
	{File: "runtime/group/arena.go", Text: "an abort releases the packets of the last plan alone",
		Tests: "TestAbortReleasesKept", Old: "a.low == 0 || end-bytes < a.low", New: "true"},
}))

package mutate

import "slices"

// ofLinks lists bugs in the judgement of links: the form of a fabric, and the packages that rest on NVLink.
var ofLinks = slices.Concat(within("runtime/fabric", []CodeMutant{
	{File: "runtime/fabric/fabric.go", Text: "a cube with any links across", Tests: "TestFabrics",
		Old: "inside != 3 || across != 1", New: "inside != 3"},
	{File: "runtime/fabric/fabric.go", Text: "a cube with any links inside", Tests: "TestFabrics",
		Old: "inside != 3 || across != 1", New: "across != 1"},
}), within("cmd/ovgen/internal/emit", []CodeMutant{
	{File: "cmd/ovgen/internal/emit/program.go", Text: "a kernel that only waits counts as a stream's wait",
		Tests: "TestPuts", Old: `w.Wait && s.By == ""`, New: `w.Wait && (s.By == "" || !s.Fused())`},
}))

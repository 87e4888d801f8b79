// Package fine has none, as far as the source tells.
package fine

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

var (
	Taken = catalog.AllGatherLinear

	// Filled is set where the package starts.
	Filled s.Schedule

	// Broken is changed before anything reads it.
	Broken = s.Schedule{Types: []s.Type{"none"}}

	Layer = s.Schedule{Ops: []s.Op{s.Matmul("C", "A", "B")}, Tensors: []s.Tensor{
		{"A", []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}, "", false, "", "", false},
		{"B", []s.Axis{s.Dim(s.K), s.Dim(s.N)}, "", false, "", "", false},
		{"C", []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}, "", false, "", "", false},
	}}

	unused = s.Schedule{}
)

func init() {
	Filled = Layer
	Broken.Types = nil
}

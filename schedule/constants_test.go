package schedule_test

import (
	"maps"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/scheduletest"
)

// A constant stands for the symbol that the operation has in its place.
func TestConstants(t *testing.T) {
	most := func(e s.Extent) s.Split { return s.Split{Kind: s.DeviceX, Count: s.D, Uneven: true, Most: e} }
	tensor := func(name string, axes ...s.Axis) s.Tensor { return s.Tensor{Name: name, Axes: axes} }
	for name, x := range map[string]struct {
		schedule s.Schedule
		want     map[s.Extent]int64
	}{
		"none": {scheduletest.Of("linear", tensor("A", s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)),
			tensor("B", s.Dim(s.N), s.Dim(s.K))), nil},
		"a layer": {scheduletest.Of("linear", tensor("A", s.Dim(s.M), s.Dim("8192")),
			tensor("B", s.Dim("3584"), s.Dim(s.K)),
			tensor("B2", s.Dim("16"), s.Dim(s.K))), map[s.Extent]int64{s.K: 8192, s.N: 3584, s.N2: 16}},
		"a weight the other way round": {scheduletest.Of("matmul", tensor("B", s.Dim("8"), s.Dim("4"))),
			map[s.Extent]int64{s.K: 8, s.N: 4}},
		"between two layers": {scheduletest.Of("mlp", tensor("B", s.Dim("96", s.DIDx(s.D)), s.Dim(s.K))),
			map[s.Extent]int64{s.F: 96}},
		"rows of a sum": {scheduletest.Of("sum", tensor("A", s.Dim(s.D, s.DIDx(s.D)), s.Dim("16"),
			s.Dim(s.N))), map[s.Extent]int64{s.M: 16}},
		"the most rows": {scheduletest.Of("copy", tensor("A", s.Dim(s.M, most("4096")), s.Dim(s.N))),
			map[s.Extent]int64{s.P: 4096}},
	} {
		if got := x.schedule.Constants(); !maps.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", name, got, x.want)
		}
	}
}

package hostir_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// TestCounts: the parts of a program are as even as can be, and all rows; a program without such parts has no counts.
func TestCounts(t *testing.T) {
	program := func(rows schedule.Extent, s schedule.Split) *hostir.Program {
		return &hostir.Program{Schedule: schedule.Schedule{Tensors: []schedule.Tensor{
			{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.N)}},
			{Name: "A", Axes: []schedule.Axis{schedule.Dim(rows, s), schedule.Dim(schedule.K)}}}}}
	}
	for _, x := range []struct {
		of   *hostir.Program
		rows int64
		want []int64
	}{
		{program(schedule.M, schedule.Balanced(schedule.D)), 8, []int64{2, 2, 2, 2}},
		{program(schedule.M, schedule.Balanced(schedule.D)), 10, []int64{3, 3, 2, 2}},
		{program(schedule.M, schedule.Balanced(schedule.D)), 3, []int64{1, 1, 1, 0}},
		{program(schedule.M, schedule.Balanced(schedule.D)), 1, []int64{1, 0, 0, 0}},
		{program("7", schedule.Balanced(schedule.D)), 1, []int64{2, 2, 2, 1}},
		{program(schedule.M, schedule.DIDx(schedule.D)), 8, nil},
		{program(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true}), 8, nil},
	} {
		if got := x.of.Counts(hostir.Env{"M": x.rows, "D": 4}); !cmp.Equal(got, x.want) {
			t.Errorf("%d rows of %s: %v, want %v", x.rows, x.of.Schedule.Tensors[1], got, x.want)
		}
	}
}

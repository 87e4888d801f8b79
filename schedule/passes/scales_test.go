package passes_test

import (
	"fmt"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// TestUnitsOfCodes: rows of codes are whole blocks, and where kernels copy them they and their scales are units of two
// bytes.
func TestUnitsOfCodes(t *testing.T) {
	kernel := schedule.Pull{By: schedule.KernelCopies}
	for _, c := range []struct {
		name string
		s    schedule.Schedule
		way  schedule.Way
		want []hostir.Divide
	}{
		{"eight bits", catalog.AllGatherQuantised, nil, nil},
		{"by kernels", catalog.AllGatherQuantised, kernel, []hostir.Divide{{Extent: "N", By: "2"}}},
		{"by one kernel", catalog.AllGatherQuantised, schedule.GatherShot{}, []hostir.Divide{{Extent: "N", By: "2"}}},
		{"four bits", catalog.AllGatherFP4, nil, []hostir.Divide{{Extent: "N", By: "16"}}},
		{"four by kernels", catalog.AllGatherFP4, kernel, []hostir.Divide{{Extent: "N", By: "16"},
			{Extent: "N", By: "32"}}},
		{"blocks", catalog.AllGatherBlocksFP8, kernel, []hostir.Divide{{Extent: "N", By: "128"}}},
	} {
		if c.way != nil {
			c.s.Moves = []schedule.Move{{Of: "Codes", Way: c.way}}
		}
		p, err := lower.Lower("X", c.s)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := slices.DeleteFunc(slices.Clone(p.Checks), func(d hostir.Divide) bool { return d.Extent != "N" })
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: asked are %v, want %v", c.name, got, c.want)
		}
	}
}

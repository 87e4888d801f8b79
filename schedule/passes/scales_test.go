package passes_test

import (
	"fmt"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
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

// TestScalesOfAll: peers read the codes of a weight whose columns come, and the scales of its rows are on every rank.
func TestScalesOfAll(t *testing.T) {
	s := scheduletest.Of("linear", scheduletest.Tensors("A[M/D K] B[N K/D] C[M/D N] SA[M/D] SB[N]")...)
	for i, scales := range []string{"SA", "SB", "", "", ""} {
		s.Tensors[i].Scale = scales
		if scales != "" {
			s.Tensors[i].Type, s.Tensors[i+3].Type = schedule.E4M3, schedule.FP32
		}
	}
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	if shared := map[string]bool{"B": p.At("B").Shared, "SB": p.At("SB").Shared}; !shared["B"] || shared["SB"] {
		t.Errorf("shared are %v, want B alone", shared)
	}
}

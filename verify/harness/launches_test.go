package harness_test

import (
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/harness"
)

// Default shapes at which a kernel of a call has no block are left out, but never all. Stated multiples make them fit.
func TestLaunched(t *testing.T) {
	of := func(blocks string) *harness.Program {
		return &harness.Program{Schedule: schedule.Schedule{
			Tensors: []schedule.Tensor{
				{Name: "A", Axes: []schedule.Axis{schedule.Dim("M"), schedule.Dim("N", schedule.DIDx("D"))}},
				{Name: "O", Axes: []schedule.Axis{schedule.Dim("M"), schedule.Dim("N", schedule.DIDx("D"))}}},
			Ops: []schedule.Op{schedule.CallKernel("O", "Norm", "mn->mn",
				schedule.Kernel{File: "own.cu", Name: "norm", Blocks: blocks}, "A")},
		}}
	}
	const ranks = 2
	list := []harness.Shape{{M: 4, N: 64}, {M: 4, N: 300}, {M: 4, N: 256}}
	kept := of("M*(N/D/128)").Launched(list, ranks)
	if len(kept) != 2 || kept[0].N != 300 || kept[1].N != 256 {
		t.Errorf("kept %v", kept)
	}
	if all := of("M*(N/D/512)").Launched(list, ranks); len(all) != len(list) {
		t.Errorf("none launches, and %v of %v are kept", all, list)
	}
	p := of("M*(N/D/128)")
	p.Checks = []hostir.Divide{{Extent: "N", By: "D", Times: 128}}
	for _, s := range p.TestShapes(driver.BF16, ranks) {
		if s.N%(128*ranks) != 0 || !p.Launches(s, ranks) {
			t.Errorf("%s does not fit", s)
		}
	}
}

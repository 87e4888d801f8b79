package emit

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// A package says that it rests on the link where it writes into peers' memory and waits
// by stream memory operations.
func TestPuts(t *testing.T) {
	for name, c := range map[string]struct {
		schedule schedule.Schedule
		want     bool
	}{
		"AllGatherLinear":    {catalog.AllGatherLinear, false},
		"AllGatherLinearPut": {catalog.AllGatherLinearPut, true},
		"PushKernelSignals": {scheduletest.By(catalog.AllGatherLinear, "A",
			schedule.Push{By: schedule.KernelSignals}), false},
		"SlotsKernelSignals": {scheduletest.By(catalog.LinearReduceScatter, "C",
			schedule.Slots{By: schedule.KernelSignals}), false},
		"AllGatherLinearFused":          {catalog.AllGatherLinearFused, false},
		"LinearReduceScatter":           {catalog.LinearReduceScatter, true},
		"LinearReduceScatterInSlot":     {catalog.LinearReduceScatterInSlot, true},
		"LinearReduceScatterGet":        {catalog.LinearReduceScatterGet, false},
		"LinearReduceScatterPutKernels": {catalog.LinearReduceScatterPutKernels, false},
		"AllGatherLinearRingPut":        {catalog.AllGatherLinearRingPut, true},
		"AllReduceOneShot":              {catalog.AllReduceOneShot, false},
		"LinearReduceScatterRingKernel": {catalog.LinearReduceScatterRingKernel, false},
	} {
		p, err := lower.Lower(name, c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		u, err := newUnit(Input{Program: p}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := u.programFile()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), "Puts:"); got != c.want {
			t.Errorf("%s puts: %t, want %t", name, got, c.want)
		}
	}
}

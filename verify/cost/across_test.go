package cost_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/cost"
	"ovgen/verify/ops"
)

// layered is a case of two layers on two ranks.
func layered(rows int64) ops.Case {
	c := sized(2, rows, 4096, 4096)
	c.Extents["F"] = 14336
	return c
}

// While the kernels sum and norm the last part of a rank's own rows, the products behind the sum take the one before.
func TestAcross(t *testing.T) {
	for _, test := range []struct {
		parts  int
		beside bool
	}{{0, false}, {2, true}, {4, true}} {
		p := lowered(t, "Across", scheduletest.By(catalog.BlockBehindAttention, "R",
			schedule.Slots{Parts: test.parts}))
		x, err := cost.Predict(p, cost.Case{Case: layered(4096), Gated: true}, h200(t))
		if err != nil {
			t.Fatal(err)
		}
		var norm cost.Span // of the last part, which put does
		for _, y := range x.Spans {
			if y.Rank == 0 && y.Kind == ops.Apply && y.Stream == "put" {
				norm = y
			}
		}
		shared := 0.0
		for _, y := range x.Spans {
			if y.Rank == 0 && y.Kind == ops.Product && y.Stream == "main" && y.Step > norm.Step {
				shared += max(0, min(y.End, norm.End)-max(y.Start, norm.Start))
			}
		}
		beside := shared > (norm.End-norm.Start)/2
		if beside != test.beside {
			t.Errorf("%d parts: a norm beside products behind it: %v, want %v:\n%s", test.parts, beside, test.beside,
				x.Timeline(0))
		}
	}
}

// A block of few rows is predicted faster by packets, which read each weight once, and one of many rows by the chain
// whose rows come in turn.
func TestPacketsOfFewRows(t *testing.T) {
	for rows, packets := range map[int64]bool{128: true, 4096: false} {
		ms := map[bool]float64{}
		for way, s := range map[bool]schedule.Schedule{false: catalog.BlockBehindAttention,
			true: catalog.BlockBehindAttentionPackets} {
			x, err := cost.Predict(lowered(t, "X", s), cost.Case{Case: layered(rows), Gated: true}, h200(t))
			if err != nil {
				t.Fatal(err)
			}
			ms[way] = x.Time
		}
		t.Logf("%d rows: %.4g us in turn, %.4g by packets", rows, ms[false], ms[true])
		if (ms[true] < ms[false]) != packets {
			t.Errorf("%d rows: %.4g us in turn, and %.4g by packets", rows, ms[false], ms[true])
		}
	}
}

// A function in the launch of a product is predicted to take less than a launch behind it.
func TestMaking(t *testing.T) {
	us := map[int]float64{}
	for _, few := range []int{0, 8} {
		s := catalog.GatedMLPFewRows
		s.FewRows = few
		x, err := cost.Predict(lowered(t, "X", s), cost.Case{Case: layered(8), Gated: true}, h200(t))
		if err != nil {
			t.Fatal(err)
		}
		us[few] = x.Time
	}
	if saved := us[0] - us[8]; saved < .5 || saved > 20 {
		t.Errorf("%.4g us, and %.4g with a kernel behind the product", us[8], us[0])
	}
}

// Packets cross a link as the data that they are: as long as plain data.
func TestPacketsOnALink(t *testing.T) {
	var ms []float64
	for _, s := range []schedule.Schedule{catalog.AllReducePackets, catalog.AllReducePush} {
		x, err := cost.Predict(lowered(t, "X", s), cost.Case{Case: sized(2, 4096, 0, 4096), Gated: true},
			h200(t))
		if err != nil {
			t.Fatal(err)
		}
		ms = append(ms, x.Time)
	}
	if ms[0] > 1.1*ms[1] {
		t.Errorf("%.4g us by packets, and %.4g by plain data", ms[0], ms[1])
	}
}

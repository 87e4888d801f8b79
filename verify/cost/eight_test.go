package cost_test

import (
	"math"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/cost"
)

func predicted(t *testing.T, name string, s schedule.Schedule, ranks int, m, k, n int64) *cost.Prediction {
	t.Helper()
	c := cost.Case{Case: sized(ranks, m, k, n)}
	c.Extents["P"] = m
	x, err := cost.Predict(lowered(t, name, s), c, h200(t))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestEight: rows of eight bits bring half the bytes and the bytes of their scales, and their products take what they
// took on two H200s (docs/eight.md, facts: the better of eager and replayed), as those of 16 do.
func TestEight(t *testing.T) {
	const k, n = 8192, 14336
	for _, x := range []struct {
		rows          int64
		eight, of16   float64 // us
		within, wider float64
	}{{4096, 795, 1435, .1, .1}, {512, 121, 197, .25, .25}} {
		wide := predicted(t, "AllGatherLinear", catalog.AllGatherLinear, 2, x.rows, k, n)
		narrow := predicted(t, "AllGatherLinearFP8", catalog.AllGatherLinearFP8, 2, x.rows, k, n)
		if apart := math.Abs(narrow.Time/x.eight - 1); apart > x.within {
			t.Errorf("%d rows of eight bits take %.0f us, measured %.0f", x.rows, narrow.Time, x.eight)
		}
		if apart := math.Abs(wide.Time/x.of16 - 1); apart > x.wider {
			t.Errorf("%d rows of 16 bits take %.0f us, measured %.0f", x.rows, wide.Time, x.of16)
		}
		const scale, link = 4, 2 * k // bytes of a scale, and of a row of 16 bits
		want := wide.LinkBound * (link/2 + scale) / link
		if math.Abs(narrow.LinkBound/want-1) > 1e-9 {
			t.Errorf("%d rows of eight bits are %.3f us on the link, want %.3f", x.rows, narrow.LinkBound, want)
		}
	}
}

// TestQuantised: a kernel that quantises what it norms takes less than two, by what the second one would read and by
// its launch.
func TestQuantised(t *testing.T) {
	one := catalog.AllReduceNormQuantised
	two := one
	two.Moves = []schedule.Move{{Of: "R", Way: schedule.PushShot{}}}
	a, b := predicted(t, "One", one, 2, 64, 0, 8192), predicted(t, "Two", two, 2, 64, 0, 8192)
	launches := func(s schedule.Schedule) (n int) {
		p, err := lower.Lower("x", s)
		if err != nil {
			t.Fatal(err)
		}
		hostir.Steps(p.Body, func(hostir.Step) { n++ })
		return n
	}
	if launches(one) != 1 || launches(two) != 2 || a.Time >= b.Time {
		t.Errorf("by one kernel it takes %.1f us, by two %.1f", a.Time, b.Time)
	}
}

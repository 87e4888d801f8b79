package cost_test

import (
	"fmt"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/verify/cost"
)

// Two shots by packets send each element twice, once to its owner and once from it. On four ranks that is worth it from
// 2 MiB on, as docs/results/2026-11-27-small-4-twoshot.txt has measured; there both take 15 us at 1 MiB. On two the
// model has them level, and one shot the faster: two H200s say so up to 4 MiB, and not at 8 MiB, where two shots took
// 29 us and one 35 (docs/results/2026-11-29-small-2.txt).
func TestTwoShotsByPackets(t *testing.T) {
	time := func(s schedule.Schedule, ranks int, rows int64) float64 {
		x, err := cost.Predict(lowered(t, "X", s), cost.Case{Case: sized(ranks, rows, 0, 4096), Gated: true}, h200(t))
		if err != nil {
			t.Fatal(err)
		}
		return x.Time
	}
	for _, test := range []struct {
		ranks int
		rows  int64 // of 8 KiB
		worth bool
	}{{2, 8, false}, {2, 256, false}, {2, 2048, false}, {4, 8, false}, {4, 64, false}, {4, 256, true}, {4, 1024, true},
		{8, 8, false}, {8, 1024, true}} {
		t.Run(fmt.Sprintf("%d rows on %d ranks", test.rows, test.ranks), func(t *testing.T) {
			once, twice := time(catalog.AllReducePackets, test.ranks, test.rows),
				time(catalog.AllReduceTwoShotPackets, test.ranks, test.rows)
			if got := twice < once; got != test.worth {
				t.Errorf("%.4g us by two shots, and %.4g by one", twice, once)
			}
		})
	}
}

// What these took on four H100s, in us (docs/results/2026-11-27-small-4-twoshot.txt), whose links are an H200's.
func TestTimesOfPackets(t *testing.T) {
	once, twice := catalog.AllReducePackets, catalog.AllReduceTwoShotPackets
	for _, test := range []struct {
		schedule schedule.Schedule
		rows     int64
		us       float64
	}{{once, 2, 5.2}, {once, 64, 10.4}, {once, 512, 49.4}, {twice, 2, 7.6}, {twice, 64, 10.7}, {twice, 512, 28.2},
		{twice, 1024, 47.4}} {
		x, err := cost.Predict(lowered(t, "X", test.schedule),
			cost.Case{Case: sized(4, test.rows, 0, 4096), Gated: true}, h200(t))
		if err != nil {
			t.Fatal(err)
		}
		if r := x.Time / test.us; r < 1/1.3 || r > 1.3 {
			t.Errorf("%d rows: %.4g us, measured %g", test.rows, x.Time, test.us)
		}
	}
}

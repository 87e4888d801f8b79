package cost_test

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/verify/cost"
)

// measured is one figure of docs/results: a schedule, a shape and a way to run it.
type measured struct {
	name     string
	m, k, n  int64
	eager    bool
	gated    bool
	ms, pure float64
}

var (
	heading = regexp.MustCompile(`^(\w+) (\d+),(\d+),(\d+) bf16, (\d+) ranks`)
	line    = regexp.MustCompile(`^(pure|eager|replayed)(, gated)?\s+([\d.]+)`)
)

// measurements reads what `run bench all` printed on four H200s.
func measurements(t *testing.T) []measured {
	t.Helper()
	f, err := os.Open("../../docs/results/2026-11-21-bench.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []measured
	var at measured
	pure := map[bool]float64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if h := heading.FindStringSubmatch(lines.Text()); h != nil {
			at = measured{name: h[1]}
			at.m, at.k, at.n = number(h[2]), number(h[3]), number(h[4])
		}
		x := line.FindStringSubmatch(lines.Text())
		if x == nil {
			continue
		}
		ms, _ := strconv.ParseFloat(x[3], 64)
		at.gated, at.eager = x[2] != "", x[1] == "eager"
		if x[1] == "pure" {
			pure[at.gated] = ms
			continue
		}
		at.ms, at.pure = ms, pure[at.gated]
		list = append(list, at)
	}
	return list
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

var (
	tableShape = regexp.MustCompile(`^\w+(?:, \w+)+ (\d+),(\d+),(\d+) bf16, 4 ranks`)
	tableLine  = regexp.MustCompile(`^(?:(\w+) (eager|replayed)|pure)(, gated)?\s+([\d.]+)`)
)

// tabled reads what `run bench NAME,NAME...` printed on four H200s of all-gathers and
// reduce-scatters that were measured in the same rounds. No constant was set by it.
func tabled(t *testing.T) (list []measured) {
	t.Helper()
	f, err := os.Open("../../docs/results/2026-11-21-tables.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var at measured
	pure := map[bool]float64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if h := tableShape.FindStringSubmatch(lines.Text()); h != nil {
			at.m, at.k, at.n = number(h[1]), number(h[2]), number(h[3])
		}
		x := tableLine.FindStringSubmatch(lines.Text())
		if x == nil {
			continue
		}
		ms, _ := strconv.ParseFloat(x[4], 64)
		at.name, at.eager, at.gated = x[1], x[2] == "eager", x[3] != ""
		if x[1] == "" {
			pure[at.gated] = ms
			continue
		}
		at.ms, at.pure = ms, pure[at.gated]
		list = append(list, at)
	}
	return list
}

// gridded reads what bench/peers.py measured of schedules on four H100s, of their kernels of tiles or of others. No
// constant was set by it. Times without a gate hold the time of a host that calls from Python, and are left out.
func gridded(t *testing.T, tiles bool) (list []measured) {
	t.Helper()
	f, err := os.Open("../../docs/results/2026-11-27-grid-4.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pure := map[[4]any]float64{} // by shape, and whether it is gated
	for lines := json.NewDecoder(f); ; {
		var x struct {
			Program, Variant string
			M, K, N          int64
			Gated            bool
			MS               float64
		}
		if err := lines.Decode(&x); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		at := [4]any{x.M, x.K, x.N, x.Gated}
		if x.Variant == "pure" {
			pure[at] = x.MS
		}
		if x.Gated && inCatalog(x.Program) >= 0 && strings.Contains(x.Program, "tiles") == tiles {
			list = append(list, measured{name: x.Program, m: x.M, k: x.K, n: x.N, eager: x.Variant == "eager",
				gated: x.Gated, ms: x.MS, pure: pure[at]})
		}
	}
}

// pair is a prediction and a measurement.
type pair struct {
	measured
	got *cost.Prediction
}

func (p pair) error() float64 { return math.Abs(math.Log(p.got.Time / 1000 / p.ms)) }

// inCatalog is the place of a schedule in the catalog, by its name in small letters.
func inCatalog(name string) int {
	return slices.IndexFunc(catalog.All(), func(n catalog.Named) bool { return strings.EqualFold(n.Name, name) })
}

func predictions(t *testing.T, m *cost.Machine, all []measured) (list []pair) {
	t.Helper()
	for _, x := range all {
		i := inCatalog(x.name)
		if i < 0 {
			t.Fatalf("the catalog has no %s", x.name)
		}
		got, err := cost.Predict(lowered(t, x.name, catalog.All()[i].Schedule),
			cost.Case{Case: sized(4, x.m, x.k, x.n), Eager: x.eager, Gated: x.gated}, m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pair{x, got})
	}
	return list
}

// least is what a set of points must reach: the rank correlations of times and of
// efficiencies over all points, and the part of the pairs of schedules, or of ways to
// run one, that are 5 % or more apart at one shape and are ordered right; most is the
// median error of a time.
type least struct {
	points                    int
	times, efficiencies, pair float64
	most                      float64
}

// The model ranks schedules as measurements do. -v prints every point.
func TestRanking(t *testing.T) {
	t.Run("calibrated", func(t *testing.T) {
		// Its constants were set by these: 3 schedules, 7 shapes, eager and replayed,
		// gated and not.
		rank(t, h200(t), measurements(t), least{84, 0.97, 0.8, 0.85, 0.05})
	})
	t.Run("held out", func(t *testing.T) {
		rank(t, h200(t), tabled(t), least{308, 0.97, 0.85, 0.84, 0.15})
	})
	t.Run("H100", func(t *testing.T) {
		rank(t, machine(t, "h100"), gridded(t, false), least{228, 0.97, 0.8, 0.8, 0.1})
	})
	t.Run("tiles on H100", func(t *testing.T) {
		rank(t, machine(t, "h100"), gridded(t, true), least{38, 0.97, 0.6, 1, 0.3})
	})
}

func rank(t *testing.T, m *cost.Machine, all []measured, want least) {
	list := predictions(t, m, all)
	if len(list) != want.points {
		t.Fatalf("%d points, want %d", len(list), want.points)
	}
	var times, wantTimes, efficiencies, wantEfficiencies, errors []float64
	for _, x := range list {
		times, wantTimes = append(times, x.got.Time), append(wantTimes, x.ms)
		efficiencies, wantEfficiencies = append(efficiencies, x.got.Efficiency()), append(wantEfficiencies, x.pure/x.ms)
		errors = append(errors, x.error())
		t.Logf("%-25s %5d,%5d,%5d %-8s %-5s %8.1f us, measured %8.1f; efficiency %.2f, %.2f; %s", x.name, x.m, x.k, x.n,
			word(x.eager, "eager", "replayed"), word(x.gated, "gated", ""), x.got.Time, 1000*x.ms, x.got.Efficiency(),
			x.pure/x.ms, x.got.Limit)
	}
	slices.Sort(errors)
	agree, pairs := concordance(list)
	t.Logf("%d points, %d pairs", len(list), pairs)
	for _, f := range []struct {
		what             string
		got, least, most float64
	}{
		{"rank correlation of times", spearman(times, wantTimes), want.times, 1},
		{"rank correlation of efficiencies", spearman(efficiencies, wantEfficiencies), want.efficiencies, 1},
		{"pairs of one shape, 5 % or more apart, ordered right", agree, want.pair, 1},
		{"median error of a time", errors[len(errors)/2], 0, want.most},
	} {
		t.Logf("%s: %.3f", f.what, f.got)
		if f.got < f.least || f.got > f.most {
			t.Errorf("%s: %.3f is not in %.2f..%.2f", f.what, f.got, f.least, f.most)
		}
	}
}

func word(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// concordance is the part of the pairs of one shape, gated alike and apart by 5 % when
// measured, that the model orders as measurement does.
func concordance(list []pair) (part float64, pairs int) {
	right := 0
	for i, x := range list {
		for _, y := range list[:i] {
			if strings.Contains(x.name, "ReduceScatter") != strings.Contains(y.name, "ReduceScatter") || x.m != y.m ||
				x.k != y.k || x.n != y.n || x.gated != y.gated || math.Abs(math.Log(x.ms/y.ms)) < math.Log(1.05) {
				continue
			}
			pairs++
			if (x.ms < y.ms) == (x.got.Time < y.got.Time) {
				right++
			}
		}
	}
	return float64(right) / float64(pairs), pairs
}

// spearman is the correlation of ranks; equal values share the mean of theirs.
func spearman(x, y []float64) float64 {
	a, b := ranks(x), ranks(y)
	var ma, mb float64
	for i := range a {
		ma, mb = ma+a[i]/float64(len(a)), mb+b[i]/float64(len(b))
	}
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	return ab / math.Sqrt(aa*bb)
}

func ranks(x []float64) []float64 {
	r := make([]float64, len(x))
	for i := range x {
		for j := range x {
			switch {
			case x[j] < x[i]:
				r[i]++
			case x[j] == x[i]:
				r[i] += 0.5
			}
		}
	}
	return r
}

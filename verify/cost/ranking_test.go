package cost_test

import (
	"bufio"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
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

// pair is a prediction and what was measured.
type pair struct {
	measured
	got *cost.Prediction
}

func (p pair) error() float64 { return math.Abs(math.Log(p.got.Time / 1000 / p.ms)) }

func predictions(t *testing.T) (list []pair) {
	t.Helper()
	known := map[string]schedule.Schedule{
		"allgathermatmul":        catalog.AllGatherMatmul,
		"allgatherlinear":        catalog.AllGatherLinear,
		"allgatherlinearkernels": catalog.AllGatherLinearKernels,
	}
	m, err := cost.Find("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range measurements(t) {
		p, err := lower.Lower(x.name, known[x.name])
		if err != nil {
			t.Fatal(err)
		}
		got, err := cost.Predict(p, cost.Case{Ranks: 4, M: x.m, K: x.k, N: x.n, ElementSize: 2, Eager: x.eager, Gated: x.gated}, m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pair{x, got})
	}
	return list
}

// What the model is for: to rank. The least figures are a little below those of the
// measurement that its constants were set by; -v prints all.
func TestRanking(t *testing.T) {
	list := predictions(t)
	if len(list) != 84 {
		t.Fatalf("%d points, want 84: 3 schedules, 7 shapes, eager and replayed, gated and not", len(list))
	}
	var times, wantTimes, efficiencies, wantEfficiencies, errors []float64
	for _, x := range list {
		times, wantTimes = append(times, x.got.Time), append(wantTimes, x.ms)
		efficiencies, wantEfficiencies = append(efficiencies, x.got.Efficiency()), append(wantEfficiencies, x.pure/x.ms)
		errors = append(errors, x.error())
		t.Logf("%-23s %5d,%5d,%5d %-8s %-5s %8.1f us, measured %8.1f; efficiency %.2f, %.2f; %s", x.name, x.m, x.k, x.n,
			word(x.eager, "eager", "replayed"), word(x.gated, "gated", ""), x.got.Time, 1000*x.ms, x.got.Efficiency(), x.pure/x.ms, x.got.Limit)
	}
	slices.Sort(errors)
	agree, pairs := concordance(list)
	for _, f := range []struct {
		what        string
		least, most float64
		got         float64
	}{
		{"rank correlation of times", 0.97, 1, spearman(times, wantTimes)},
		{"rank correlation of efficiencies", 0.8, 1, spearman(efficiencies, wantEfficiencies)},
		{"pairs of one shape that differ by 5 % or more and are ordered right", 0.8, 1, agree},
		{"median error of a time", 0, 0.05, errors[len(errors)/2]},
	} {
		t.Logf("%s: %.3f", f.what, f.got)
		if f.got < f.least || f.got > f.most {
			t.Errorf("%s is %.3f, not in %.2f..%.2f", f.what, f.got, f.least, f.most)
		}
	}
	t.Logf("%d such pairs of %d points", pairs, len(list))
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
			if x.m != y.m || x.k != y.k || x.n != y.n || x.gated != y.gated || math.Abs(math.Log(x.ms/y.ms)) < math.Log(1.05) {
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

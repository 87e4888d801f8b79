package cost_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/cost"
	"ovgen/verify/ops"
)

// sized is a case of elements of two bytes.
func sized(ranks int, m, k, n int64) ops.Case {
	return ops.Case{Ranks: ranks, Extents: hostir.Env{"M": m, "K": k, "N": n}, ElementBits: 16}
}

func h200(t *testing.T) *cost.Machine {
	t.Helper()
	return machine(t, "H200")
}

func machine(t *testing.T, name string) *cost.Machine {
	t.Helper()
	m, err := cost.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func lowered(t *testing.T, name string, s schedule.Schedule) *hostir.Program {
	t.Helper()
	p, err := lower.Lower(name, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every schedule of the catalog can be predicted, those over hosts on two, and its account is whole.
func TestCatalog(t *testing.T) {
	for _, n := range catalog.All() {
		p := lowered(t, n.Name, n.Schedule)
		for _, d := range []int{2, 4, 8} {
			for _, eager := range []bool{false, true} {
				c := cost.Case{Case: sized(d, 4096, 8192, 7168), Eager: eager}
				c.Hosts = p.FewestHosts(d)
				maps.Copy(c.Extents, hostir.Env{"F": 16384, "W": 128, "N2": 1024, "N3": 1024, "P": 512})
				for range d * d {
					c.Counts = append(c.Counts, 512)
				}
				x, err := cost.Predict(p, c, h200(t))
				if err != nil {
					t.Errorf("D = %d, eager %v: %v", d, eager, err)
					continue
				}
				check(t, n, x)
			}
		}
	}
}

func check(t *testing.T, n catalog.Named, x *cost.Prediction) {
	t.Helper()
	sum := x.Products + x.Network + x.Link + x.Memory + x.Latency
	multiplies := slices.ContainsFunc(n.Schedule.Ops, func(o schedule.Op) bool { return len(o.In) == 2 })
	switch {
	case math.Abs(sum-x.Time) > 1e-6*x.Time:
		t.Errorf("%s: the parts sum up to %.3f us, not to %.3f", n.Name, sum, x.Time)
	case math.Abs(x.Products+x.Exposed()-x.Time) > 1e-6*x.Time:
		t.Errorf("%s: products %.3f and exposed %.3f are not %.3f us", n.Name, x.Products, x.Exposed(), x.Time)
	case x.Time < x.LinkBound:
		t.Errorf("%s takes %.1f us, less than its bytes on the link, %.1f", n.Name, x.Time, x.LinkBound)
	case x.Time < x.NetworkBound || n.Schedule.OverHosts() != (x.NetworkBound > 0):
		t.Errorf("%s takes %.1f us, and its bytes on the network %.1f", n.Name, x.Time, x.NetworkBound)
	case multiplies != (x.Pure > 0) || multiplies != (x.Products > 0):
		t.Errorf("%s: pure %.1f us, products %.1f", n.Name, x.Pure, x.Products)
	case x.Pure > 1.05*x.Time:
		t.Errorf("%s takes %.1f us, its products alone %.1f", n.Name, x.Time, x.Pure)
	}
	for _, s := range x.Spans {
		if !(s.Start >= 0 && s.Start <= s.End && s.End <= x.Time) {
			t.Errorf("%s: a %s from %.1f to %.1f of %.1f us", n.Name, s.Kind, s.Start, s.End, x.Time)
		}
	}
}

func TestLimits(t *testing.T) {
	p := lowered(t, "AllGatherLinear", catalog.AllGatherLinear)
	for _, test := range []struct {
		m, k, n int64
		want    cost.Limit
	}{
		{32768, 16384, 8192, cost.ByCompute},
		{32768, 16384, 512, cost.ByLink},
		{512, 4096, 3584, cost.ByLatency},
	} {
		x, err := cost.Predict(p, cost.Case{Case: sized(4, test.m, test.k, test.n), Gated: true},
			h200(t))
		if err != nil {
			t.Fatal(err)
		}
		if x.Limit != test.want {
			t.Errorf("%d,%d,%d is limited by %s, want %s:\n%s", test.m, test.k, test.n, x.Limit,
				test.want, x.Timeline(0))
		}
	}
}

func TestRefused(t *testing.T) {
	p := lowered(t, "AllGatherLinear", catalog.AllGatherLinear)
	mlp := lowered(t, "TensorParallelMLP", catalog.TensorParallelMLP)
	chunks := lowered(t, "AllGatherLinearCollective8", catalog.AllGatherLinearCollective8)
	rows := lowered(t, "Rows", schedule.Schedule{Ops: []schedule.Op{schedule.Linear("C", "A", "B")},
		Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim("66", schedule.DIDx(schedule.D)), schedule.Dim(schedule.K)}},
			{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.K)}},
			{Name: "C", Axes: []schedule.Axis{schedule.Dim("66", schedule.Stream(schedule.D)),
				schedule.Dim(schedule.N)}},
		}})
	for _, test := range []struct {
		p    *hostir.Program
		c    cost.Case
		want string
	}{
		{p, cost.Case{Case: sized(0, 8, 8, 8)}, "0 ranks: at least 1"},
		{p, cost.Case{Case: sized(3, 8, 8, 8)},
			"predict AllGatherLinear: M is 8: it must be a multiple of the ranks, 3"},
		{p, cost.Case{Case: sized(2, 0, 8, 8)}, "M is 0: it must be positive"},
		{chunks, cost.Case{Case: sized(4, 4100, 8, 8)},
			"M is 4100: it must be a multiple of 8 times the ranks, 32"},
		{rows, cost.Case{Case: sized(4, 128, 8, 8)},
			"M is 128, and the schedule has the constant 66 for it (leave it out)"},
		{rows, cost.Case{Case: sized(4, 0, 8, 8)}, "the extent 66: it must be a multiple of the ranks, 4"},
		{p, cost.Case{Case: ops.Case{Ranks: 2, Extents: sized(2, 8, 8, 8).Extents, ElementBits: 8}},
			"h200 has no rate for elements of 1 bytes"},
		{mlp, cost.Case{Case: sized(2, 8, 8, 8)}, "it needs the extent F"},
	} {
		if x, err := cost.Predict(test.p, test.c, h200(t)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, %v; want %q", test.c, x, err, test.want)
		}
	}
	if _, err := cost.Find("b7"); err == nil || !strings.Contains(err.Error(), `no machine "b7" (known: h100, h200)`) {
		t.Errorf("b7: %v", err)
	}
}

// A wait that nobody ends is an error that names it, not a time.
func TestStuck(t *testing.T) {
	word := ops.Loc{Rank: 0, Buffer: "ready", Offset: 4}
	lists := [][]ops.Op{{{Kind: ops.Signal, Stream: "main", Words: []ops.Word{{At: word, Value: 1}}}}, nil}
	_, err := cost.Run(lists, cost.Case{Case: sized(2, 0, 0, 0), Gated: true}, h200(t), func(string) int { return 0 })
	if err == nil || !strings.Contains(err.Error(), "wait for ever: rank 0, main: signal: ready@0+4 == 1") {
		t.Errorf("got %v", err)
	}
}

// The figures that constants of the table were taken from come out again: one
// transfer, one product, a hop.
func TestParts(t *testing.T) {
	m := h200(t)
	get := func(bytes int64) ops.Op {
		return ops.Op{Kind: ops.Copy, Stream: "main", Uses: []ops.Use{{At: ops.Loc{Rank: 1, Buffer: "A"}, Bytes: bytes},
			{Write: true, At: ops.Loc{Buffer: "G"}, Bytes: bytes}}}
	}
	product := func(rows, inner, columns int64) ops.Op {
		return ops.Op{Kind: ops.Product, Stream: "main",
			Uses: []ops.Use{{At: ops.Loc{Buffer: "A"}, Bytes: 2 * rows * inner},
				{At: ops.Loc{Buffer: "B"}, Bytes: 2 * inner * columns}, {Write: true, At: ops.Loc{Buffer: "C"},
					Bytes: 2 * rows * columns}}}
	}
	for _, test := range []struct {
		what     string
		list     []ops.Op
		want, by float64 // us, and the part it may be off
	}{
		{"a get of 16 MiB at 344 GB/s and its start", []ops.Op{get(16 << 20)}, 48.8 + m.Replayed.Copy, 0.01},
		{"two gets in a row", []ops.Op{get(1 << 20), get(1 << 20)}, 2 * (6.35 + m.Replayed.Copy), 0.01},
		{"a product of no rows", []ops.Op{product(0, 512, 512)}, m.Replayed.Launch, 0.01},
		{"a get of nothing", []ops.Op{get(0)}, 2.8 + m.Replayed.Copy, 0.01},
		{"pure of 512,4096,3584", []ops.Op{product(512, 4096, 3584)}, 25.5, 0.1},
		{"pure of 1024,4096,3584", []ops.Op{product(1024, 4096, 3584)}, 43.6, 0.1},
		{"pure of 2048,8192,3584", []ops.Op{product(2048, 8192, 3584)}, 172.7, 0.1},
		{"pure of 2048,2048,3584", []ops.Op{product(2048, 2048, 3584)}, 45.9, 0.1},
		{"pure of 4096,2048,7168", []ops.Op{product(4096, 2048, 7168)}, 160, 0.1},
		{"pure of 32768,4096,8192", []ops.Op{product(32768, 4096, 8192)}, 3230, 0.1},
	} {
		x, err := cost.Run([][]ops.Op{test.list, nil}, cost.Case{Case: sized(2, 0, 0, 0), Gated: true}, m,
			func(string) int { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x.Time/test.want-1) > test.by {
			t.Errorf("%s: %.1f us, want %.1f", test.what, x.Time, test.want)
		}
	}
}

func TestCurve(t *testing.T) {
	c := cost.Curve{{X: 1, Y: 2}, {X: 100, Y: 20}, {X: 1000, Y: 200}}
	for x, want := range map[float64]float64{0.1: 2, 1: 2, 10: math.Sqrt(40), 100: 20, 500: 100, 10000: 2000} {
		if got := c.At(x); math.Abs(got-want) > 1e-9*want {
			t.Errorf("at %v it is %v, want %v", x, got, want)
		}
	}
}

// The same case gives the same text, and the timeline draws what overlaps.
func TestPrint(t *testing.T) {
	p := lowered(t, "AllGatherLinear", catalog.AllGatherLinear)
	var texts []string
	for range 3 {
		x, err := cost.Predict(p, cost.Case{Case: sized(4, 4096, 8192, 7168), Gated: true}, h200(t))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := x.Print(&b); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, b.String())
	}
	if texts[0] != texts[1] || texts[1] != texts[2] {
		t.Error("the same case printed other texts")
	}
	for _, want := range []string{"\npure ", "\nlimited by compute: ", "\nmain     ####",
		"\nwork[3]  ....", "\ncopy     :==="} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %q in\n%s", want, texts[0])
		}
	}
}

// TestHosts: the bytes that a rank exchanges follow from the shape, and an MLP is worth several hosts by its width, as
// docs/hosts.md says. Both layers of a width have the same products and bytes.
func TestHosts(t *testing.T) {
	for _, x := range []struct {
		hosts, ranks  int
		hidden, width int64
		hides, worth  bool
	}{
		{2, 8, 4096, 14336, false, false},
		{2, 8, 8192, 28672, false, true},
		{2, 8, 16384, 53248, true, true},
		{2, 16, 16384, 53248, true, true},
		{4, 32, 4096, 14336, false, false},
		{4, 32, 16384, 53248, false, true},
	} {
		const rows = 8192
		first := cost.Case{Case: sized(x.ranks, rows, x.hidden, x.width/int64(x.ranks)), Gated: true}
		second := cost.Case{Case: sized(x.ranks, rows, x.width, x.hidden), Gated: true}
		first.Hosts, second.Hosts = x.hosts, x.hosts
		for _, l := range []struct {
			schedule.Schedule
			cost.Case
		}{{catalog.AllGatherLinearHosts, first}, {catalog.LinearReduceScatterHosts, second}} {
			p, err := cost.Predict(lowered(t, "Layer", l.Schedule), l.Case, h200(t))
			if err != nil {
				t.Fatal(err)
			}
			bytes := float64(2 * rows / x.ranks * int(x.hidden) * (x.hosts - 1)) // of one rank's rows, to each host
			if want := bytes / h200(t).Network.Rate; math.Abs(p.NetworkBound-want) > 1e-6*want {
				t.Errorf("%+v: %.1f us of bytes, want %.1f", l.Case, p.NetworkBound, want)
			}
			hides, worth := p.NetworkBound <= p.Beside(), p.Time < p.OneHost()
			if hides != x.hides || worth != x.worth {
				t.Errorf("%+v: hides %t, worth %t; want %t, %t: %+.1f us of %.1f on one host", l.Case, hides, worth,
					x.hides, x.worth, p.Time, p.OneHost())
			}
		}
	}
	bad := cost.Case{Case: sized(8, 8192, 4096, 1024)}
	bad.Hosts = 3
	_, err := cost.Predict(lowered(t, "Layer", catalog.AllGatherLinearHosts), bad, h200(t))
	if err == nil || !strings.Contains(err.Error(), "8 ranks on 3 hosts: the schedule takes [1 2 4 8]") {
		t.Error(err)
	}
}

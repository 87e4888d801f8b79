package explore_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/explore"
	"ovgen/verify/sampling"
)

var modes = [][]explore.Mode{
	{explore.Eager, explore.Eager},
	{explore.Captured, explore.Captured},
	{explore.Eager, explore.Captured, explore.Eager},
	{explore.InOrder, explore.InOrder},
}

// Every schedule of the catalog keeps every property: on two ranks in all modes, on more in one of them in turn or,
// where OVGEN_SOAK is set, in all.
func TestCatalog(t *testing.T) {
	for i, c := range catalog.All() {
		if !sampling.Takes(i, 3) {
			continue
		}
		p, err := lower.Lower(c.Name, c.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if p.OverHosts() {
			continue // TestHosts has them
		}
		for d := 2; d <= 4; d++ {
			shape := explore.ShapeOf(p, d)
			sys, err := explore.Of(p, shape, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range modes {
				t.Run(fmt.Sprintf("%s/%d/%v", c.Name, d, m), func(t *testing.T) {
					if d > 2 && (i+d+len(c.Name))%len(modes) > 0 && !sampling.All() {
						t.Skip("more than two ranks run in one mode in turn: OVGEN_SOAK is not set")
					}
					if n := len(p.Semaphores); n > 2 && d > 3 && !sampling.All() {
						t.Skipf("a program with %d semaphores takes long on %d ranks, and OVGEN_SOAK is not set", n, d)
					}
					if k := shape.Extents["K"]; k >= 512 && d > 2 && !sampling.All() {
						t.Skipf("sums over %d numbers take long on %d ranks, and OVGEN_SOAK is not set", k, d)
					}
					one := sys.With(sys.Ranks, m...)
					safe(t, explore.Explore(one))
					safe(t, explore.ExploreSerial(one))
				})
			}
		}
	}
}

// Parts of columns travel, and rows of batches that are an axis.
func TestColumns(t *testing.T) {
	for _, x := range []struct {
		tensors string
		op      schedule.Op
	}{
		{"A[M N/D] C[M/D N]", schedule.Copy("C", "A")},
		{"A[M N/D] C[M N]", schedule.Copy("C", "A")},
		{"A[M/D K] B[N/D K] C[M N]", schedule.Linear("C", "A", "B")},
		{"A[M K] B[N K/D] C[M N]", schedule.Linear("C", "A", "B")},
		{"A[M K/D] B[N K/D] Bias[N/D] C[M N/D]", schedule.Linear("C", "A", "B", schedule.Bias("Bias"))},
		{"A[3 M/D K] B[N K] C[3 M:D N]", schedule.BatchedLinear("C", "A", "B")},
		{"A[3 M K/D] B[N K/D] C[3 M/D N]", schedule.BatchedLinear("C", "A", "B")},
		{"A[M/D K] B[N K/D] Bias[N] C[M/D N]", schedule.Linear("C", "A", "B", schedule.Bias("Bias"))},
	} {
		p, err := lower.Lower("X", schedule.Schedule{Tensors: scheduletest.Tensors(x.tensors),
			Ops: []schedule.Op{x.op}})
		if err != nil {
			t.Fatal(err)
		}
		for d := 1; d <= 3; d++ {
			sys, err := explore.Of(p, explore.ShapeOf(p, d), nil, explore.Eager, explore.Eager)
			if err != nil {
				t.Fatal(err)
			}
			if v := explore.Explore(sys); len(v.Violations) > 0 {
				t.Errorf("%s on %d ranks: %v", x.tensors, d, v.Violations)
			}
		}
	}
}

// A function overwrites a result of the caller's that a product made.
func TestFunctionInPlace(t *testing.T) {
	for _, x := range []struct {
		tensors string
		f       schedule.Func
	}{
		{"A[M/D K] B[N/D K] C[M:D N/D]", schedule.SiLU()},
		{"A[M/D K] T[M W] B[N/D K] C[M:D N/D]", schedule.Rotary("T")},
	} {
		p, err := lower.Lower("X", schedule.Schedule{Tensors: scheduletest.Tensors(x.tensors),
			Ops: []schedule.Op{schedule.Linear("C", "A", "B", x.f)}})
		if err != nil {
			t.Fatal(err)
		}
		sys, err := explore.Of(p, explore.ShapeOf(p, 2), nil, explore.Eager, explore.Captured)
		if err != nil {
			t.Fatal(err)
		}
		safe(t, explore.Explore(sys))
	}
}

// The moves of a chain keep every property, whichever of them NCCL, the copy engine and one kernel do.
func TestMovesOfAChain(t *testing.T) {
	all := scheduletest.ByEach(catalog.BlockBehindAttention, []string{"R", "X", "C"}, nil, schedule.NCCL{},
		schedule.Shot{})
	lowered := 0
	for _, s := range all {
		p, err := lower.Lower("X", s)
		if err != nil {
			continue // Shot gathers nothing
		}
		lowered++
		for _, m := range modes[:2] {
			t.Run(fmt.Sprintf("%+v/%v", s.Moves, m), func(t *testing.T) {
				sys, err := explore.Of(p, explore.ShapeOf(p, 2), nil, m...)
				if err != nil {
					t.Fatal(err)
				}
				safe(t, explore.Explore(sys))
				safe(t, explore.ExploreSerial(sys))
			})
		}
	}
	if want := 3 * 2 * 3; lowered != want {
		t.Errorf("%d of %d are lowered, want %d", lowered, len(all), want)
	}
}

// Kernels that wait for peers behind rows that the copy engine gathers keep every property, in any order of issue.
func TestKernelsBehindGathers(t *testing.T) {
	var all []schedule.Schedule
	for _, w := range []schedule.Way{schedule.Shot{}, schedule.Shot{Signals: schedule.MemOps}, schedule.PushShot{},
		schedule.PushShot{Words: true}} {
		all = append(all, scheduletest.By(catalog.GatedMLP, "C", w))
	}
	toAll := scheduletest.By(catalog.GatedMLP, "C", schedule.TwoShot{})
	toAll.Tensors = slices.Clone(toAll.Tensors)
	for i := range toAll.Tensors {
		if t := &toAll.Tensors[i]; t.Name == "C" || t.Name == "Residual" {
			t.Axes = []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.N)}
		}
	}
	all = append(all, toAll)
	for _, w := range []schedule.Way{schedule.Pull{Once: true}, schedule.Pull{Once: true, By: schedule.Kernels}} {
		s := scheduletest.By(catalog.GatedMLP, "A", w)
		s.Moves = append(s.Moves, schedule.Move{Of: "C", Way: schedule.Shot{}})
		all = append(all, s)
	}
	small := len(all)
	for _, w := range []schedule.Way{schedule.GatherShot{}, schedule.PushGather{}, schedule.Pull{Once: true}} {
		all = append(all, scheduletest.By(catalog.LlamaLayer, "Y", w))
	}
	for i, s := range all {
		p, err := lower.Lower("X", s)
		if err != nil {
			t.Errorf("%v: %v", s.Moves, err)
			continue
		}
		for _, ranks := range []int{2, 3} {
			if ranks > 2 && i >= small {
				continue // a layer of two gathers and two sums
			}
			for _, m := range modes[:2] {
				sys, err := explore.Of(p, explore.ShapeOf(p, ranks), nil, m...)
				if err != nil {
					t.Fatal(err)
				}
				safe(t, explore.Explore(sys))
				safe(t, explore.ExploreSerial(sys))
			}
		}
	}
}

// Every schedule over hosts keeps every property on each number of them, whether NCCL keeps what is sent
// or waits for who gets it.
func TestHosts(t *testing.T) {
	gather, scatter := catalog.AllGather, catalog.ReduceScatter
	gather.Mesh, scatter.Mesh = schedule.Hosts(), schedule.Hosts()
	parts, sums := catalog.AllGatherLinearHosts, catalog.LinearReduceScatterHosts
	parts.Moves = []schedule.Move{{Of: "A", Way: schedule.Rails{Parts: 2}}}
	layers := catalog.TensorParallelMLP
	layers.Mesh = schedule.Hosts()
	sums.Moves = []schedule.Move{{Of: "C", Way: schedule.Rails{Parts: 2}}}
	for _, c := range append(catalog.All(), catalog.Named{Name: "AllGatherHosts", Schedule: gather},
		catalog.Named{Name: "ReduceScatterHosts", Schedule: scatter}, catalog.Named{Name: "InParts", Schedule: parts},
		catalog.Named{Name: "SumsInParts", Schedule: sums}, catalog.Named{Name: "MLP", Schedule: layers}) {
		p, err := lower.Lower(c.Name, c.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if !p.OverHosts() {
			continue
		}
		for d := 2; d <= 4; d++ {
			for _, hosts := range p.HostsOf(d) {
				shape := explore.ShapeOf(p, d)
				shape.Hosts = hosts
				for i, m := range modes {
					t.Run(fmt.Sprintf("%s/%d on %d/%v", c.Name, d, hosts, m), func(t *testing.T) {
						if i > 1 && !sampling.All() {
							t.Skip("only eager runs and replays alone, since OVGEN_SOAK is not set")
						}
						sys, err := explore.Of(p, shape, nil, m...)
						if err != nil {
							t.Fatal(err)
						}
						safe(t, explore.Explore(sys))
						safe(t, explore.ExploreSerial(sys))
						sys.Unbuffered = true
						safe(t, explore.Explore(sys))
					})
				}
			}
		}
	}
}

// TestFewRows: what is cut by elements, or in balanced parts, keeps every property at rows that the ranks don't
// divide, too.
func TestFewRows(t *testing.T) {
	tried := 0
	for _, c := range catalog.All() {
		p, err := lower.Lower(c.Name, c.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		_, balanced := p.Balanced()
		if !balanced && !slices.ContainsFunc(p.Checks, func(d hostir.Divide) bool { return d.With != "" }) {
			continue
		}
		tried++
		for d := 2; d <= 4; d++ {
			for _, rows := range []int64{1, int64(d) + 1} {
				shape := explore.ShapeOf(p, d)
				shape.Extents["M"], shape.Counts = rows, p.Counts(hostir.Env{"M": rows, "D": int64(d)})
				sys, err := explore.Of(p, shape, nil, explore.Eager, explore.Eager)
				if err != nil {
					t.Fatal(err)
				}
				safe(t, explore.Explore(sys))
			}
		}
	}
	if tried < 3 {
		t.Errorf("%d programs", tried)
	}
}

func safe(t *testing.T, v explore.Verdict) {
	t.Helper()
	t.Logf("%d states, %d steps", v.States, v.Steps)
	if !v.Safe() {
		t.Errorf("complete %v", v.Complete)
		for _, x := range v.Violations {
			t.Errorf("%s: %s", x.Property, x.Text)
		}
	}
}

// A thousand random programs are tried, ten times as many where OVGEN_SOAK is set, unless the command line says
// otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	switch {
	case set:
	case sampling.All():
		flag.Set("rapid.checks", "10000")
	default:
		flag.Set("rapid.checks", "1000")
	}
	os.Exit(m.Run())
}

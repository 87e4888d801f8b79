package simulate

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/mutate"
)

func lowered(t *testing.T, name string, s schedule.Schedule) *hostir.Program {
	p, err := lower.Lower(name, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mutants(t *testing.T, name string, s schedule.Schedule) []mutate.Mutant {
	list, err := mutate.All(lowered(t, name, s))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// seeds is few, or 1000 where OVGEN_SOAK is set.
func seeds() uint64 {
	if os.Getenv("OVGEN_SOAK") != "" {
		return 1000
	}
	return 2
}

// others are schedules that the catalog lacks.
var others = []catalog.Named{
	{Name: "a function in place", Schedule: of("A[M/D K] V[F/D K] W[F/D K] U[M:D F/D] C[M:D F/D]",
		schedule.Linear("U", "A", "V"), schedule.Linear("C", "A", "W", schedule.SwiGLU("U")))},
	{Name: "rows of a gradient", Schedule: of("A[M N/D] B[M/D K] C[N/D K]", schedule.Gradient("C", "A", "B"))},
	{Name: "sums over hosts in parts", Schedule: scheduletest.By(catalog.LinearReduceScatterHosts, "C",
		schedule.Rails{Parts: 2})},
	{Name: "sums to all hosts in parts", Schedule: scheduletest.By(catalog.LinearAllReduceHosts, "C",
		schedule.Rails{Parts: 3})},
	{Name: "an MLP over hosts", Schedule: schedule.Schedule{Mesh: schedule.Hosts(), Tensors: catalog.GatedMLP.Tensors,
		Ops: catalog.GatedMLP.Ops}},
	{Name: "columns of a gradient", Schedule: of("A[M/D N] B[M K/D] C[N K/D]", schedule.Gradient("C", "A", "B"))},
}

// of is a schedule of operations.
func of(tensors string, ops ...schedule.Op) schedule.Schedule {
	return schedule.Schedule{Tensors: scheduletest.Tensors(tensors), Ops: ops}
}

// The right programs are exact and free of races, in any order.
func TestRight(t *testing.T) {
	for _, s := range append(catalog.All(), others...) {
		p := lowered(t, s.Name, s.Schedule)
		if what := beyond(p); what != "" {
			t.Logf("not %s: it has %s", s.Name, what)
			continue
		}
		cases, err := mutate.Right(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			for _, captured := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/captured %v", s.Name, c.Shape.Ranks, captured),
					func(t *testing.T) {
						for seed := range seeds() {
							if out := run(t, c, Config{Seed: seed, Runs: 3,
								Captured: captured}); out.Failed() {
								t.Fatalf("seed %d: %s", seed, out)
							}
						}
					})
			}
		}
	}
}

// applies reports whether a program has functions by kernels of their own, or calls.
func applies(p *hostir.Program) (found bool) {
	hostir.Steps(p.Body, func(s hostir.Step) {
		found = found || s.Do == hostir.Apply || s.Do == hostir.Call
	})
	return found
}

// beyond is what of a program this package can't carry out, operation by operation; its package's own test runs it.
func beyond(p *hostir.Program) (what string) {
	hostir.Steps(p.Body, func(s hostir.Step) {
		if s.Do == hostir.Tiles || s.Do == hostir.Scatter || s.Do.Lands() {
			what = string(s.Do)
		}
	})
	return what
}

func run(t *testing.T, c mutate.Case, cfg Config) (out Outcome) {
	synctest.Test(t, func(t *testing.T) { out = Run(c, cfg) })
	return out
}

// ways to run a mutant: as streams, as a graph, and on one hardware queue.
var ways = []Config{{Runs: 3}, {Runs: 3, Captured: true}, {Runs: 3, Queues: 1}}

// fails is the failure of the first seed with which a mutant fails.
func fails(t *testing.T, c mutate.Case, seeds uint64) (text string) {
	for seed := range seeds {
		for _, cfg := range ways {
			cfg.Seed, cfg.Mutant = seed, true
			if out := run(t, c, cfg); out.Failed() {
				return fmt.Sprintf("seed %d: %s", seed, out)
			}
		}
	}
	return ""
}

// Mutants that are caught fail on the simulator too, nearly all within ten seeds;
// right and safe ones never do, with three, or with ten where OVGEN_SOAK is set. All of one
// schedule are tried and one of each other. Chains that apply functions have many mutants, so
// theirs are tried where OVGEN_SOAK is set.
func TestMutants(t *testing.T) {
	all := mutants(t, "AllGatherLinear", catalog.AllGatherLinear)
	schedules := catalog.All()
	for n, s := range schedules {
		p := lowered(t, s.Name, s.Schedule)
		switch what := beyond(p); {
		case s.Name == "AllGatherLinear":
			continue
		case what != "":
			t.Logf("no mutants of %s: it has %s", s.Name, what)
			continue
		case os.Getenv("OVGEN_SOAK") == "" && applies(p):
			t.Logf("no mutants of %s: OVGEN_SOAK is not set", s.Name)
			continue
		}
		list, err := mutate.All(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list[len(list)*n/len(schedules)]) // another part of the list for each schedule
	}
	caught, failed := 0, 0
	for _, m := range all {
		j, err := mutate.Judge(m, mutate.Prove)
		if err != nil {
			t.Fatal(err)
		}
		tried, text := uint64(10), ""
		if j.Class != mutate.Caught && os.Getenv("OVGEN_SOAK") == "" {
			tried = 3
		}
		for _, c := range m.Cases {
			if text == "" {
				text = fails(t, c, tried)
			}
		}
		switch {
		case j.Class == mutate.Caught:
			if caught++; text != "" {
				failed++
			} else {
				t.Logf("never failed: %s\n\t%s", m.Name(), j.Why[0])
			}
		case text != "":
			t.Errorf("%s, but %s: %s", j.Class, m.Name(), text)
		}
	}
	t.Logf("%d of %d mutants that were caught fail", failed, caught)
	if failed*10 < caught*9 {
		t.Errorf("%d of %d mutants that were caught fail: too few", failed, caught)
	}
}

// Mutants that matter, each with what the simulator shows with a seed.
func TestNamedMutants(t *testing.T) {
	for _, x := range []struct{ kind, text, want string }{
		{"drop", "main: Post ready", "hang"},
		{"double", "copy: Wait read", "hang"},
		{"drop a fork", "copy, work[1..D-1]: Synchronize(main) of copy", "race"},
		{"drop", "copy: Wait ready[from]", "hang"},
		{"move", "copy: Wait ready[from] from place 3 to 4", "wrong"},
		{"shift an index", "copy: Wait ready[from] peer", "hang"},
		{"shift an index", "copy: Set(Agathered[from], A@from) source", "wrong"},
		{"drop", "work[i]: Synchronize(copy)", "wrong"},
		{"move", "copy: Post read -> every peer from place", "hang"},
		{"drop a join", "main: Synchronize(copy), Synchronize(work[1..D-1]) of work", "race"},
		{"share a word", "ready is read too", "hang"},
		{"drop the acknowledgement", "read", "hang"},
		{"reuse a buffer early", "one slice", "wrong"},
		{"share a workspace", "", "race"},
		{"move", "main: Post ready -> every peer from place 1 to 6", "hang"},
	} {
		t.Run(x.kind+" "+x.text, func(t *testing.T) {
			m := named(t, x.kind, x.text)
			text := fails(t, m.Cases[len(m.Cases)-1], 20)
			if !strings.Contains(text, x.want) {
				t.Errorf("%q, want a %s", text, x.want)
			}
			t.Log(text)
		})
	}
}

func named(t *testing.T, kind, text string) mutate.Mutant {
	for _, m := range mutants(t, "AllGatherLinear", catalog.AllGatherLinear) {
		if m.Kind == kind && strings.HasPrefix(m.Text, text) {
			return m
		}
	}
	t.Fatalf("no mutant %s: %s", kind, text)
	return mutate.Mutant{}
}

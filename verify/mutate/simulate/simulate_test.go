//go:build !nosim

package simulate_test

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/mutate"
	"ovgen/verify/mutate/simulate"
)

var schedules = []struct {
	name string
	s    schedule.Schedule
}{
	{"AllGatherMatmul", catalog.AllGatherMatmul},
	{"AllGatherLinear", catalog.AllGatherLinear},
	{"AllGatherLinearKernels", catalog.AllGatherLinearKernels},
}

func mutants(t *testing.T, name string, s schedule.Schedule) []mutate.Mutant {
	p, err := lower.Lower(name, s)
	if err != nil {
		t.Fatal(err)
	}
	list, err := mutate.All(p)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// seeds is 20, or 1000 where OVGEN_SOAK is set.
func seeds() uint64 {
	if os.Getenv("OVGEN_SOAK") != "" {
		return 1000
	}
	return 20
}

// The right programs are exact and free of races, whatever the order.
func TestRight(t *testing.T) {
	for _, s := range schedules {
		tried := map[int]bool{}
		for _, m := range mutants(t, s.name, s.s) {
			for _, c := range m.Cases {
				if tried[c.Shape.Ranks] {
					continue
				}
				tried[c.Shape.Ranks] = true
				for _, captured := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%d/captured %v", s.name, c.Shape.Ranks, captured), func(t *testing.T) {
						for seed := range seeds() {
							if out := run(t, c, simulate.Config{Seed: seed, Runs: 3, Captured: captured}); out.Failed() {
								t.Fatalf("seed %d: %s", seed, out)
							}
						}
					})
				}
			}
		}
	}
}

func run(t *testing.T, c mutate.Case, cfg simulate.Config) (out simulate.Outcome) {
	synctest.Test(t, func(t *testing.T) { out = simulate.Run(c, cfg) })
	return out
}

func TestSurvey(t *testing.T) {
	if os.Getenv("SURVEY") == "" {
		t.Skip()
	}
	s := schedules[1]
	for _, m := range mutants(t, s.name, s.s) {
		c := m.Cases[len(m.Cases)-1]
		j, err := mutate.Judge(m, mutate.Prover)
		if err != nil {
			t.Fatal(err)
		}
		found := "right"
		var at uint64
		for at = 0; at < 10 && found == "right"; at++ {
			found = run(t, c, simulate.Config{Seed: at, Runs: 3, Mutant: true}).String()
			if found == "right" {
				found = run(t, c, simulate.Config{Seed: at, Runs: 3, Mutant: true, Captured: true}).String()
			}
		}
		fmt.Printf("%-8s | %.60s | seed %d: %.90s\n", j.Class, m.Name()[17:], at-1, found)
	}
}

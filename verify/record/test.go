package record

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/schedule/lower"
	"ovgen/verify/harness"
	"ovgen/verify/prove"
)

// Test records the operations that a generated package enqueues: on as many ranks as it is proven for (above 4
// on the most alone, unless OVGEN_SOAK is set), at an odd shape in each of its types on the fewest
// ranks (on all, where OVGEN_SOAK is set) and in one or another on the rest, and in one or another
// at a small shape and at one with chunks beyond 4 GiB, with uneven parts also for counts of zero;
// in first and later runs, eager, captured and replayed. Each list of operations has to equal the
// package's schedule's, and where sizes are small it is proven again. It runs nothing, so it needs no simulator.
func Test(t *testing.T, p harness.Program) {
	if err := says(p); err != nil {
		t.Fatal(err)
	}
	program, err := lower.Lower(p.Name, p.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	subject, ranks := &Subject{Made: p, Program: program}, p.Ranks
	if len(ranks) == 0 { // no size was proven
		ranks = []int{2, 3, 4}
	}
	soak := os.Getenv("OVGEN_SOAK") != ""
	for _, d := range ranks {
		if !soak && d > 4 && d != slices.Max(ranks) {
			t.Logf("not on %d ranks: OVGEN_SOAK is not set", d)
			continue
		}
		for n, typ := range p.Types {
			list, err := cases(program, d, typ.Size())
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range list {
				each := i == odd && (d == ranks[0] || soak)
				if !each && (d+i)%len(p.Types) != n {
					continue // another size of the group has it in this type
				}
				name := fmt.Sprintf("%d ranks, %s %s", d, c, typ)
				if program.OverHosts() {
					hosts := program.HostsOf(d)
					c.Hosts = hosts[i%len(hosts)]
					name = fmt.Sprintf("%d ranks on %d hosts, %s %s", d, c.Hosts, c, typ)
				}
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						lists, err := subject.Record(t.Context(), c.Case, typ)
						if err == nil && !c.large {
							err = subject.Prove(t.Context(), c.Case, lists)
						}
						if err != nil {
							t.Error(err)
						}
					})
				})
			}
		}
	}
}

// says compares the package's description of itself with the text of its proof.
func says(p harness.Program) error {
	if len(p.Ranks) == 0 && p.Proof == "unproven" {
		return nil
	}
	var proven prove.Report
	for _, d := range p.Ranks {
		proven.Sizes = append(proven.Sizes, prove.Size{Ranks: d})
	}
	if want := "proven for D = " + proven.Ranks() + ", stamp "; !strings.HasPrefix(p.Proof, want) {
		return fmt.Errorf("the package accepts %v ranks, and its proof is %q", p.Ranks, p.Proof)
	}
	if p.Eager != strings.Contains(p.Proof, ", eager only: ") {
		return fmt.Errorf("the package's Eager is %t, and its proof is %q", p.Eager, p.Proof)
	}
	return nil
}

package record

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/schedule/lower"
	"ovgen/verify/harness"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// Test records the operations that a generated package enqueues, and compares each list with the operations of the
// package's schedule. It runs nothing, so it needs no simulator.
//
// It records on the numbers of ranks for which the package is proven; above 4 ranks only on the greatest, unless
// OVGEN_SOAK is set. At an odd shape it records each of the package's types on the fewest ranks (on all, if OVGEN_SOAK
// is set), and one type on the others. At a small shape and at a shape with chunks beyond 4 GiB, and with uneven parts
// for counts of zero too, it records one type each. It records first and later runs, eager, captured and replayed.
// Where sizes are small, it proves the list again.
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
	soak := sampling.All()
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
					continue // another number of ranks has the shape in this type
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

package mutate_test

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/mutate"
)

// Programs whose operand and result are made one memory: prover and explorer take a program that still computes the
// same, and find the race in the others.
func TestMerged(t *testing.T) {
	scatterOneShot := catalog.ReduceScatter
	scatterOneShot.Moves = []schedule.Move{{Of: "C", Way: schedule.Shot{Signals: schedule.MemOps}}}
	for _, x := range []struct {
		name         string
		s            schedule.Schedule
		inner, outer string
		race         bool
	}{
		{"AllGather", catalog.AllGather, "A", "C", false},
		{"ReduceScatter", catalog.ReduceScatter, "C", "A", false},
		{"AllReduceTwoShot", catalog.AllReduceTwoShot, "A", "C", false},
		{"AllReduceTwoShot", catalog.AllReduceTwoShot, "C", "A", false},
		{"AllReduceOneShot", catalog.AllReduceOneShot, "A", "C", true},
		{"ReduceScatterOneShot", scatterOneShot, "C", "A", false},
		{"AllToAll", catalog.AllToAll, "A", "C", true},
	} {
		t.Run(x.name+", "+x.inner+" within "+x.outer, func(t *testing.T) {
			p, err := lower.Lower(x.name, x.s)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Merge(x.inner, x.outer); err != nil {
				t.Fatal(err)
			}
			cases, err := mutate.Right(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				for who, look := range map[string]mutate.Checker{"prover": mutate.Prove, "explorer": mutate.Explore} {
					o, err := look(c)
					if err != nil || o.Safe == x.race || x.race && !strings.Contains(o.Text, "race") {
						t.Errorf("%d ranks, %s: %+v, %v, want a race: %v", c.Shape.Ranks, who, o, err, x.race)
					}
				}
			}
		})
	}
}

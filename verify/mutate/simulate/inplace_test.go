package simulate

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/verify/mutate"
)

// Programs whose operand and result are made one memory: prover, explorer and simulator,
// each by its own means, take those that still compute the same and find the race in the
// others.
func TestInPlace(t *testing.T) {
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
			p := lowered(t, x.name, x.s)
			if err := p.Merge(x.inner, x.outer); err != nil {
				t.Fatal(err)
			}
			cases, err := mutate.Right(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				for who, look := range map[string]mutate.Checker{"prover": mutate.Prove,
					"explorer": mutate.Explore} {
					o, err := look(c)
					if err != nil || o.Safe == x.race || x.race &&
						!strings.Contains(o.Text, "race") {
						t.Errorf("%d ranks, %s: %+v, %v, want a race: %v", c.Shape.Ranks, who,
							o, err, x.race)
					}
				}
				raced := false
				for seed := range uint64(20) {
					for _, cfg := range ways {
						cfg.Seed = seed
						out := run(t, c, cfg)
						raced = raced || len(out.Races) > 0
						if out.Failed() && !x.race {
							t.Errorf("%d ranks, seed %d: %s", c.Shape.Ranks, seed, out)
						}
					}
				}
				if raced != x.race {
					t.Errorf("%d ranks: the simulator finds a race: %v, want %v", c.Shape.Ranks,
						raced, x.race)
				}
			}
		})
	}
}

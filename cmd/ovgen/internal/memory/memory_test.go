package memory_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/cmd/ovgen/internal/memory"
	"ovgen/generated/programs"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/harness"
	"ovgen/verify/ops"
)

// Of equals the Memory method of the generated package, for each schedule of the catalog.
func TestAsGenerated(t *testing.T) {
	schedules := map[string]schedule.Schedule{}
	for _, n := range catalog.All() {
		schedules[strings.ToLower(n.Name)] = n.Schedule
	}
	for _, made := range programs.All {
		t.Run(made.Name, func(t *testing.T) {
			s, ok := schedules[made.Name]
			if !ok {
				t.Fatalf("the catalog has no %s", made.Name)
			}
			p, err := lower.Lower(made.Name, s)
			if err != nil {
				t.Fatal(err)
			}
			typ := made.Types[len(made.Types)-1]
			for _, ranks := range []int{1, 2, 3, 4} {
				d := int64(ranks)
				c := ops.Case{Ranks: ranks, ElementBits: 8 * typ.Size(), Extents: hostir.Env{"M": 48 * d, "K": 512 * d,
					"N": 640 * d, "N2": 16 * d, "N3": 112 * d, "F": 64 * d, "W": 8, "P": 48}}
				want, err := made.Memory(ranks, harness.Sized(c.Extents, typ))
				if err != nil {
					t.Fatal(err)
				}
				_, balanced := p.Balanced()
				count := int64(1)
				if _, all := s.Multiplied(); all {
					count = 48 // products take as many rows as counts add up to
				}
				for range ranks * ranks {
					if balanced {
						break // they follow from the shape
					}
					c.Counts = append(c.Counts, count)
				}
				got, err := memory.Of(p, c)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%d ranks: generated (-), here (+):\n%s", ranks, diff)
				}
			}
		})
	}
}

// A size that is missing is an error, and no amount.
func TestMissing(t *testing.T) {
	p, err := lower.Lower("AllGatherV", catalog.AllGatherV)
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]ops.Case{
		"buffer A: ": {Ranks: 2, Extents: hostir.Env{"M": 8, "N": 8}, ElementBits: 16, Counts: []int64{4, 4}},
		"no count ":  {Ranks: 2, Extents: hostir.Env{"M": 8, "N": 8, "P": 4}, ElementBits: 16},
	} {
		if m, err := memory.Of(p, c); err == nil || !strings.Contains(err.Error(), want) || m.Caller() != 0 {
			t.Errorf("memory %v, error %v, want one with %q", m, err, want)
		}
	}
}

func TestText(t *testing.T) {
	m := plan.Memory{Buffers: []plan.BufferMemory{{Name: "A", Bytes: 3 << 20}, {Name: "C", Bytes: 512}},
		Staging: 2 << 30, Words: 8, Tuning: 1 << 10}
	for workspaces, want := range map[int]string{0: "no stream runs products",
		1:  "   32.0 MiB  one stream runs products",
		29: "  928.0 MiB  29 streams run products, with 32.0 MiB each"} {
		m.Workspaces = workspaces
		text := memory.Text(m)
		for _, w := range []string{want, "A 3.0 MiB, C 512 bytes", "stages 2.0 GiB and keeps 8 words", "1.0 KiB"} {
			if !strings.Contains(text, w) {
				t.Errorf("%d workspaces: no %q in\n%s", workspaces, w, text)
			}
		}
	}
}

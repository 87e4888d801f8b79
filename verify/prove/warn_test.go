package prove_test

import (
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
)

// A copy that waits for a product which it does not need is a warning that names the choice
// that caused it.
func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*schedule.Schedule)
		want []string // suggestions, each of one warning; D = 4
	}{
		{"default", func(s *schedule.Schedule) {}, nil},
		{"start in the loop", func(s *schedule.Schedule) {
			*s = scheduletest.By(*s, "A", schedule.Naive{Copied: true, SignalsInStep: true, StartInLoop: true})
		}, []string{"drop Moves[0].Way.StartInLoop"}},
		{"start in the loop, with step", func(s *schedule.Schedule) {
			*s = scheduletest.By(*s, "A", schedule.Naive{Copied: true, StartInLoop: true, WithStep: true})
		}, []string{"drop Moves[0].Way.StartInLoop"}},
		{"four streams in turn", func(s *schedule.Schedule) { *s = catalog.AllGatherLinearCollective8 },
			[]string{"they share a stream"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := catalog.AllGatherLinear
			test.set(&s)
			r, err := prove.Schedule(t.Context(), program(t, "X", s), prove.Options{Ranks: []int{4}})
			if err != nil {
				t.Fatal(err)
			}
			got := r.Sizes[0].Warnings
			if len(got) != len(test.want) {
				t.Fatalf("%d warnings, want %d: %v", len(got), len(test.want), got)
			}
			for i, w := range got {
				if !strings.Contains(w.String(), test.want[i]) || w.Count == 0 || len(w.Path) < 2 {
					t.Errorf("warning %v, want %q", w, test.want[i])
				}
			}
		})
	}
}

// Copies that are forked after the own shard's product wait for it.
func TestForkedTooLate(t *testing.T) {
	s := scheduletest.By(catalog.AllGatherLinear, "A", schedule.Pull{WithStep: true})
	p := program(t, "ForkedTooLate", s)
	i := slices.IndexFunc(p.Body, func(n hostir.Node) bool {
		s, ok := n.(hostir.Step)
		return ok && s.Kind() == hostir.ProductKind
	})
	own := p.Body[i]
	p.Body = append([]hostir.Node{own}, slices.Delete(p.Body, i, i+1)...)
	report, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{4}})
	if err != nil {
		t.Fatal(err)
	}
	w := report.Sizes[0].Warnings
	if len(w) != 1 || !strings.Contains(w[0].String(), "forked after it: fork before it") {
		t.Errorf("warnings %v", w)
	}
}

// A copy of what a product has made needs that product, and is no loss.
func TestNeededProduct(t *testing.T) {
	lists := parse(t, "main S[0:8] = A; main T[0:8] = A * B; main post ready 1; main wait read 1",
		"main wait ready 0; main S[0:8] = T@0[0:8]; main post read 0; main T[0:8] = A * B")
	size, err := prove.Lists(t.Context(), needed(model, lists), lists, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range size.Warnings {
		t.Error(w)
	}
}

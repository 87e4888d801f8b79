package explore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
)

func lowered(t *testing.T, name string, s schedule.Schedule) *hostir.Program {
	t.Helper()
	p, err := lower.Lower(name, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSmall: each schedule is explored from the fewest ranks on, up to the first number for which it is too large.
func TestSmall(t *testing.T) {
	for _, x := range []struct {
		name string
		schedule.Schedule
		ranks, want []int
	}{
		{"AllGatherLinear", catalog.AllGatherLinear, []int{1, 2, 3, 4, 5, 6, 7, 8}, []int{1, 2, 3}},
		{"AllGatherLinear", catalog.AllGatherLinear, []int{3, 8}, []int{3}},
		{"AllGatherLinear", catalog.AllGatherLinear, []int{8}, nil},
		{"LlamaLayer", catalog.LlamaLayer, []int{1, 2, 3}, []int{1, 2}},
		{"AllGatherLinearHosts", catalog.AllGatherLinearHosts, []int{2, 3, 4}, []int{2}},
	} {
		p := lowered(t, x.name, x.Schedule)
		got, err := explore.Small(p, x.ranks, true)
		if err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s of %v: explored %v, want %v, %v", x.name, x.ranks, got, x.want, err)
		}
	}
}

// TestSmallRefuses: a program without its waits is refused, on the fewest ranks that have peers; and where it is too
// large to find that, nothing is said.
func TestSmallRefuses(t *testing.T) {
	p := lowered(t, "Hasty", catalog.AllGatherLinear)
	p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
		if w, ok := s.Signal(); ok && w.Wait {
			return nil
		}
		return []hostir.Node{s}
	})
	explored, err := explore.Small(p, []int{1, 2, 3}, true)
	var refused *explore.Refusal
	if !errors.As(err, &refused) || refused.Ranks != 2 || len(refused.Order) == 0 ||
		!slices.Equal(explored, []int{1}) || !strings.HasPrefix(err.Error(), "explore Hasty for D = 2 (eager): ") {
		t.Errorf("explored %v: %v", explored, err)
	}
	if explored, err := explore.Small(p, []int{8}, true); err != nil || explored != nil {
		t.Errorf("on 8 ranks: explored %v: %v", explored, err)
	}
}

// TestLookIsBounded: a search that meets more states than it may is not complete, and refuses nothing.
func TestLookIsBounded(t *testing.T) {
	p := lowered(t, "X", catalog.AllGatherLinearTiles)
	sys, err := explore.Of(p, explore.ShapeOf(p, 3), nil, explore.Captured, explore.Captured)
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]bool{1: false, 0: true} {
		sys.Limit = limit
		if v := sys.Look(); v.Complete != want || len(v.Violations) > 0 {
			t.Errorf("at most %d states: complete %t, %v", limit, v.Complete, v.Violations)
		}
	}
}

// TestLearned: a system that knows what its operations make finds out what one does that knows nothing, also where an
// operation of a rank is missing: then others read what they did not read before.
func TestLearned(t *testing.T) {
	p := lowered(t, "X", catalog.AllGatherLinearFP8)
	fresh, err := explore.Of(p, explore.ShapeOf(p, 2), nil, explore.Eager, explore.Eager)
	if err != nil {
		t.Fatal(err)
	}
	fresh.First = true
	learned := fresh.Learned(fresh.Modes...)
	safe(t, explore.Explore(learned.With(fresh.Ranks, explore.Eager, explore.Eager, explore.Eager)))
	for i, o := range fresh.Ranks[1] {
		lists := slices.Clone(fresh.Ranks)
		lists[1] = slices.Delete(slices.Clone(lists[1]), i, i+1)
		want := explore.Explore(fresh.With(lists, fresh.Modes...)).Safe()
		if got := explore.Explore(learned.With(lists, fresh.Modes...)).Safe(); got != want {
			t.Errorf("without %s it is safe %t, want %t", &o, got, want)
		}
	}
}

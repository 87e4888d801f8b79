package group

import (
	"errors"
	"fmt"
	"testing"

	"ovgen/runtime/group/store"
)

func TestReports(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("run plan 3: %w", err) }
	for name, x := range map[string]struct {
		err  error
		want [3]bool
	}{
		"nothing":              {nil, [3]bool{}},
		"an own error":         {errors.New("no such file"), [3]bool{true, true, true}},
		"an abort":             {wrap(&AbortError{By: 1, Cause: errors.New("x")}), [3]bool{false, true, false}},
		"a failed peer":        {wrap(&PeerError{Rank: 2}), [3]bool{false, false, true}},
		"ranks that don't fit": {wrap(&CheckError{Ranks: []int{1, 2}}), [3]bool{false, true, false}},
		"a dead rank":          {wrap(&store.GoneError{Rank: 2}), [3]bool{true, false, false}},
		"rank 0 dead":          {wrap(&store.GoneError{Rank: 0}), [3]bool{false, true, false}},
		"an abort for it": {wrap(&AbortError{By: 1, Cause: &store.GoneError{Rank: 2}}),
			[3]bool{false, true, false}},
	} {
		for r, want := range x.want {
			if got := Reports(x.err, r); got != want {
				t.Errorf("%s: rank %d reports: %v", name, r, got)
			}
		}
	}
}

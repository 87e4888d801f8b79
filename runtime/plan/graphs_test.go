package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

// TestStaleGraphs binds shared memory A1, A2 and A1 again on rank 0, of which the plan keeps several graphs, while
// the memory of rank 1 is new each time. A graph of the first Bind holds rank 1's first address, so no later run
// replays it.
func TestStaleGraphs(t *testing.T) {
	inWorldOf(t, 2, sim.Config{Seed: 5}, nil, 8, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			seed := uint64(0)
			right := func() error {
				seed++
				return errors.Join(t.bind(w.Context()), t.fill(seed), t.plan.Run(w.Context()), t.check(t.C, seed))
			}
			first, c := t.A, t.C
			other := t.C
			if err := replace(&other, t.driver); err != nil {
				return err
			}
			retired := []*device.Buffer{}
			for i := range 3 {
				if i > 0 {
					retired = append(retired, t.A)
					if err := replace(&t.A, t.driver); err != nil {
						return err
					}
				}
				if t.rank == 0 && i == 2 {
					retired, t.A = append(retired, t.A), first
				}
				for _, t.C = range []*device.Buffer{c, other, c} { // the last one has a graph already
					if err := right(); err != nil {
						return fmt.Errorf("bind %d: %w", i+1, err)
					}
				}
			}
			errs := []error{other.Close()}
			for _, b := range slices.Compact(retired) {
				if b != t.A {
					errs = append(errs, b.Close())
				}
			}
			return errors.Join(errs...)
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

// TestGraphBehindRun runs with memory that has no graph yet, behind a run in flight whose peer does not come. A graph
// can't be made before the device is idle, so Run waits for that run first, and its deadline holds.
func TestGraphBehindRun(t *testing.T) {
	inWorld(t, 2, sim.Config{NoRaces: true}, nil, func(w *world) {
		toys := w.toys()
		w.each(func(r int) {
			t, g := toys[r], w.groups[r]
			if r == 1 {
				<-g.Done()
				return
			}
			w.must(errors.Join(replace(&t.C, t.driver), t.plan.Enqueue(t.plan.main.own), t.bind(w.Context())))
			ctx, cancel := context.WithTimeout(w.Context(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			err := t.plan.Run(ctx)
			if took := time.Since(began); !errors.As(err, new(*group.AbortError)) || took > timeout/2 {
				w.Errorf("after %v: %v", took, err)
			}
		})
	})
}

package harness

import (
	"context"
	"testing"
	"testing/synctest"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/allgatherlinearhandlesinloop"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/ipc"
)

// counting is a plan that notes what the handle cache has done after each of its runs.
type counting struct {
	Plan
	g    *group.Group
	note func(ipc.Counters)
}

func (p counting) Enqueue(s driver.Stream) error {
	err := p.Plan.Enqueue(s)
	p.note(p.g.Imports().Counters())
	return err
}

func (p counting) Run(ctx context.Context) error {
	err := p.Plan.Run(ctx)
	p.note(p.g.Imports().Counters())
	return err
}

// TestHandlesInLoop: the exchange of handles in the loop sends messages in the first
// run after Bind, and in every later one finds each peer's handle in the cache.
func TestHandlesInLoop(t *testing.T) {
	for _, x := range []struct {
		name   string
		inLoop bool
		make   func(context.Context, *group.Group, Shape) (Plan, error)
	}{
		{"in the loop", true, adapt(allgatherlinearhandlesinloop.New, (*allgatherlinearhandlesinloop.Plan).Bind)},
		{"hoisted", false, adapt(allgatherlinear.New, (*allgatherlinear.Plan).Bind)},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := *program(nil)
			p.Eager = x.inLoop
			const ranks = 3
			var seen [ranks][]ipc.Counters
			p.New = func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
				plan, err := x.make(ctx, g, s)
				if err != nil {
					return nil, err
				}
				return counting{plan, g, func(c ipc.Counters) { seen[g.Rank()] = append(seen[g.Rank()], c) }}, nil
			}
			synctest.Test(t, func(t *testing.T) {
				if err := testShape(t.Context(), &p, Shape{M: 24, K: 16, N: 8, Type: driver.BF16},
					ranks, 1); err != nil {
					t.Fatal(err)
				}
			})
			for r, list := range seen {
				if len(list) < 2 {
					t.Fatalf("rank %d: %d runs", r, len(list))
				}
				first, last := list[0], list[len(list)-1]
				if last.Messages != first.Messages || last.Opens != first.Opens || last.Bytes != first.Bytes {
					t.Errorf("rank %d sent messages after its first run: %+v, then %+v", r, first, last)
				}
				perRun := 0
				if x.inLoop {
					perRun = ranks - 1
				}
				if hits := last.Hits - first.Hits; hits != perRun*(len(list)-1) {
					t.Errorf("rank %d: %d hits in %d runs after the first", r, hits, len(list)-1)
				}
			}
		})
	}
}

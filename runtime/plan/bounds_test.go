package plan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

// TestOrderWithoutDeadline runs two plans, in another order on one rank, by each way to
// run and with no deadline anywhere.
func TestOrderWithoutDeadline(t *testing.T) {
	for name, use := range map[string]func(p *Plan) error{
		"run": func(p *Plan) error { return p.Run(context.Background()) },
		"enqueue": func(p *Plan) error {
			return errors.Join(p.Enqueue(p.main.own), p.Group().Watch(context.Background(), p.main.own))
		},
		"replay": func(p *Plan) error {
			return errors.Join(p.Replay(p.main.own), p.Group().Watch(context.Background(), p.main.own))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, sim.Config{Seed: 5}, nil, func(w *world) {
				first, second := w.toys(), w.toys()
				w.each(func(r int) {
					order := []*toy{first[r], second[r]}
					if r == 1 {
						order = []*toy{second[r], first[r]}
					}
					start := time.Now()
					err := errors.Join(use(order[0].plan), use(order[1].plan))
					if took := time.Since(start); !errors.As(err, new(*group.AbortError)) ||
						took > timeout+time.Second {
						t.Fatalf("rank %d: %v after %v", r, err, took)
					}
					for _, want := range []string{"it did not drain within 3s", "waited for rank",
						"run 1 of the group was plan 1 (toy) on ranks 0, 2; plan 2 (toy) on rank 1"} {
						if strings.Count(err.Error(), want) < 1 {
							t.Errorf("rank %d: %v does not say %q", r, err, want)
						}
					}
				})
				w.each(func(r int) {
					for _, p := range []*toy{first[r], second[r]} {
						if err := p.close(w.Context()); err == nil || len(err.Error()) > 150 {
							t.Errorf("rank %d: close: %v", r, err)
						}
					}
				})
			})
		})
	}
}

// TestGroupClosesPlans leaves the plans to the group's Close.
func TestGroupClosesPlans(t *testing.T) {
	inWorld(t, 3, sim.Config{Seed: 1}, nil, func(w *world) {
		first, second := w.toys(), w.toys()
		w.all(first, func(t *toy) error { return t.plan.Run(w.Context()) })
		w.all(second, func(t *toy) error { return t.close(w.Context()) })
		w.each(func(r int) {
			if err := w.groups[r].Close(w.Context()); err != nil {
				t.Errorf("rank %d: close the group: %v", r, err)
			}
		})
		w.all(first, func(t *toy) error { return t.close(w.Context()) })
	})
}

// TestGroupClosesPlansAfterAbort expects nothing about plans from the Close of a group
// that was aborted, and no more than a word from theirs.
func TestGroupClosesPlansAfterAbort(t *testing.T) {
	inWorld(t, 2, sim.Config{Seed: 1}, nil, func(w *world) {
		toys := w.toys()
		w.groups[0].Abort(errors.New("enough"))
		w.each(func(r int) {
			if err := w.groups[r].Close(w.Context()); err != nil {
				t.Errorf("rank %d: close the group: %v", r, err)
			}
			if err := toys[r].close(w.Context()); !errors.As(err, new(*group.AbortError)) ||
				strings.Contains(err.Error(), "CONTEXT") {
				t.Errorf("rank %d: close the plan: %v", r, err)
			}
		})
	})
}

// TestFaultIsToldOnce breaks a device: its rank learns of the fault from the call that it
// breaks, and from one line of the group's Close.
func TestFaultIsToldOnce(t *testing.T) {
	inWorld(t, 2, sim.Config{Seed: 1}, nil, func(w *world) {
		toys := w.toys()
		w.each(func(r int) {
			p := toys[r].plan
			if r == 0 {
				err := p.driver.Matmul(toys[r].gemm.handle, driver.Operands{C: 0x1000, A: 0x2000, B: 0x3000,
					Bias: 0x4000, Workspace: p.main.workspace}, p.main.own)
				if err != nil {
					t.Error(err)
				}
			}
			err := p.Run(w.Context())
			var status *driver.Status
			if !errors.As(err, new(*group.AbortError)) || r == 0 && !errors.As(err, &status) {
				t.Errorf("rank %d: %v", r, err)
			}
			if err := p.Close(w.Context()); err == nil || strings.Contains(err.Error(), "fault") ||
				len(err.Error()) > 150 {
				t.Errorf("rank %d: close the plan: %v", r, err)
			}
			err = w.groups[r].Close(w.Context())
			if r == 0 && (err == nil || strings.Count(err.Error(), "\n") > 1 ||
				strings.Count(err.Error(), "earlier fault") != 1) {
				t.Errorf("close the group: %v", err)
			}
		})
		w.groups = nil // they are closed, rank 0 with an error
	})
}

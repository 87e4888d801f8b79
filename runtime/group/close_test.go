//go:build cgo

package group_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

// TestCloseIsBounded closes alone, with a dead peer, and with a run that hangs.
func TestCloseIsBounded(t *testing.T) {
	for _, x := range []struct {
		name string
		do   func(w *world, groups []*group.Group)
	}{
		{"the peer does not close", func(w *world, g []*group.Group) {
			err := g[0].Close(w.Context())
			if err == nil || !strings.Contains(err.Error(), "close the group") ||
				g[0].Close(w.Context()) != err {
				w.Errorf("%v", err)
			}
			w.leave(g[1:])
		}},
		{"the peer is gone", func(w *world, g []*group.Group) {
			g[1].Disconnect()
			<-g[0].Done()
			w.leave(g)
		}},
		{"a run hangs", func(w *world, g []*group.Group) {
			p := newToy(g[0])
			if _, err := p.enqueue(w.Context(), p.main.Handle); err != nil {
				w.Error(err)
			}
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			if err := g[0].Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				w.Error(err)
			}
			p.close()
			w.leave(g[1:])
		}},
		{"the peer gathers something else", func(w *world, g []*group.Group) {
			each(2, func(r int) {
				if r == 0 {
					if err := g[0].Close(w.Context()); err == nil ||
						!strings.Contains(err.Error(), "new plan") {
						w.Error(err)
					}
					return
				}
				g[1].Gather(w.Context(), "new plan", nil)
				<-g[1].Done()
				w.leave(g[1:])
			})
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			inWorld(t, sim.Config{Devices: 2, NoRaces: true}, func(w *world) {
				start := time.Now()
				x.do(w, w.groups(0, 2))
				if took := time.Since(start); took > 15*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// A rank that has met its peers in order to close does not abort when one of them has gone before it: on other hosts
// none waits for it.
func TestCloseAfterPeer(t *testing.T) {
	inWorld(t, sim.Config{Devices: 3}, func(w *world) {
		groups := w.groups(0, 3)
		each(3, func(r int) {
			if err := groups[r].Part(w.Context()); err != nil {
				w.Errorf("rank %d: %v", r, err)
			}
		})
		groups[0].Disconnect()
		time.Sleep(time.Second)
		for r, g := range groups {
			select {
			case <-g.Done():
				w.Errorf("rank %d: %v", r, g.Err())
			default:
			}
		}
		each(3, func(r int) { groups[r].Close(w.Context()) }) // says that the others are gone
	})
}

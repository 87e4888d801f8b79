package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ovgen/generated/allreducehosts"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/launcher"
	"ovgen/runtime/plan"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// overHosts runs f as each of six ranks that play three hosts, of which only those of one host map each other's
// memory; clean: nothing is aborted, so there is no race.
func overHosts(t *testing.T, seed uint64, clean bool, f func(ctx context.Context, h *hosted) error) {
	t.Helper()
	const ranks, hosts = 6, 3
	each := ranks / hosts
	synctest.Test(t, func(t *testing.T) {
		world := sim.Config{Devices: ranks, Seed: seed, NoRaces: !clean,
			PeerAccess: func(from, to int) bool { return from/each == to/each }}
		change := func(c *group.Config) {
			c.Host, c.Timeout = launcher.PlayedHost(c.Rank, ranks, hosts), timeout
		}
		err := simtest.Run(t.Context(), simtest.Config{Config: world, Change: change},
			func(ctx context.Context, g *group.Group) error {
				h, err := newHosted(ctx, g)
				if err == nil {
					err = f(ctx, h)
				}
				return err
			})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
}

// hosted is a group over hosts with a sum of all ranks.
type hosted struct {
	g    *group.Group
	sum  *allreducehosts.Plan
	a, c *device.Buffer
	s    *device.Stream
}

func newHosted(ctx context.Context, g *group.Group) (h *hosted, err error) {
	h = &hosted{g: g}
	bytes := int64(4 * g.Size())
	if h.a, err = device.Alloc(g.Driver(), bytes); err != nil {
		return h, err
	}
	if h.c, err = device.Alloc(g.Driver(), bytes); err != nil {
		return h, err
	}
	if h.s, err = device.NewStream(g.Driver(), driver.Normal); err != nil {
		return h, err
	}
	if h.sum, err = allreducehosts.New(ctx, g, allreducehosts.Shape{M: g.Size(), N: 1, Type: driver.FP32}); err != nil {
		return h, err
	}
	return h, h.sum.Bind(ctx, allreducehosts.Buffers{A: h.a.Ptr(), C: h.c.Ptr()})
}

// run makes a sum: replayed, or in every third turn eager.
func (h *hosted) run(ctx context.Context, turn int) error {
	if turn%3 != 2 {
		return h.sum.Run(ctx)
	}
	return errors.Join(h.sum.Enqueue(h.s.Handle()), h.s.Synchronize(), h.g.Err())
}

// right makes a sum and looks at it: as bits of the smallest fp32, whole numbers add up as such.
func (h *hosted) right(ctx context.Context, turn int) error {
	d, bytes, want := h.g.Driver(), make([]byte, h.a.Bytes()), 0
	for i := 0; i < len(bytes); i += 4 {
		bytes[i] = byte(turn%8 + h.g.Rank())
	}
	for r := range h.g.Size() {
		want += turn%8 + r
	}
	if err := errors.Join(d.MemcpyHtoD(h.a.Ptr(), bytes), h.run(ctx, turn)); err != nil {
		return err
	}
	if err := d.MemcpyDtoH(bytes, h.c.Ptr()); err != nil {
		return err
	}
	for i := 0; i < len(bytes); i += 4 {
		if int(bytes[i]) != want {
			return fmt.Errorf("turn %d: sum %d is %d, want %d", turn, i/4, bytes[i], want)
		}
	}
	return nil
}

// A group over hosts says so, runs schedules that are made for hosts, and refuses others.
func TestHosts(t *testing.T) {
	overHosts(t, 1, true, func(ctx context.Context, h *hosted) error {
		if g := h.g; g.Hosts() != 3 || g.PerHost() != 2 || g.Host() != g.Rank()/2 || g.Local() != g.Rank()%2 ||
			!strings.HasSuffix(g.Choice(), "; 3 hosts of 2 ranks") {
			return fmt.Errorf("%d hosts of %d, host %d, number %d, choice %q", g.Hosts(), g.PerHost(), g.Host(),
				g.Local(), g.Choice())
		}
		for r := range h.g.Size() {
			if mapped := h.g.Arena().Base(r) != 0; mapped != (r/2 == h.g.Host()) {
				return fmt.Errorf("the arena of rank %d is mapped: %t", r, mapped)
			}
		}
		var refused *plan.HostsError
		if _, err := newLayer(ctx, copied, h.g, shape(h.g.Size())); !errors.As(err, &refused) || refused.Hosts != 3 {
			return fmt.Errorf("a plan for one host: %w", err)
		}
		var err error
		for turn := 0; err == nil && turn < 3; turn++ {
			err = h.right(ctx, turn)
		}
		return err
	})
}

// A rank of one host that stays away, or aborts, ends the runs of all others in time; the error says who waited
// for whom.
func TestHostsAborted(t *testing.T) {
	for seed := range uint64(4) {
		overHosts(t, seed, false, func(ctx context.Context, h *hosted) error {
			err := h.right(ctx, 0)
			switch {
			case err != nil: // the abort came sooner
			case h.g.Rank() == 5 && seed%2 == 0:
				h.g.Abort(errReason)
				<-h.g.Done()
				err = h.g.Err()
			case h.g.Rank() == 5:
				<-h.g.Done()
				err = h.g.Err()
			default:
				late, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
				err = h.sum.Run(late)
			}
			if failed := aborted(err); failed != nil {
				return failed
			}
			want := "for rank 5 at plan 1 (allreducehosts), step "
			if seed%2 == 1 && !strings.Contains(err.Error(), want) {
				return fmt.Errorf("the error does not say %q: %w", want, err)
			}
			return h.g.Driver().CtxSynchronize()
		})
	}
}

// hostsAnywhere aborts, or kills a rank, at a random moment from the joining on: in the making of the rails, in an
// exchange between hosts, in a sum within one, captured or not. Runs that report success have the right bits, all learn
// of the end in time and whose it is, Close is bounded, the device stays usable, and the ranks of whole hosts make
// another group.
func hostsAnywhere(e *env) error {
	victim, kills := e.random.IntN(e.size), e.random.IntN(2) == 0 && !e.config.Local
	after := time.Duration(e.random.IntN(6000)) * time.Microsecond
	g, err := e.join("")
	if err != nil {
		return err
	}
	ended := time.Now().Add(after)
	defer e.end(g, victim, after, kills)()
	h, err := newHosted(e, g)
	for turn := 0; err == nil && time.Since(ended) < within; turn++ {
		err = h.right(e, turn)
	}
	if e.dead.Load() {
		<-g.Done()
		_ = g.Close(e)
		return nil
	}
	if failed := aborted(err); failed != nil {
		return failed
	}
	took, text := time.Since(ended), err.Error()
	if took > time.Second || !strings.Contains(text, fmt.Sprintf("rank %d", victim)) ||
		!strings.Contains(text, "; ranks 4 to 5 are on host ") || !strings.HasSuffix(text, `as host2"`) {
		return fmt.Errorf("rank %d ended the group %v ago: %w", victim, took, err)
	}
	if err := errors.Join(g.Driver().CtxSynchronize(), g.Close(e)); err != nil {
		return fmt.Errorf("after an abort: %w", err)
	}
	return e.hostsAgain(victim, kills)
}

// hostsAgain runs in another group, without the host of a rank that died.
func (e *env) hostsAgain(victim int, dead bool) error {
	ranks, each := e.all(), e.size/e.hosts
	if first := victim / each * each; dead {
		ranks = slices.Delete(ranks, first, first+each)
	}
	if !slices.Contains(ranks, e.rank) {
		return nil
	}
	g, err := e.joinSome("again", ranks)
	if err != nil {
		return err
	}
	h, err := newHosted(e, g)
	if err == nil {
		err = h.right(e, 1)
	}
	return errors.Join(err, g.Close(e))
}

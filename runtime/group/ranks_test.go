//go:build cgo

package group_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

// local is the Config of ranks of this process on these simulated devices.
func local(devices ...int) group.Config {
	return group.Config{Backend: "sim", Devices: devices, Arena: 1 << 20, Timeout: 10 * time.Second}
}

func joinAll(t *testing.T, c group.Config) group.Ranks {
	t.Helper()
	all, err := group.JoinAll(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func runToys(t *testing.T, all group.Ranks) {
	t.Helper()
	if err := all.Each(func(g *group.Group) error {
		p := newToy(g)
		defer p.close()
		return errors.Join(p.run(t.Context()), p.run(t.Context()))
	}); err != nil {
		t.Error(err)
	}
}

// TestDo has the work of one rank fail or panic: all ranks are told.
func TestDo(t *testing.T) {
	for name, work := range map[string]func() error{
		"the disk is gone":          func() error { return errors.New("the disk is gone") },
		"panic: index out of range": func() error { panic("index out of range") },
	} {
		all := joinAll(t, local(0, 1))
		if err := all.Each(func(g *group.Group) error { return g.Do(func() error { return nil }) }); err != nil {
			t.Error(err)
		}
		if err := all[1].Do(work); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
		for _, g := range all {
			<-g.Done()
			if err := g.Err(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("rank %d: %v, want %s", g.Rank(), err, name)
			}
		}
		if err := all.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestDoGoexit has the work of one rank end its goroutine: all ranks are told.
func TestDoGoexit(t *testing.T) {
	all := joinAll(t, local(0, 1))
	go all[1].Do(func() error {
		runtime.Goexit()
		return nil
	})
	for _, g := range all {
		select {
		case <-g.Done():
		case <-time.After(5 * time.Second):
		}
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), "the work ended its goroutine") {
			t.Errorf("rank %d: %v", g.Rank(), err)
		}
	}
	if err := all.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestJoinAll has two groups of the process on the same devices and a third on others, and closes them while
// others run.
func TestJoinAll(t *testing.T) {
	one, two, three := joinAll(t, local(0, 1)), joinAll(t, local(1, 0, 2)), joinAll(t, local(4, 3))
	for r, g := range two {
		if want := []int{1, 0, 2}[r]; g.Rank() != r || g.Size() != 3 || g.Driver().Properties().Ordinal != want {
			t.Errorf("rank %d of %d on device %d, want %d", g.Rank(), g.Size(), g.Driver().Properties().Ordinal, want)
		}
	}
	for _, all := range []group.Ranks{one, two, three} {
		runToys(t, all)
	}
	if err := one.Close(t.Context()); err != nil {
		t.Error(err)
	}
	runToys(t, two)
	two[2].Abort(errReason)
	for r, g := range two {
		<-g.Done()
		var a *group.AbortError
		if err := g.Err(); !errors.As(err, &a) || a.By != 2 || errors.Is(err, errReason) != (r == 2) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	runToys(t, three) // another group's abort is not theirs
	for _, all := range []group.Ranks{two, three, one} {
		if err := all.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	again := joinAll(t, local(0, 1))
	runToys(t, again)
	if err := again.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestGiveUp has two of three ranks joined when JoinAll fails: none waits for the close of another, and each is
// aborted for that reason.
func TestGiveUp(t *testing.T) {
	inBubble(t, sim.Config{Devices: 3, NoRaces: true}, true, func(w *world) {
		groups := w.groups(0, 3)
		kill(groups[1])
		start := time.Now()
		err := group.Ranks{groups[0], nil, groups[2]}.GiveUp(w.Context(), errReason)
		if fmt.Sprint(err) != errReason.Error() || !errors.Is(err, errReason) {
			t.Errorf("%v, want only %v", err, errReason)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestEach: an error that all ranks have is returned once, and so is one rank's error that the others get from it.
func TestEach(t *testing.T) {
	for _, x := range []struct {
		name string
		of   func(rank int) error
		want string
	}{
		{"nothing", func(int) error { return nil }, "<nil>"},
		{"the same", func(int) error { return errReason }, errReason.Error()},
		{"one rank's", func(r int) error {
			if r == 1 {
				return errReason
			}
			return &group.PeerError{Rank: 1, Text: errReason.Error()}
		}, "rank 1: " + errReason.Error()},
		{"two ranks'", func(r int) error {
			if r == 2 {
				return nil
			}
			return fmt.Errorf("mistake %d", r)
		}, "rank 0: mistake 0\nrank 1: mistake 1"},
		{"of ranks that are not here", func(r int) error {
			return &group.PeerError{Rank: 7, Text: fmt.Sprint("as ", r)}
		}, "rank 7: as 0\nrank 7: as 1\nrank 7: as 2"},
	} {
		if got := fmt.Sprint(group.Each(3, x.of)); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// TestCloseInAnyOrder closes each rank by itself, the last one first, while those before it wait.
func TestCloseInAnyOrder(t *testing.T) {
	for _, first := range []int{0, 1, 2} {
		all := joinAll(t, local(0, 1, 2))
		closed := make(chan error, len(all))
		for i := range all {
			go func() { closed <- all[(first+i)%3].Close(t.Context()) }()
			time.Sleep(time.Millisecond)
		}
		for range all {
			if err := <-closed; err != nil {
				t.Errorf("rank %d first: %v", first, err)
			}
		}
	}
}

func TestJoinAllRefuses(t *testing.T) {
	t.Setenv("OVGEN_SIM_DEVICES", "3")
	d, err := sim.NewWorld(sim.Config{Devices: 1}).Open(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		spoil func(c *group.Config)
		want  string
		is    error
	}{
		{"one device for two ranks", func(c *group.Config) { c.Devices = []int{1, 0, 1} },
			"ranks 0 and 2 both run on simulated device (device 1)", nil},
		{"a device too many", func(c *group.Config) { c.Devices = []int{0, 3} }, "sim has 3 devices, 4 are needed",
			driver.ErrUnavailable},
		{"more ranks than devices", func(c *group.Config) { c.Devices, c.Size = nil, 4 },
			"sim has 3 devices, 4 are needed", driver.ErrUnavailable},
		{"devices for others", func(c *group.Config) { c.Size = 3 }, "2 devices for 3 ranks", nil},
		{"a negative size", func(c *group.Config) { c.Size = -1 }, "Config.Size is -1 (leave it 0", nil},
		{"a rank", func(c *group.Config) { c.Rank = 1 }, "Config.Rank, Driver and Context belong to one rank", nil},
		{"a driver", func(c *group.Config) { c.Driver = d }, "Config.Local", nil},
		{"a context", func(c *group.Config) { c.Context = 1 }, "leave them zero", nil},
		{"no backend", func(c *group.Config) { c.Backend, c.Devices = "rocm", nil }, `look up driver "rocm"`, nil},
		{"a small arena", func(c *group.Config) { c.Arena = 100 }, "an arena of 100 bytes", nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := local(0, 1)
			x.spoil(&c)
			start := time.Now()
			all, err := group.JoinAll(t.Context(), c)
			if all != nil || err == nil || !strings.Contains(err.Error(), x.want) ||
				strings.Count(err.Error(), x.want) > 1 || x.is != nil && !errors.Is(err, x.is) {
				t.Errorf("%v, want %q once", err, x.want)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("an error after %v", took)
			}
		})
	}
	all := joinAll(t, group.Config{Backend: "sim", Arena: 1 << 20}) // every device
	if len(all) != 3 {
		t.Errorf("%d ranks", len(all))
	}
	if err := all.Close(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := group.JoinAll(ctx, local(0, 1)); all != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", all, err)
	}
}

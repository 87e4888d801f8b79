//go:build cgo

package group_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

// symmetric joins n ranks with so much symmetric memory.
func (w *world) symmetric(n int, bytes int64, unabortable bool) ([]*group.Group, []error) {
	cs := w.configs(0, n)
	for r := range cs {
		cs[r].Symmetric, cs[r].Unabortable = bytes, unabortable
	}
	return w.join(cs)
}

// TestSymmetric: the ranks lay their memory out alike, until it is used up; Close leaves nothing.
func TestSymmetric(t *testing.T) {
	inWorld(t, sim.Config{Devices: 3}, func(w *world) {
		groups, errs := w.symmetric(3, 1<<13, false)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for r, g := range groups {
			const says = "; 8192 bytes of symmetric memory, which NCCL says it reaches on all ranks"
			if !strings.HasSuffix(g.Choice(), says) {
				t.Errorf("rank %d: %s", r, g.Choice())
			}
			for i, want := range []int64{0, 1024, 1536} {
				p, err := g.Symmetric([]int64{513, 512, 6656}[i])
				if at, ok := g.SymmetricOffset(p); err != nil || !ok || at != want {
					t.Errorf("rank %d has its memory %d at %d: %v", r, i, at, err)
				}
				if last := p + 6655; i == 2 {
					if at, ok := g.SymmetricOffset(last); !ok || at != 8191 {
						t.Errorf("the last byte lies at %d, %v", at, ok)
					}
					if _, ok := g.SymmetricOffset(last + 1); ok {
						t.Error("there is a byte behind the last one")
					}
				}
			}
			if p := g.StageSymmetric(1); p != 0 {
				t.Errorf("staged at %#x in memory that is used up", p)
			}
			var full *group.SymmetricError
			if _, err := g.Symmetric(1); !errors.As(err, &full) || full.Free != 0 ||
				!strings.Contains(err.Error(), "set Config.Symmetric to at least 8193") {
				t.Errorf("rank %d took more than there is: %v", r, err)
			}
			if _, err := g.Symmetric(0); err == nil {
				t.Error("no bytes were taken")
			}
		}
		w.leave(groups)
	})
}

// TestNoSymmetric: without Config.Symmetric nothing of it is made, nor NCCL's communicator.
func TestNoSymmetric(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2, Windows: driver.WindowLimits{Missing: "nobody asks"}}, func(w *world) {
		groups := w.groups(0, 2)
		g := groups[0]
		if _, err := g.Symmetric(64); !errors.Is(err, group.ErrNoSymmetric) {
			t.Error(err)
		}
		if _, ok := g.SymmetricOffset(0); ok || g.SymmetricBytes() != 0 || g.Connected() {
			t.Errorf("%v, %d bytes, connected %v", ok, g.SymmetricBytes(), g.Connected())
		}
		w.leave(groups)
	})
}

// TestSymmetricRefused: where NCCL has no windows, can't be aborted, or the ranks don't agree, all get an error and
// nothing stays open; where the configuration takes it, the choice says what an abort does not end.
func TestSymmetricRefused(t *testing.T) {
	const why = "its kernels don't look"
	for _, x := range []struct {
		name        string
		limits      driver.WindowLimits
		unabortable bool
		spoil       func(first, c *group.Config)
		want        string
		is          error
	}{
		{"missing", driver.WindowLimits{Missing: "it is too old"}, false, nil, "it is too old", group.ErrNotSymmetric},
		{"unabortable", driver.WindowLimits{Unabortable: why}, false, nil,
			"an abort would not end collectives of symmetric memory: " + why + "; or set Config.Unabortable", nil},
		{"taken", driver.WindowLimits{Unabortable: why}, true, nil, "", nil},
		{"other sizes", driver.WindowLimits{}, false, func(_, c *group.Config) { c.Symmetric *= 2 },
			"check symmetric memory: rank 0 has Config.Symmetric 4096, rank 1 8192", nil},
		{"too little", driver.WindowLimits{}, false, func(_, c *group.Config) { c.Symmetric = 2047 },
			"symmetric memory of 2047 bytes (0 for none, or at least 2048)", nil},
		{"negative", driver.WindowLimits{}, false, func(_, c *group.Config) { c.Symmetric = -1 },
			"symmetric memory of -1 bytes", nil},
		{"two hosts", driver.WindowLimits{}, false,
			func(first, c *group.Config) { first.Host, c.Host = "one", "other" },
			"they are not all of one host", group.ErrNotSymmetric},
	} {
		t.Run(x.name, func(t *testing.T) {
			inBubble(t, sim.Config{Devices: 2, Windows: x.limits}, false, func(w *world) {
				cs := w.configs(0, 2)
				for r := range cs {
					cs[r].Symmetric, cs[r].Unabortable = 4096, x.unabortable
				}
				if x.spoil != nil {
					x.spoil(&cs[0], &cs[1])
				}
				groups, errs := w.join(cs)
				if x.want == "" {
					if !strings.HasSuffix(groups[1].Choice(), "; an abort does not end its collectives: "+why) {
						t.Errorf("%v; %s", errs, groups[1].Choice())
					}
					w.leave(groups)
					return
				}
				for r, err := range errs {
					if err == nil || !strings.Contains(err.Error(), x.want) {
						t.Errorf("rank %d: %v, want %q", r, err, x.want)
					}
				}
				typed := errors.As(errs[0], new(*group.UnabortableError))
				if x.is != nil && !errors.Is(errs[0], x.is) || typed != (x.name == "unabortable") {
					t.Errorf("%v", errs[0])
				}
			})
		})
	}
}

// TestSymmetricHangs: a collective that an abort does not end keeps the communicator, and Close, which is bounded, says
// that the process must end.
func TestSymmetricHangs(t *testing.T) {
	const why = "its kernels don't look"
	inBubble(t, sim.Config{Devices: 2, Windows: driver.WindowLimits{Unabortable: why}}, false, func(w *world) {
		groups, errs := w.symmetric(2, 4096, true)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		g := groups[0]
		p, err := g.Symmetric(2048)
		if err == nil {
			err = g.Collective(driver.CollectiveDesc{Kind: driver.AllGather, Bytes: 64}, p+1024, p, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		reason := errors.New("rank 1 does not come")
		g.Abort(reason)
		began := time.Now()
		each(2, func(r int) { errs[r] = groups[r].Close(w.Context()) })
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("close took %v", took)
		}
		if errs[0] == nil || !strings.Contains(errs[0].Error(), why+" (end the process)") || errs[1] != nil {
			t.Errorf("close: %v; %v", errs[0], errs[1])
		}
		for _, d := range w.tally {
			d.dead = true // it keeps what the collective uses
		}
	})
}

// nothing is a library that has taken each collective at once.
type nothing struct{ driver.Collectives }

func (nothing) Collective(driver.CollectiveDesc, driver.Ptr, driver.Ptr, driver.Comm, driver.Stream) error {
	return nil
}

// BenchmarkCollective is what a collective costs without symmetric memory, beside "bare", which does not look.
func BenchmarkCollective(b *testing.B) {
	g := group.Stub(nothing{})
	for name, call := range map[string]func(driver.CollectiveDesc, driver.Ptr, driver.Ptr, driver.Stream) error{
		"bare": g.EnqueueCollective, "without symmetric memory": g.Collective} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := call(driver.CollectiveDesc{Kind: driver.AllGather, Bytes: 8}, 16, 8, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

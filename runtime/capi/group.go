package capi

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/cgo"
	"slices"
	"sync"
	"time"

	_ "ovgen/runtime/alike"
	"ovgen/runtime/driver"
	_ "ovgen/runtime/dump"
	"ovgen/runtime/group"
	"ovgen/runtime/launcher"
)

// Config is struct ovgen_config: how a rank joins.
type Config struct {
	Rank, Size int    // Size 0: as the launcher's variables say
	Job        string // empty: the launcher's
	Backend    string // empty: OVGEN_DRIVER's, else cuda
	Device     *int   // this rank's device; nil: the device of its local rank
	Context    uintptr
	Arena      int64
	// Milliseconds; 0 is group.Config's default.
	Timeout, JoinTimeout, CallTimeout, RunTimeout int64
	Symmetric                                     int64 // bytes for Symmetric
	Unabortable                                   bool  // accepts them where an abort does not end their collectives
}

// member is a group with the plans and memory that were made in it.
type member struct {
	*group.Group
	mu    sync.Mutex
	parts []uintptr // open plans and shared buffers, in the order in which they were made
}

// Join joins a group and returns its handle.
func Join(c Config, ms int64) (uintptr, error) {
	refresh()
	config, err := c.resolve()
	if err != nil {
		return 0, fmt.Errorf("join: %w", err)
	}
	ctx, cancel, err := within(ms)
	if err != nil {
		return 0, fmt.Errorf("join: %w", err)
	}
	defer cancel()
	g, err := group.Join(ctx, config)
	if err != nil {
		return 0, err
	}
	return uintptr(cgo.NewHandle(&member{Group: g})), nil
}

// resolve makes a group.Config. A Go program has the simulator if it imports it; a library uses the simulator only if
// the caller asks for it.
func (c Config) resolve() (group.Config, error) {
	g := group.Config{Rank: c.Rank, Size: c.Size, Job: c.Job, Context: c.Context, Arena: c.Arena,
		Symmetric: c.Symmetric, Unabortable: c.Unabortable}
	g.Backend = cmp.Or(c.Backend, os.Getenv(launcher.EnvDriver), "cuda")
	for _, b := range []struct {
		to *time.Duration
		ms int64
	}{{&g.Timeout, c.Timeout}, {&g.JoinTimeout, c.JoinTimeout}, {&g.CallTimeout, c.CallTimeout},
		{&g.RunTimeout, c.RunTimeout}} {
		if b.ms < 0 || b.ms > maxMilliseconds {
			return g, fmt.Errorf("a timeout of %d ms (0 to %d)", b.ms, maxMilliseconds)
		}
		*b.to = time.Duration(b.ms) * time.Millisecond
	}
	switch {
	case c.Size == 0:
		place, err := launcher.FindPlace()
		if err != nil {
			return g, err
		}
		g.Rank, g.Size, g.Job = place.Rank, place.Size, cmp.Or(c.Job, place.Job)
		g.Devices = devices(place.Size, place.Local)
	case c.Size < 0 || c.Rank < 0 || c.Rank >= c.Size:
		return g, fmt.Errorf("rank %d of %d (ranks count from 0)", c.Rank, c.Size)
	}
	if c.Device != nil {
		if *c.Device < 0 {
			return g, fmt.Errorf("device %d (at least 0)", *c.Device)
		}
		g.Devices = devices(g.Size, *c.Device)
	}
	return g, nil
}

// devices is a list by rank. Only this rank's entry is read.
func devices(size, own int) []int { return slices.Repeat([]int{own}, size) }

// Place returns rank and size of a group.
func Place(handle uintptr) (rank, size int, err error) {
	m, err := find[*member](handle, "group")
	if err != nil {
		return 0, 0, err
	}
	return m.Rank(), m.Size(), nil
}

// Err is nil while the group is whole.
func Err(handle uintptr) error {
	m, err := find[*member](handle, "group")
	if err != nil {
		return err
	}
	return m.Err()
}

// Abort ends all runs of the group on all ranks.
func Abort(handle uintptr, reason string) error {
	m, err := find[*member](handle, "group")
	if err != nil {
		return err
	}
	m.Abort(errors.New(cmp.Or(reason, "no reason given")))
	return nil
}

// Watch waits until a stream has drained, and bounds it.
func Watch(handle, stream uintptr, ms int64) error {
	m, err := find[*member](handle, "group")
	if err != nil {
		return err
	}
	ctx, cancel, err := within(ms)
	if err != nil {
		return fmt.Errorf("watch a stream: %w", err)
	}
	defer cancel()
	return m.Watch(ctx, driver.Stream(stream))
}

// Close closes the group, which closes the plans and shared buffers that are still open. Their handles and the group's
// handle are invalid afterwards, also after an error.
func Close(handle uintptr, ms int64) error {
	m, err := find[*member](handle, "group")
	if err != nil {
		return err
	}
	ctx, cancel, err := within(ms)
	if err != nil {
		return fmt.Errorf("close the group: %w", err)
	}
	defer cancel()
	err = m.Group.Close(ctx)
	for _, p := range m.open() {
		forget(p)
	}
	forget(handle)
	return err
}

// open lists the handles of plans and shared buffers that are not closed.
func (m *member) open() []uintptr {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.parts)
}

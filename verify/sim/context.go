package sim

import (
	"fmt"
	"slices"
	"sync"

	"ovgen/runtime/driver"
)

// Context is a simulated device as one rank sees it. Beside the calls of
// driver.Driver and its optional interfaces it has MemAllocPooled.
type Context struct {
	world   *World
	ordinal int
	id      uint64 // among all processes
	closed  bool
	fault   error // sticky: every later call answers with it
	used    int64 // bytes of device memory

	space                    space
	live                     []*mapping // by address
	reserved                 []*reservation
	physicals                map[driver.Physical]*physical
	recent                   driver.Ptr // the address freed last
	host                     []*mapping // registered host memory, by address
	order                    []*stream  // as made
	allocations, streamsMade int        // so far
	issued                   uint64     // operations enqueued so far
	params                   []uint64   // of the launch that is being enqueued
	streams                  map[driver.Stream]*stream
	events                   map[driver.Event]*event
	graphs                   map[driver.Graph]*graph
	execs                    map[driver.GraphExec]*exec
	modules                  map[driver.Module]*module
	functions                map[driver.Function]*function
	products                 map[driver.Product]*product
	comms                    map[driver.Comm]*communicator
	calling                  sync.Map  // the communicators with which a call is made
	boards                   []*shared // for which this rank made ids
}

var (
	_ driver.Driver        = (*Context)(nil)
	_ driver.Collectives   = (*Context)(nil)
	_ driver.VirtualMemory = (*Context)(nil)
)

// enter locks the world for a call; with an error it is not locked.
func (c *Context) enter(call string) error {
	c.world.mu.Lock()
	if err := c.usable(call); err != nil {
		c.world.mu.Unlock()
		return err
	}
	return nil
}

func (c *Context) leave() { c.world.mu.Unlock() }

func (c *Context) usable(call string) error {
	switch {
	case c.closed:
		return fail(call, invalidContext)
	case c.world.closed:
		return fail(call, deinitialized)
	case c.fault != nil:
		return fmt.Errorf("%s: after an earlier fault: %w", call, c.fault)
	}
	return nil
}

// await waits, with the world locked, until done holds.
func (c *Context) await(call string, done func() bool) error {
	for !done() {
		c.world.changed.Wait()
		if err := c.usable(call); err != nil {
			return err
		}
	}
	return nil
}

// idle reports whether nothing is enqueued.
func (c *Context) idle() bool {
	for _, s := range c.order {
		if s.head() != nil {
			return false
		}
	}
	return true
}

// enterIdle is enter for a call that may synchronise the device.
func (c *Context) enterIdle(call string) error { return c.enterWhen(call, c.idle) }

func (c *Context) enterWhen(call string, still func() bool) error {
	if err := c.enter(call); err != nil {
		return err
	}
	if c.world.cfg.FreeCalls {
		return nil
	}
	if err := c.await(call, still); err != nil {
		c.leave()
		return err
	}
	c.learnAll()
	return nil
}

// learnAll adds the completed work of all streams to the host's knowledge.
func (c *Context) learnAll() {
	for _, s := range c.order {
		c.world.learn(s.clock)
	}
}

// Name is "sim".
func (c *Context) Name() string { return "sim" }

// Properties of the simulated device.
func (c *Context) Properties() driver.Properties {
	return driver.Properties{
		Ordinal: c.ordinal, Name: "simulated device", UUID: uuid(c.ordinal), Multiprocessors: 132,
		Major: 9, Minor: 0, Memory: c.world.cfg.Memory, Version: 12040,
	}
}

const uuidPrefix = "ovgen-sim-dev"

func uuid(ordinal int) driver.UUID {
	var u driver.UUID
	copy(u[:], uuidPrefix)
	u[14], u[15] = byte(ordinal>>8), byte(ordinal)
	return u
}

// DeviceCanAccessPeer follows Config.PeerAccess.
func (c *Context) DeviceCanAccessPeer(peer driver.UUID) (bool, error) {
	for i := range c.world.cfg.Devices {
		if uuid(i) == peer {
			f := c.world.cfg.PeerAccess
			return i != c.ordinal && (f == nil || f(c.ordinal, i)), nil
		}
	}
	return false, fmt.Errorf("look for device %x: %w", peer, driver.ErrPeerInvisible)
}

// DeviceGetP2PAttribute follows Config.NVLink.
func (c *Context) DeviceGetP2PAttribute(a driver.P2PAttribute, peer driver.UUID) (int, error) {
	const call = "cuDeviceGetP2PAttribute"
	for i := range c.world.cfg.Devices {
		if uuid(i) != peer {
			continue
		}
		if a != driver.NativeAtomics {
			return 0, fail(call, invalidValue)
		}
		if f := c.world.cfg.NVLink; f != nil && !f(c.ordinal, i) {
			return 0, nil
		}
		return 1, nil
	}
	return 0, fmt.Errorf("look for device %x: %w", peer, driver.ErrPeerInvisible)
}

// DeviceGetNVLinks follows Config.NVLink and Config.Switched.
func (c *Context) DeviceGetNVLinks(peer driver.UUID) (driver.NVLinks, error) {
	n, err := c.DeviceGetP2PAttribute(driver.NativeAtomics, peer)
	switch {
	case err != nil || n == 0:
		return driver.NVLinks{}, err
	case c.world.cfg.Switched:
		return driver.NVLinks{Switch: 1}, nil
	}
	return driver.NVLinks{Direct: 1}, nil
}

// Context is a number that no other context of this machine has.
func (c *Context) Context() uintptr { return uintptr(c.id) }

// CtxSynchronize waits until no work is enqueued.
func (c *Context) CtxSynchronize() error {
	const call = "cuCtxSynchronize"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	if err := c.await(call, c.idle); err != nil {
		return err
	}
	c.learnAll()
	return nil
}

// Close drops enqueued work and releases all memory. Peers keep their imports. It doesn't
// wait for blocked streams.
func (c *Context) Close() error {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	for _, s := range c.order {
		for o := s.head(); o != nil; o = s.head() {
			w.drop(o)
			s.pop()
		}
	}
	for len(c.live) > 0 {
		c.unmap(c.live[0])
	}
	for _, p := range c.physicals {
		p.handles = 0
		c.let(p)
	}
	for _, m := range c.comms {
		m.close()
	}
	for _, b := range c.boards {
		b.close()
	}
	c.space.release()
	w.changed.Broadcast()
	if w.real {
		w.contexts = slices.DeleteFunc(w.contexts, func(o *Context) bool { return o == c })
		w.closed = len(w.contexts) == 0
		w.wake()
	}
	return nil
}

package sim

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// World is a node of simulated devices with one scheduler.
type World struct {
	cfg    Config
	real   bool // process mode: words may change from outside, and the last context ends the world
	bubble bool // time is virtual: Sleep returns when every rank is blocked
	began  time.Time
	random *rand.Rand

	mu       sync.Mutex // guards all below, and everything that belongs to a Context
	changed  *sync.Cond // something completed that a host may wait for
	closed   bool
	contexts []*Context
	handles  uint64             // the last handle given out
	blocks   map[uint64]*block  // the blocks that may be imported
	clocks   map[uint64]*clocks // of communicators, by their boards
	strands  int                // threads of execution that have a place in vector clocks
	host     clock              // the work that the hosts know to be complete
	known    *clock             // immutable copy of host, nil when out of date
	races    []Race
	words    uint64 // counts changes of words that a kernel may wait for
	lists
	pools

	kick  chan struct{} // wakes the scheduler
	ended chan struct{} // closed when the scheduler has returned
}

// NewWorld starts a world in seeded mode. Close it: its scheduler is a goroutine.
func NewWorld(cfg Config) *World { return newWorld(cfg, false) }

func newWorld(cfg Config, real bool) *World {
	cfg.defaults()
	w := &World{
		cfg: cfg, real: real, bubble: !real && virtualTime(), began: time.Now(),
		random: rand.New(rand.NewPCG(cfg.Seed, 0x6f7667656e)),
		blocks: map[uint64]*block{}, clocks: map[uint64]*clocks{}, strands: 1, handles: 0xfff,
		kick: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	w.cfg.NoRaces = w.cfg.NoRaces || real
	w.changed = sync.NewCond(&w.mu)
	go w.run()
	return w
}

// virtualTime reports whether time.Now is not the machine's clock, as in a bubble.
func virtualTime() bool {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME, &now) != nil {
		return false
	}
	d := time.Since(time.Unix(now.Unix()))
	return d > time.Hour || d < -time.Hour
}

// Open makes a driver of device i, as the process of one rank does, with separate handles and addresses. It is a
// *Context.
func (w *World) Open(i int) (driver.Driver, error) {
	if i < 0 || i >= w.cfg.Devices {
		return nil, fmt.Errorf("open simulated device %d of %d: %w", i, w.cfg.Devices,
			fail("cuDeviceGet", invalidDevice))
	}
	return w.open(i)
}

func (w *World) open(ordinal int) (*Context, error) {
	if err := supported(); err != nil {
		return nil, fmt.Errorf("open simulated device %d: %w", ordinal, err)
	}
	space, err := reserve()
	if err != nil {
		return nil, fmt.Errorf("open simulated device %d: reserve addresses: %w", ordinal, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, fail("cuDevicePrimaryCtxRetain", deinitialized)
	}
	c := &Context{
		world: w, ordinal: ordinal, id: globalID(), space: space,
		streams: map[driver.Stream]*stream{}, events: map[driver.Event]*event{},
		graphs: map[driver.Graph]*graph{}, execs: map[driver.GraphExec]*exec{},
		modules: map[driver.Module]*module{}, functions: map[driver.Function]*function{},
		physicals: map[driver.Physical]*physical{},
		products:  map[driver.Product]*product{}, comms: map[driver.Comm]*communicator{},
	}
	c.addStream(0)
	w.contexts = append(w.contexts, c)
	return c, nil
}

// handle is a number that no other thing of this world has.
func (w *World) handle() uint64 {
	w.handles++
	return w.handles
}

// strand gives a thread of execution its place in vector clocks.
func (w *World) strand() int {
	w.strands++
	return w.strands - 1
}

// now is the time since the world began.
func (w *World) now() time.Duration { return time.Since(w.began) }

// wake tells the scheduler that something may go on.
func (w *World) wake() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// Close ends the scheduler, drops enqueued work and makes waiting calls return. Drivers
// that are still open are closed.
func (w *World) Close() {
	w.mu.Lock()
	closed, contexts := w.closed, w.contexts
	w.closed = true
	w.mu.Unlock()
	w.changed.Broadcast()
	w.wake()
	<-w.ended
	if !closed {
		for _, c := range contexts {
			c.Close()
		}
	}
}

// Waiting lists the operations that have begun or stand first in their stream, with the
// operations they wait for: a picture of a deadlock.
func (w *World) Waiting() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, c := range w.contexts {
		for _, s := range c.order {
			o := s.head()
			if o == nil {
				continue
			}
			lines = append(lines, o.waits())
			if o.kind == launchGraph && o.started {
				for _, n := range o.exec.nodes {
					if !n.op.done && n.missing == 0 {
						lines = append(lines, n.op.waits())
					}
				}
			}
		}
	}
	return lines
}

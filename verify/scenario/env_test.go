package scenario

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
)

// scenario is a function that every rank runs; an error of any rank fails it.
type scenario struct {
	name   string
	run    func(e *env) error
	of     *program // of its layers; nil: copied
	size   int      // the only number of ranks it runs on; 0: any
	slow   bool     // where GPUs or OVGEN_SOAK are, and in the seeded simulator
	solo   bool     // in the seeded simulator only
	hosts  int      // that the ranks play, where there are several
	many   int      // seeds; 0: a few in the simulator, one in processes
	soaked int      // seeds where OVGEN_SOAK is set; 0: ten times as many
	parted bool     // in processes only: one of them is killed
	kills  bool     // one of the ranks, in the simulator too: they can't be in one process
	// apart: ranks in one process, and the seeded simulator, run the like of it with other layers. They run it
	// where they are asked for, or OVGEN_SOAK is set.
	apart bool
	// clean: nothing is aborted, so the simulator must find no race.
	clean bool
}

// env is the state of a scenario on one rank.
type env struct {
	context.Context
	of         *program
	rank, size int
	seed       uint64
	random     *rand.Rand // of all ranks alike
	own        *rand.Rand // of this rank
	config     group.Config
	raw        driver.Driver // the device of the last join, undecorated
	net        *wire
	seeded     bool
	onGPU      bool
	hosts      int
	learnt     time.Time   // when this rank learnt of the end of its group
	dead       atomic.Bool // this rank was killed
}

func (s scenario) env(ctx context.Context, rank, size int, seed uint64) *env {
	return &env{Context: ctx, of: cmp.Or(s.of, copied), rank: rank, size: size, seed: seed, hosts: s.hosts,
		random: rand.New(rand.NewPCG(seed, 1)), own: rand.New(rand.NewPCG(seed, uint64(rank)+2))}
}

// open sees the device that a join has opened.
func (e *env) open(d driver.Driver) driver.Driver {
	e.raw, e.onGPU = d, d.Name() == "cuda"
	return d
}

// made returns when all ranks have made and freed their buffers: in one process that may wait for the runs of others
// (see group.JoinAll), which must not wait for a rank that has yet to do so.
func made(ctx context.Context, g *group.Group) error {
	_, err := g.Gather(ctx, "the buffers are made", nil)
	return err
}

// timeout of groups: short, so that what hangs ends in time.
const timeout = 3 * time.Second

// join joins all ranks to the group of that name.
func (e *env) join(name string) (*group.Group, error) { return e.joinSome(name, e.all()) }

func (e *env) all() []int {
	var list []int
	for r := range e.size {
		list = append(list, r)
	}
	return list
}

// joinSome joins these ranks, of which this is one.
func (e *env) joinSome(name string, ranks []int) (*group.Group, error) {
	c := e.config
	c.Size, c.Job = len(ranks), c.Job+name
	if e.hosts == 0 { // whose ranks share devices
		c.Devices = ranks
	}
	for i, r := range ranks {
		if r == e.rank {
			c.Rank = i
		}
	}
	g, err := group.Join(e, c)
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", name, err)
	}
	return g, nil
}

// kill ends this rank as SIGKILL does. In the simulator, whose ranks are one
// process, its connection and its device end and its goroutine goes on.
func (e *env) kill() {
	if !e.seeded {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	e.dead.Store(true)
	_ = e.raw.Close()
	e.net.cut()
}

// wire is a network whose connections can be cut.
type wire struct {
	store.Network
	mu   sync.Mutex
	open []interface{ Close() error }
}

// Listen notes the listener.
func (w *wire) Listen(job string) (net.Listener, error) {
	l, err := w.Network.Listen(job)
	if err == nil {
		w.note(l)
		l = &noting{l, w}
	}
	return l, err
}

// Dial notes the connection.
func (w *wire) Dial(ctx context.Context, job string) (net.Conn, error) {
	c, err := w.Network.Dial(ctx, job)
	if err == nil {
		w.note(c)
	}
	return c, err
}

func (w *wire) note(c interface{ Close() error }) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, c)
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.open {
		_ = c.Close()
	}
}

// noting notes what its listener accepts.
type noting struct {
	net.Listener
	wire *wire
}

// Accept notes the connection.
func (n *noting) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err == nil {
		n.wire.note(c)
	}
	return c, err
}

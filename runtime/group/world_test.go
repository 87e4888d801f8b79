//go:build cgo

package group_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// world is a simulated node, in a bubble.
type world struct {
	*testing.T
	*simtest.Node
	local bool // the ranks are in one process, else each in its own
	wrap  func(rank int, d driver.Driver) driver.Driver
	tally []*tally // of all drivers that were given out
}

// inWorld runs f with ranks that are processes, and again with ranks of one process.
func inWorld(t *testing.T, c sim.Config, f func(w *world)) {
	t.Helper()
	t.Run("processes", func(t *testing.T) { inBubble(t, c, false, f) })
	t.Run("one process", func(t *testing.T) { inBubble(t, c, true, f) })
}

// inBubble runs f in a bubble of virtual time.
func inBubble(t *testing.T, c sim.Config, local bool, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, Node: simtest.NewNode(c), local: local}
		defer w.Close()
		f(w)
		for i, d := range w.tally {
			if left := d.left(); left != "" && !d.dead {
				t.Errorf("driver %d is left with %s", i, left)
			}
			if err := d.Driver.Close(); err != nil {
				t.Errorf("driver %d: %v", i, err)
			}
		}
	})
}

// counted counts what the driver of a rank holds, and wraps it as the test asks.
func (w *world) counted(device int, d driver.Driver) driver.Driver {
	count := &tally{Decorator: driver.Decorator{Driver: d}, open: map[string]int{}}
	w.tally = append(w.tally, count)
	if w.wrap != nil {
		return w.wrap(device, count)
	}
	return count
}

// configs are the Configs of n ranks of a new job, on devices first and up.
func (w *world) configs(first, n int) []group.Config {
	cs, err := w.Configs(first, n)
	if err != nil {
		panic(err)
	}
	for r := range cs {
		cs[r].Driver, cs[r].Timeout, cs[r].Local = w.counted(first+r, cs[r].Driver), 3*time.Second, w.local
	}
	return cs
}

// join joins the ranks at once.
func (w *world) join(cs []group.Config) ([]*group.Group, []error) {
	groups, errs := make([]*group.Group, len(cs)), make([]error, len(cs))
	each(len(cs), func(r int) { groups[r], errs[r] = group.Join(w.Context(), cs[r]) })
	return groups, errs
}

// groups joins n ranks that must come together.
func (w *world) groups(first, n int) []*group.Group {
	w.Helper()
	groups, err := simtest.Join(w.Context(), w.configs(first, n))
	if err != nil {
		w.Fatal(err)
	}
	return groups
}

// leave closes the groups at once and within bounds.
func (w *world) leave(groups []*group.Group) {
	w.Helper()
	start := time.Now()
	each(len(groups), func(r int) {
		if err := groups[r].Close(w.Context()); err != nil {
			w.Errorf("rank %d: close: %v", r, err)
		}
	})
	if took := time.Since(start); took > 5*time.Second {
		w.Errorf("close took %v", took)
	}
}

// kill ends a rank as SIGKILL does: its connection and its device's work end.
func kill(g *group.Group) {
	g.Unwatch()
	d := g.Given().(*tally)
	d.dead = true
	d.Driver.Close()
	g.Disconnect()
}

func each(n int, f func(i int)) {
	_ = simtest.Each(n, func(i int) error {
		f(i)
		return nil
	})
}

// toy is a plan that passes a token to the next rank and gets it acknowledged.
type toy struct {
	g          *group.Group
	id         int
	main, copy *group.Stream
	ready, ack int64
	fork, join driver.Event
	// hold is a word that the copy stream waits for ahead of its first step, which no step names; 0: none.
	hold int64
}

func newToy(g *group.Group) *toy {
	p := &toy{g: g}
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var err error
	p.main, err = g.Stream("main", 0, driver.Normal)
	check(err)
	p.copy, err = g.Stream("copy", 0, driver.High)
	check(err)
	p.ready, err = g.Arena().Words(g.Size())
	check(err)
	p.ack, err = g.Arena().Words(g.Size())
	check(err)
	p.fork, err = g.Driver().EventCreate(false)
	check(err)
	p.join, err = g.Driver().EventCreate(false)
	check(err)
	p.id, err = g.Register(p)
	check(err)
	return p
}

func (p *toy) close() {
	p.g.Unregister(p.id)
	p.g.Driver().EventDestroy(p.fork)
	p.g.Driver().EventDestroy(p.join)
}

func (p *toy) next() int { return (p.g.Rank() + 1) % p.g.Size() }
func (p *toy) prev() int { return (p.g.Rank() + p.g.Size() - 1) % p.g.Size() }

func (p *toy) Name() string { return "toy" }

func (p *toy) Steps() []group.Step {
	return []group.Step{
		{Number: 1, Stream: "main", Text: fmt.Sprintf("Post ready[%d]", p.next())},
		{Number: 2, Stream: "copy", Wait: true, Peers: []int{p.prev()}, Posts: p.posts(p.ready, p.prev()),
			Text: fmt.Sprintf("Wait ready[%d]", p.prev())},
		{Number: 3, Stream: "copy", Text: fmt.Sprintf("Post ack[%d]", p.prev())},
		{Number: 4, Stream: "copy", Wait: true, Peers: []int{p.next()}, Posts: p.posts(p.ack, p.next()),
			Text: fmt.Sprintf("Wait ack[%d]", p.next())},
	}
}

func (p *toy) posts(sem int64, from int) []group.Post {
	return []group.Post{{Peer: from, Word: p.g.Arena().Base(p.g.Rank()) + driver.Ptr(sem) + driver.Ptr(4*from)}}
}

func (p *toy) post(s driver.Stream, sem int64, to int) error {
	at := p.g.Arena().Base(to) + driver.Ptr(sem) + driver.Ptr(4*p.g.Rank())
	return p.g.Driver().StreamBatchMemOp(s, []driver.MemOp{{Kind: driver.Write, Value: 1, Address: at}})
}

func (p *toy) wait(s *group.Stream, sem int64, from, step int) error {
	at := p.g.Arena().Base(p.g.Rank()) + driver.Ptr(sem) + driver.Ptr(4*from)
	return p.g.Driver().StreamBatchMemOp(s.Handle, []driver.MemOp{
		{Kind: driver.WaitEqual, Value: 1, Address: at}, {Kind: driver.Write, Value: 0, Address: at},
		{Kind: driver.Write, Value: group.StepValue(p.id, step), Address: s.Step}})
}

func (p *toy) issue(main driver.Stream) error {
	d := p.g.Driver()
	var held error
	if p.hold != 0 {
		held = d.StreamBatchMemOp(p.copy.Handle, []driver.MemOp{{Kind: driver.WaitEqual, Value: 1,
			Address: p.g.Arena().Base(p.g.Rank()) + driver.Ptr(p.hold)}})
	}
	return errors.Join(held,
		p.post(main, p.ready, p.next()),
		d.EventRecordWithFlags(p.fork, main, 0), d.StreamWaitEvent(p.copy.Handle, p.fork, 0),
		p.wait(p.copy, p.ready, p.prev(), 2),
		p.post(p.copy.Handle, p.ack, p.prev()),
		p.wait(p.copy, p.ack, p.next(), 4),
		d.EventRecordWithFlags(p.join, p.copy.Handle, 0), d.StreamWaitEvent(main, p.join, 0))
}

// enqueue runs after what main holds.
func (p *toy) enqueue(ctx context.Context, main driver.Stream) (group.Run, error) {
	r, err := p.g.Begin(ctx, p.id, main)
	if err != nil {
		return r, err
	}
	return r, errors.Join(p.issue(main), p.g.End(&r))
}

func (p *toy) run(ctx context.Context) error {
	r, err := p.enqueue(ctx, p.main.Handle)
	if err != nil {
		return err
	}
	return p.g.Wait(&r)
}

// runs goes on until a run fails.
func (p *toy) runs(ctx context.Context) error {
	for {
		if err := p.run(ctx); err != nil {
			return err
		}
	}
}

// tally counts what a driver holds.
type tally struct {
	driver.Decorator
	dead bool // its process was killed
	mu   sync.Mutex
	open map[string]int
}

func (d *tally) add(what string, n int, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.open[what] += n
	}
	return err
}

func (d *tally) left() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := ""
	for what, n := range d.open {
		if n != 0 {
			s += fmt.Sprintf("%d %s ", n, what)
		}
	}
	return s
}

func (d *tally) MemAlloc(n int64) (driver.Ptr, error) {
	p, err := d.Driver.MemAlloc(n)
	return p, d.add("allocations", 1, err)
}

func (d *tally) MemFree(p driver.Ptr) error { return d.add("allocations", -1, d.Driver.MemFree(p)) }

func (d *tally) MemHostRegister(p unsafe.Pointer, n int64) (driver.Ptr, error) {
	at, err := d.Driver.MemHostRegister(p, n)
	return at, d.add("pinned pages", 1, err)
}

func (d *tally) MemHostUnregister(p unsafe.Pointer) error {
	return d.add("pinned pages", -1, d.Driver.MemHostUnregister(p))
}

func (d *tally) IpcOpenMemHandle(h driver.IpcMemHandle) (driver.Ptr, error) {
	p, err := d.Driver.IpcOpenMemHandle(h)
	return p, d.add("imports", 1, err)
}

func (d *tally) IpcCloseMemHandle(p driver.Ptr) error {
	return d.add("imports", -1, d.Driver.IpcCloseMemHandle(p))
}

func (d *tally) StreamCreateWithPriority(p driver.Priority) (driver.Stream, error) {
	s, err := d.Driver.StreamCreateWithPriority(p)
	return s, d.add("streams", 1, err)
}

func (d *tally) StreamDestroy(s driver.Stream) error {
	return d.add("streams", -1, d.Driver.StreamDestroy(s))
}

func (d *tally) EventCreate(timing bool) (driver.Event, error) {
	e, err := d.Driver.EventCreate(timing)
	return e, d.add("events", 1, err)
}

func (d *tally) EventDestroy(e driver.Event) error {
	return d.add("events", -1, d.Driver.EventDestroy(e))
}

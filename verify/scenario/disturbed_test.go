package scenario

import (
	"errors"
	"fmt"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/around"
	"ovgen/runtime/group"
	"ovgen/verify/inject"
)

// decorate puts a filter around this rank's driver, on top of the filters it has.
func (e *env) decorate(before func(*around.Call) error) {
	if e.seeded {
		f := inject.New(e.config.Driver)
		f.Before = before
		e.config.Driver = f
		return
	}
	inner := e.config.Decorate
	e.config.Decorate = func(d driver.Driver) driver.Driver {
		f := inject.New(inner(d))
		f.Before = before
		return f
	}
}

// busy joins, makes a plan and runs it for one layer after the other until something fails. No call takes long,
// and what succeeds is right.
func (e *env) busy(runs int) error {
	g, err := e.join("")
	if err != nil {
		return err
	}
	l, err := newLayer(e, e.of, g, e.of.shape(g.Size()))
	for i := 0; err == nil && i < runs; i++ {
		began := time.Now()
		if err = l.turn(e, i); err == nil {
			err = l.right(e, l.a.Ptr(), i)
		}
		if took := time.Since(began); took > within {
			err = fmt.Errorf("a run took %v: %w", took, err)
		}
	}
	if e.dead.Load() {
		return nil
	}
	dead := g.Err()
	if l != nil {
		_ = l.free(e) // what fails here has been injected, or follows from it
	}
	_ = g.Close(e)
	return errors.Join(err, dead)
}

// killedAnywhere kills a rank at a random driver call, while it joins, makes its
// plan or runs.
func killedAnywhere(e *env) error {
	victim, n := e.random.IntN(e.size), int64(1+e.random.IntN(1000))
	if e.rank == victim {
		e.decorate(inject.Kill("", n))
	}
	err := e.busy(1000)
	var a *group.AbortError
	switch {
	case err == nil:
		return errors.New("nobody noticed that a rank died")
	case !errors.As(err, &a) && !errors.Is(err, group.ErrPeerGone):
		return fmt.Errorf("not an abort: %w", err)
	}
	return nil
}

var errInjected = errors.New("an injected failure")

// failingCalls are the calls in which failures are injected, and how often each is made
// until a few runs are done.
var failingCalls = []struct {
	name string
	most int
}{
	{"MemAlloc", 8}, {"IpcGetMemHandle", 2}, {"IpcOpenMemHandle", 4}, {"StreamCreateWithPriority", 6},
	{"EventCreate", 70},
	{"MatmulCreate", 1}, {"GraphInstantiate", layers}, {"GraphLaunch", 4}, {"StreamBatchMemOp", 12},
	{"MemcpyDtoDAsync", 4},
	{"Matmul", 4}, {"EventRecordWithFlags", 12}, {"StreamWaitEvent", 12},
}

// failing makes one driver call of one rank fail: that rank gets the failure, the
// others an error in time, and no one wrong bits.
func failing(e *env) error {
	victim := e.random.IntN(e.size)
	c := failingCalls[e.random.IntN(len(failingCalls))]
	n := 1 + e.random.IntN(c.most)
	failed := false
	if e.rank == victim {
		e.decorate(inject.At(c.name, int64(n), func() error {
			failed = true
			return fmt.Errorf("%s: %w", c.name, errInjected)
		}))
	}
	err := e.busy(6)
	switch {
	case e.rank == victim && failed && !errors.Is(err, errInjected):
		return fmt.Errorf("call %d of %s failed, and the rank says: %w", n, c.name, err)
	case e.rank == victim && !failed && err != nil:
		return fmt.Errorf("call %d of %s was not reached: %w", n, c.name, err)
	}
	return nil
}

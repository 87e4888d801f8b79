package scenario

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/group"
	"ovgen/verify/inject"
)

// moment is where rank 1 is killed in a life with NCCL.
type moment struct {
	// run is what the others do meanwhile. It returns when their streams have drained, with the group's error.
	run func(e *env, t *together, l *layer) error
	// away is what rank 1 does before it is killed; nil: nothing.
	away func(e *env, t *together) error
	want string // in the error of a rank that waited
}

var moments = map[string]moment{
	// NCCL's operation is behind a wait of ours that rank 1 would end. All others have enqueued it by then.
	"behind a wait": {run: func(e *env, t *together, l *layer) error {
		s := t.s.Handle()
		return errors.Join(l.Enqueue(s), t.product.Enqueue(s), t.enqueued(e), t.ended(e))
	}, away: func(e *env, t *together) error {
		return t.enqueued(e)
	}, want: "waited for rank 1 at plan 1 (allgatherlinear), step "},
	"in a capture": {run: func(e *env, t *together, l *layer) error {
		s := t.s.Handle()
		_, err := device.Capture(t.g.Driver(), s, func() error {
			if err := t.product.Enqueue(s); err != nil {
				return err
			}
			<-t.g.Done()
			return t.gather.Enqueue(s)
		})
		return errors.Join(err, t.ended(e))
	}, away: func(e *env, t *together) error {
		_, err := device.Capture(t.g.Driver(), t.s.Handle(), func() error {
			err := t.product.Enqueue(t.s.Handle())
			e.kill()
			return err
		})
		return err
	}},
	// A graph holds the communicator, and is in flight.
	"with a graph": {run: func(e *env, t *together, l *layer) error {
		graph, err := t.captured()
		if err != nil {
			return err
		}
		return errors.Join(graph.Launch(t.s.Handle()), t.ended(e), graph.Close())
	}, want: "rank 1 is gone"},
}

// enqueued waits until all ranks are here.
func (t *together) enqueued(e *env) error {
	_, err := t.g.Gather(e, "enqueued", nil)
	return err
}

// ended waits for the end of the group, and until its streams have drained.
func (t *together) ended(e *env) error {
	<-t.g.Done()
	e.learnt = time.Now()
	return errors.Join(t.s.Synchronize(), t.g.Err())
}

// killedAt kills rank 1 at a moment: each other rank gets a typed error in time, its device stays usable, Close is
// bounded, and those who live make another group.
func killedAt(name string) func(e *env) error {
	m := moments[name]
	return func(e *env) error {
		g, err := e.join("")
		if err != nil {
			return err
		}
		l, err := newLayer(e, e.of, g, e.of.shape(g.Size()))
		if err != nil {
			return err
		}
		t, err := newTogether(e, g)
		if err == nil {
			err = errors.Join(t.right(e, 0), l.right(e, l.a.Ptr(), 1))
		}
		if err == nil {
			_, err = g.Gather(e, "meet", nil)
		}
		if err != nil {
			return err
		}
		if e.rank == 1 {
			if m.away != nil {
				_ = m.away(e, t)
			}
			return e.killed(g)
		}
		began := time.Now()
		if err := e.survived(g, began, m.run(e, t, l), m.want); err != nil {
			return err
		}
		return e.togetherAgain(1, true)
	}
}

// killedConnecting kills rank 1 as it makes its communicator, for which NCCL waits on the others.
func killedConnecting(e *env) error {
	if e.rank == 1 {
		e.decorate(inject.At("CommInitRank", 1, func() error {
			e.kill()
			return errInjected
		}))
	}
	g, err := e.join("")
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err = newTogether(e, g); e.rank == 1 {
		return e.killed(g)
	}
	if err := e.survived(g, began, err, "rank 1 is gone"); err != nil {
		return err
	}
	return e.togetherAgain(1, true)
}

// killedBetweenHosts kills rank 1 while sums go over hosts, at a random moment.
func killedBetweenHosts(e *env) error {
	after := time.Duration(e.random.IntN(6000)) * time.Microsecond
	g, err := e.join("")
	if err != nil {
		return err
	}
	h, err := newHosted(e, g)
	if err == nil {
		_, err = g.Gather(e, "meet", nil)
	}
	if err != nil {
		return err
	}
	defer e.end(g, 1, after, true)()
	began := time.Now()
	for turn := 0; err == nil && time.Since(began) < within; turn++ {
		err = h.right(e, turn)
	}
	if e.rank == 1 {
		return e.killed(g)
	}
	if err := e.survived(g, began, err, "rank 1 is gone"); err != nil {
		return err
	}
	if want := fmt.Sprintf("; ranks 0 to %d are on host ", g.PerHost()-1); !strings.Contains(err.Error(), want) {
		return fmt.Errorf("the error does not say %q: %w", want, err)
	}
	return e.hostsAgain(1, true)
}

// killed is the end of this rank, where it does not end its process.
func (e *env) killed(g *group.Group) error {
	if !e.dead.Load() {
		e.kill()
	}
	<-g.Done()
	_ = g.Close(e)
	return nil
}

// survived looks at what a rank that lives has got of the death of rank 1: a typed error in time that says so, a device
// that is usable, and a Close that ends.
func (e *env) survived(g *group.Group, began time.Time, err error, want string) error {
	if failed := aborted(err); failed != nil {
		return failed
	}
	limit := within // where processes have few cores
	if (e.seeded || e.onGPU) && !e.learnt.IsZero() {
		limit = time.Second
	} else {
		e.learnt = time.Now()
	}
	if took := e.learnt.Sub(began); took > limit {
		return fmt.Errorf("an error after %v: %w", took, err)
	}
	if !e.seeded && !strings.Contains(err.Error(), want) { // a rank killed in the simulator still says something
		return fmt.Errorf("the error does not say %q: %w", want, err)
	}
	began = time.Now()
	if err := errors.Join(g.Driver().CtxSynchronize(), g.Close(e)); err != nil {
		return fmt.Errorf("after an abort: %w", err)
	}
	if took := time.Since(began); took > within {
		return fmt.Errorf("close took %v", took)
	}
	return nil
}

// Package simulate carries out lists of operations on the simulator, by driver calls
// of its own and not by a generated package: so that mutants, which have no package,
// can be seen to fail. Everything is enqueued without a host wait; inputs are fresh in
// each run, results are poisoned between runs and compared bit by bit. Only its own tests
// need it.
package simulate

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/mutate"
	"ovgen/verify/reference"
	"ovgen/verify/sim"
)

// Config of a simulation.
type Config struct {
	Seed uint64
	Runs int
	// Captured replays one graph a rank instead of enqueueing each run.
	Captured bool
	// Queues is the number of hardware queues of a device; zero gives each stream one.
	Queues int
	// Mutant runs the case's mutated lists, else the right ones.
	Mutant bool
}

// Outcome of a simulation.
type Outcome struct {
	Hung  []string // what each stream waits for, where not all ended
	Races []sim.Race
	Wrong []string // elements of C that are not as they should be
	Err   error    // of a driver call
}

// Failed reports whether something went wrong.
func (o Outcome) Failed() bool {
	return len(o.Hung) > 0 || len(o.Races) > 0 || len(o.Wrong) > 0 || o.Err != nil
}

// String names the first thing that went wrong.
func (o Outcome) String() string {
	switch {
	case o.Err != nil:
		return "error: " + o.Err.Error()
	case len(o.Hung) > 0:
		return "hang: " + o.Hung[0]
	case len(o.Wrong) > 0:
		return "wrong: " + o.Wrong[0]
	case len(o.Races) > 0:
		return "race: " + o.Races[0].String()
	}
	return "right"
}

// patience is how long runs may take in virtual time: far more than they need.
const patience = 50 * time.Millisecond

// Run carries out a case. It must be called in a testing/synctest bubble, where a
// seed decides everything.
func Run(c mutate.Case, cfg Config) (out Outcome) {
	lists := c.Right
	if cfg.Mutant {
		lists = c.Lists
	}
	problem, err := problemOf(c)
	if err != nil {
		return Outcome{Err: err}
	}
	w := sim.NewWorld(sim.Config{Devices: len(lists), Seed: cfg.Seed, Queues: cfg.Queues})
	defer w.Close()
	ranks := make([]*rank, len(lists))
	for r := range ranks {
		d, err := w.Open(r)
		if err != nil {
			return Outcome{Err: err}
		}
		ranks[r] = &rank{Driver: d, number: r, list: lists[r], Case: c, Config: cfg, problem: problem}
		if err := ranks[r].allocate(lists); err != nil {
			return Outcome{Err: fmt.Errorf("prepare rank %d: %w", r, err)}
		}
	}
	errs := make([]error, len(ranks))
	for i, r := range ranks {
		errs[i] = r.open(ranks)
	}
	if err := errors.Join(append(errs, connect(ranks))...); err != nil {
		return Outcome{Err: err}
	}
	var all sync.WaitGroup
	for i, r := range ranks {
		all.Go(func() { errs[i] = r.issue() })
	}
	all.Wait()
	out.Err = errors.Join(errs...)
	if out.Err == nil && !drained(ranks) {
		out.Hung = append([]string{"not drained"}, w.Waiting()...)
	}
	out.Races = w.Races()
	if out.Err != nil || out.Hung != nil {
		return out
	}
	for _, r := range ranks {
		wrong, err := r.compare()
		out.Wrong, out.Err = append(out.Wrong, wrong...), errors.Join(out.Err, err)
	}
	return out
}

// problemOf is the problem that a case has to compute.
func problemOf(c mutate.Case) (*reference.Problem, error) {
	s := c.Shape
	e := reference.Extents{schedule.D: s.Ranks, schedule.M: int(s.M), schedule.K: int(s.K), schedule.N: int(s.N)}
	for name, n := range s.Extents {
		e[schedule.Extent(name)] = int(n)
	}
	p := &reference.Problem{Ops: c.Program.Schedule.Ops, Tensors: c.Program.Schedule.Tensors, Extents: e,
		Type: driver.FP32}
	for _, n := range s.Counts {
		p.Counts = append(p.Counts, int(n))
	}
	return p, p.Check()
}

// drained waits until every stream is empty; it is false when that takes too long.
func drained(ranks []*rank) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(patience / 50) {
		busy := false
		for _, r := range ranks {
			for _, s := range r.streams {
				done, err := r.StreamQuery(s)
				busy = busy || !done || err != nil
			}
		}
		if !busy {
			return true
		}
	}
	return false
}

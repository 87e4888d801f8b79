package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	places "ovgen/runtime/launcher"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/harness"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// Subject is a generated package with the host program of its schedule.
type Subject struct {
	Made    harness.Program
	Program *hostir.Program
}

// Record records the package's runs on all ranks at one shape and compares each with the
// operations unrolled from its program. It returns the ranks' first runs.
func (s *Subject) Record(ctx context.Context, at ops.Case, t driver.Type) ([][]ops.Op, error) {
	network := store.Memory()
	first, errs := make([][]ops.Op, at.Ranks), make([]error, at.Ranks)
	var ranks sync.WaitGroup
	for r := range at.Ranks {
		ranks.Go(func() {
			c := at
			c.Rank = r
			want, err := ops.Unroll(s.Program, c)
			if err != nil {
				errs[r] = err
				return
			}
			x := &rank{Subject: s, at: c, typ: t, driver: New(r), want: want}
			if c.Hosts > 1 {
				x.driver.Over(c.Ranks / c.Hosts)
			}
			err = x.join(ctx, network)
			if first[r] = x.first; err != nil {
				errs[r] = fmt.Errorf("rank %d: %w", r, err)
			}
		})
	}
	ranks.Wait()
	return first, cause(errs)
}

// cause is the first error that does not come from another rank's abort.
func cause(errs []error) error {
	for _, err := range errs {
		if abort := (*group.AbortError)(nil); err != nil && !errors.As(err, &abort) {
			return err
		}
	}
	return errors.Join(errs...)
}

// Prove proves recorded runs. It leaves out memory of New beyond the counts: the model knows only the counted rows.
func (s *Subject) Prove(ctx context.Context, at ops.Case, lists [][]ops.Op) error {
	if len(at.Counts) > 0 {
		at.Extents = maps.Clone(at.Extents)
		at.Extents["M"] = 0
		for _, n := range at.Counts {
			at.Extents["M"] += n
		}
	}
	model, err := prove.Of(s.Program, at)
	if err != nil {
		return err
	}
	_, err = prove.Lists(ctx, model, lists, 0)
	return err
}

// rank is a rank whose runs are recorded.
type rank struct {
	*Subject
	at     ops.Case
	typ    driver.Type
	driver *Driver
	want   []ops.Op
	first  []ops.Op // of the first run
	run    harness.Plan
	stream *device.Stream
}

// arena is the arena's size: more than any plan stages.
const arena = int64(space >> 5)

// join makes a group and records in it.
func (r *rank) join(ctx context.Context, network store.Network) error {
	g, err := group.Join(ctx, group.Config{Rank: r.at.Rank, Size: r.at.Ranks, Job: "record",
		Driver: r.driver, Arena: arena, Host: places.PlayedHost(r.at.Rank, r.at.Ranks, r.at.Hosts),
		Timeout: 10 * time.Second, Network: network})
	if err != nil {
		return err
	}
	err = r.record(ctx, g)
	if err != nil {
		g.Abort(err)
	}
	return errors.Join(err, g.Close(ctx), r.driver.Close())
}

// record makes the plan and binds it twice; each time it records runs.
func (r *rank) record(ctx context.Context, g *group.Group) (err error) {
	shape := harness.Sized(r.at.Extents, r.typ)
	shape.Epsilon = epsilon
	r.run, err = r.Made.New(ctx, g, shape)
	if err != nil {
		return err
	}
	if err := r.identity(); err != nil {
		return err
	}
	if x, ok := r.run.(harness.Calling); ok {
		x.Calls(r.Made.Schedule.Ops, func(o schedule.Op) plan.Call {
			if o.Kernel.File != "" {
				return nil // its kernel's launch is recorded
			}
			return r.driver.called(o.Call)
		})
	}
	if r.stream, err = device.NewStream(r.driver, driver.Normal); err != nil {
		return err
	}
	for _, bind := range []string{"", " after another Bind"} {
		memory, err := r.memory()
		if err != nil {
			return err
		}
		if err := r.run.Bind(ctx, memory); err != nil {
			return err
		}
		if err := r.runs(ctx, bind); err != nil {
			return err
		}
	}
	return errors.Join(r.stream.Close(), r.run.Close(ctx))
}

func (r *rank) base() *plan.Plan { return r.run.(interface{ Base() *plan.Plan }).Base() }

// identity compares the package's description of itself with the description in its test.
func (r *rank) identity() error {
	is := r.base().Program()
	if is.Name != r.Made.Name || is.Proof != r.Made.Proof || is.Eager != r.Made.Eager ||
		!slices.Equal(is.Ranks, r.Made.Ranks) {
		return fmt.Errorf("the package is %s, %s, ranks %v, eager %t; it was generated as %s, %s, ranks %v, eager %t",
			is.Name, is.Proof, is.Ranks, is.Eager, r.Made.Name, r.Made.Proof, r.Made.Ranks, r.Made.Eager)
	}
	return nil
}

// memory is new memory for the caller's buffers.
func (r *rank) memory() (harness.Buffers, error) {
	to := harness.Buffers{At: map[string]driver.Ptr{}}
	for _, n := range r.at.Counts {
		to.Counts = append(to.Counts, int(n))
	}
	for _, b := range r.Program.Buffers {
		if b.Owner != hostir.Caller || b.Tensor.Root && r.at.Rank != 0 {
			continue
		}
		n, err := b.Elements.Eval(r.at.Env(r.Program))
		if err != nil {
			return to, err
		}
		bytes, err := b.Bytes(n, r.at.ElementBits)
		if err != nil {
			return to, err
		}
		if to.At[b.Name], err = r.driver.MemAlloc(max(bytes, 1)); err != nil {
			return to, err
		}
	}
	return to, nil
}

// times is the number of recordings of each way to run. It is enough to see an operation that only the first run has,
// or every twelfth run.
const times = 4

// runs records runs in each way.
func (r *rank) runs(ctx context.Context, when string) error {
	s := r.stream.Handle()
	enqueue := func() error { return r.run.Enqueue(s) }
	for n := range times {
		if err := r.compare(fmt.Sprintf("eager run %d%s", n+1, when), s, enqueue); err != nil {
			return err
		}
	}
	if !r.Made.Eager {
		for n := range times {
			graph, err := device.Capture(r.driver, s, enqueue)
			if err != nil {
				return err
			}
			launch := func() error { return graph.Launch(s) }
			if err := errors.Join(r.compare(fmt.Sprintf("captured run %d%s", n+1, when), s, launch),
				graph.Close()); err != nil {
				return err
			}
		}
		if err := r.compare("replayed run"+when, s, func() error { return r.run.Replay(s) }); err != nil {
			return err
		}
	}
	return r.compare("own run"+when, r.own(), func() error { return r.run.Run(ctx) })
}

// own is the stream on which the plan's Run enqueues.
func (r *rank) own() driver.Stream {
	for s, name := range r.base().Streams() {
		if name == plan.MainStream {
			return s
		}
	}
	return 0
}

// compare records one run and compares it with the program.
func (r *rank) compare(what string, main driver.Stream, run func() error) error {
	r.driver.Start()
	if err := run(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	got, err := r.driver.Stop(Of(r.base(), main, r.typ))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := differ(r.want, got); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if r.first == nil {
		r.first = got
	}
	return nil
}

// differ finds the first operation at which a recorded list differs from the list of the program.
func differ(want, got []ops.Op) error {
	for i, w := range want {
		if i >= len(got) {
			return &DifferenceError{Operation: i, Want: w.String(), Got: "nothing"}
		}
		g := got[i]
		w.Step, g.Step = 0, 0 // calls are numbered differently
		if !w.Equal(g) {
			return &DifferenceError{Operation: i, Want: w.String(), Got: g.String()}
		}
	}
	if n := len(want); n < len(got) {
		return &DifferenceError{Operation: n, Want: "nothing", Got: got[n].String()}
	}
	return nil
}

// DifferenceError reports that a package enqueues another operation than its program.
type DifferenceError struct {
	Operation int // from 0, which is After
	Want, Got string
}

// Error shows both operations.
func (e *DifferenceError) Error() string {
	return fmt.Sprintf("operation %d is\n\t%s\nand the program's is\n\t%s", e.Operation, e.Got, e.Want)
}

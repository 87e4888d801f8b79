package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ovgen/generated/allgathernccl"
	"ovgen/generated/linearallreducenccl"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// together is a group with two plans of NCCL's: an all-gather, whose result is looked at, and a
// product with an all-reduce.
type together struct {
	g       *group.Group
	gather  *allgathernccl.Plan
	product *linearallreducenccl.Plan
	a, c, b *device.Buffer
	s       *device.Stream
}

// rowBytes is what each rank brings to the all-gather.
const rowBytes = 64

func newTogether(ctx context.Context, g *group.Group) (t *together, err error) {
	t = &together{g: g}
	d, n := g.Driver(), g.Size()
	for _, x := range []struct {
		to    **device.Buffer
		bytes int64
	}{{&t.a, rowBytes}, {&t.b, 64}, {&t.c, int64(n) * rowBytes}} {
		if *x.to, err = device.Alloc(d, x.bytes); err != nil {
			return t, err
		}
	}
	if t.s, err = device.NewStream(d, driver.Normal); err == nil {
		err = made(ctx, g)
	}
	if err != nil {
		return t, err
	}
	t.gather, err = allgathernccl.New(ctx, g, allgathernccl.Shape{M: n, N: rowBytes / 4, Type: driver.FP32})
	if err != nil {
		return t, err
	}
	shape := linearallreducenccl.Shape{M: 4, K: 4 * n, N: 4, Type: driver.FP32}
	if t.product, err = linearallreducenccl.New(ctx, g, shape); err != nil {
		return t, err
	}
	return t, errors.Join(t.gather.Bind(ctx, allgathernccl.Buffers{A: t.a.Ptr(), C: t.c.Ptr()}),
		t.product.Bind(ctx, linearallreducenccl.Buffers{A: t.a.Ptr(), B: t.b.Ptr(), C: t.c.Ptr()}))
}

// captured is a graph of the caller's with a run of each plan.
func (t *together) captured() (*device.Graph, error) {
	return device.Capture(t.g.Driver(), t.s.Handle(), func() error {
		return errors.Join(t.product.Enqueue(t.s.Handle()), t.gather.Enqueue(t.s.Handle()))
	})
}

// right runs the all-gather once, replayed or not, and the product, and looks at the all-gather's
// result.
func (t *together) right(ctx context.Context, turn int) error {
	enqueue := t.gather.Enqueue
	if turn%2 == 0 {
		enqueue = t.gather.Replay
	}
	if err := t.product.Run(ctx); err != nil {
		return err
	}
	return t.looked(turn, enqueue)
}

// looked looks at the all-gather's result once a stream has drained.
func (t *together) looked(turn int, enqueue func(driver.Stream) error) error {
	d, row := t.g.Driver(), make([]byte, rowBytes)
	for i := range row {
		row[i] = byte(turn + t.g.Rank())
	}
	if err := d.MemcpyHtoD(t.a.Ptr(), row); err != nil {
		return err
	}
	if err := errors.Join(enqueue(t.s.Handle()), t.s.Synchronize(), t.g.Err()); err != nil {
		return err
	}
	got := make([]byte, t.c.Bytes())
	if err := d.MemcpyDtoH(got, t.c.Ptr()); err != nil {
		return err
	}
	for i, x := range got {
		if want := byte(turn + i/rowBytes); x != want {
			return fmt.Errorf("wrong bits in turn %d: byte %d is %d, want %d", turn, i, x, want)
		}
	}
	return nil
}

// collectives run right, eager, replayed and in a graph of the caller's, in turn.
func collectives(e *env) error {
	g, err := e.join("")
	if err != nil {
		return err
	}
	t, err := newTogether(e, g)
	if err != nil {
		return err
	}
	graph, err := t.captured()
	for turn := 0; err == nil && turn < 4; turn++ {
		if err = t.right(e, 2*turn); err == nil {
			err = t.looked(2*turn+1, graph.Launch)
		}
	}
	if err == nil {
		err = graph.Close()
	}
	return errors.Join(err, g.Close(e))
}

// collectiveLate bounds a run that rank 1 does not take part in: the error says who waited for whom, at
// which step.
func collectiveLate(e *env) error {
	g, err := e.join("")
	if err != nil {
		return err
	}
	t, err := newTogether(e, g)
	if err == nil {
		err = t.right(e, 0)
	}
	if err != nil {
		return err
	}
	if e.rank == 1 {
		<-g.Done()
		err = g.Err()
	} else {
		ctx, cancel := context.WithTimeout(e, 50*time.Millisecond)
		defer cancel()
		err = t.product.Run(ctx)
	}
	if failed := aborted(err); failed != nil {
		return failed
	}
	for _, want := range []string{"rank 0", "waited for rank 1 at plan 2 (linearallreducenccl), step ",
		": NCCL all-reduce"} {
		if !strings.Contains(err.Error(), want) {
			return fmt.Errorf("the error does not say %q: %w", want, err)
		}
	}
	return g.Close(e)
}

// collectivesKilled kills rank 1 after some turns: the others learn it, their device stays usable, and
// they make another group.
func collectivesKilled(e *env) error {
	turns := e.random.IntN(20)
	g, err := e.join("")
	if err != nil {
		return err
	}
	t, err := newTogether(e, g)
	for turn := 0; err == nil; turn++ {
		if e.rank == 1 && turn == turns {
			e.kill()
		}
		err = t.right(e, turn)
	}
	if failed := aborted(err); failed != nil {
		return failed
	}
	if !strings.Contains(err.Error(), "rank 1 is gone") {
		return fmt.Errorf("the error does not name rank 1: %w", err)
	}
	if err := errors.Join(g.Driver().CtxSynchronize(), g.Close(e)); err != nil {
		return fmt.Errorf("after an abort: %w", err)
	}
	return e.togetherAgain(1, true)
}

// collectivesAnywhere aborts, or kills a rank, at a random moment from the making of the communicator
// on: runs that report success have the right bits, all learn of the end in time, Close is bounded,
// the device stays usable, and those who live make another group.
func collectivesAnywhere(e *env) error {
	victim, kills := e.random.IntN(e.size), e.random.IntN(2) == 0 && !e.config.Local
	after := time.Duration(e.random.IntN(8000)) * time.Microsecond
	g, err := e.join("")
	if err != nil {
		return err
	}
	defer e.end(g, victim, after, kills)()
	began := time.Now()
	t, err := newTogether(e, g)
	for turn := 0; err == nil && time.Since(began) < within; turn++ {
		err = t.right(e, turn)
	}
	if e.dead.Load() {
		<-g.Done()
		_ = g.Close(e)
		return nil
	}
	if failed := aborted(err); failed != nil {
		return failed
	}
	if took := time.Since(began); took > within {
		return fmt.Errorf("an error after %v: %w", took, err)
	}
	if err := g.Driver().CtxSynchronize(); err != nil {
		return fmt.Errorf("the context after an abort: %w", err)
	}
	if err := g.Close(e); err != nil {
		return fmt.Errorf("close after an abort: %w", err)
	}
	return e.togetherAgain(victim, kills)
}

// togetherAgain runs in another group, without a rank that died.
func (e *env) togetherAgain(victim int, dead bool) error {
	ranks := e.all()
	if dead {
		ranks = append(ranks[:victim], ranks[victim+1:]...)
	}
	g, err := e.joinSome("again", ranks)
	if err != nil {
		return err
	}
	t, err := newTogether(e, g)
	if err == nil {
		err = t.right(e, 1)
	}
	return errors.Join(err, g.Close(e))
}

// collectiveKept aborts while a graph of the caller's holds the communicator: Close says so in time,
// and a replay drains.
func collectiveKept(e *env) error {
	g, err := e.join("")
	if err != nil {
		return err
	}
	t, err := newTogether(e, g)
	if err != nil {
		return err
	}
	graph, err := t.captured()
	if err != nil {
		return err
	}
	if err := errors.Join(graph.Launch(t.s.Handle()), t.s.Synchronize(), g.Err()); err != nil {
		return err
	}
	if _, err := g.Gather(e, "meet", nil); err != nil {
		return err
	}
	if e.rank == 0 {
		time.Sleep(10 * time.Millisecond) // the others have met as well
		g.Abort(errReason)
	}
	<-g.Done()
	time.Sleep(50 * time.Millisecond) // each rank has aborted
	if err := errors.Join(graph.Launch(t.s.Handle()), t.s.Synchronize()); err != nil {
		return fmt.Errorf("a replay after the abort: %w", err)
	}
	began := time.Now()
	err = g.Close(e)
	if took := time.Since(began); took > within || err == nil ||
		!strings.Contains(err.Error(), "graphs that the caller captured") {
		return fmt.Errorf("close after %v: %w", took, err)
	}
	return nil
}

package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ovgen/generated/allgathernccl"
	"ovgen/generated/allreducenccl"
	"ovgen/generated/linearallreducenccl"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/verify/reference"
)

// symmetric is a group with the collectives of NCCL's symmetric kernels, over memory of Group.Symmetric: an all-gather
// of a to c, a reduce-scatter of c to b, an all-reduce of c to d, and one to e of products of a, which are staged
// there.
type symmetric struct {
	g             *group.Group
	s             *device.Stream
	gather        *allgathernccl.Plan
	reduce        *allreducenccl.Plan
	product       *linearallreducenccl.Plan
	a, b, c, d, e driver.Ptr
}

// columns of the tensors, of 4 bytes each.
const columns = 16

func newSymmetric(ctx context.Context, g *group.Group) (x *symmetric, err error) {
	n := g.Size()
	x = &symmetric{g: g}
	for _, to := range []struct {
		at   *driver.Ptr
		rows int
	}{{&x.a, 1}, {&x.b, 1}, {&x.c, n}, {&x.d, n}, {&x.e, 1}} {
		if *to.at, err = g.Symmetric(int64(to.rows * columns * 4)); err != nil {
			return x, err
		}
	}
	if x.s, err = device.NewStream(g.Driver(), driver.Normal); err != nil {
		return x, err
	}
	if x.gather, err = allgathernccl.New(ctx, g, allgathernccl.Shape{M: n, N: columns, Type: driver.FP32}); err != nil {
		return x, err
	}
	if x.reduce, err = allreducenccl.New(ctx, g, allreducenccl.Shape{M: n, N: columns, Type: driver.FP32}); err != nil {
		return x, err
	}
	shape := linearallreducenccl.Shape{M: 4, K: 4 * n, N: 4, Type: driver.FP32}
	if x.product, err = linearallreducenccl.New(ctx, g, shape); err != nil {
		return x, err
	}
	return x, x.bind(ctx, x.a)
}

func (x *symmetric) bind(ctx context.Context, a driver.Ptr) error {
	return errors.Join(x.gather.Bind(ctx, allgathernccl.Buffers{A: a, C: x.c}),
		x.reduce.Bind(ctx, allreducenccl.Buffers{A: x.c, C: x.d}),
		x.product.Bind(ctx, linearallreducenccl.Buffers{A: x.a, B: x.a, C: x.e}))
}

// enqueue enqueues all.
func (x *symmetric) enqueue() error {
	s := x.s.Handle()
	return errors.Join(x.gather.Enqueue(s), x.scatter(), x.reduce.Enqueue(s), x.product.Enqueue(s))
}

// scatter is the reduce-scatter, of which the catalog has no schedule by NCCL.
func (x *symmetric) scatter() error {
	d := driver.CollectiveDesc{Kind: driver.ReduceScatter, Bytes: 4 * columns, Type: driver.FP32}
	return x.g.Collective(d, x.b, x.c, x.s.Handle())
}

// right runs once and looks at all results: rank r brings turn + r.
func (x *symmetric) right(turn int, run func() error) error {
	d, n := x.g.Driver(), x.g.Size()
	mine := make([]float32, columns)
	for i := range mine {
		mine[i] = float32(turn + x.g.Rank())
	}
	if err := d.MemcpyHtoD(x.a, reference.Encode(driver.FP32, mine)); err != nil {
		return err
	}
	if err := errors.Join(run(), x.s.Synchronize(), x.g.Err()); err != nil {
		return err
	}
	squares := float32(0)
	for r := range n {
		squares += float32(4 * (turn + r) * (turn + r))
	}
	for _, y := range []struct {
		what string
		at   driver.Ptr
		rows int
		want func(row int) float32
	}{
		{"all-gather", x.c, n, func(row int) float32 { return float32(turn + row) }},
		{"reduce-scatter", x.b, 1, func(int) float32 { return float32(n * (turn + x.g.Rank())) }},
		{"all-reduce", x.d, n, func(row int) float32 { return float32(n * (turn + row)) }},
		{"sum of products", x.e, 1, func(int) float32 { return squares }},
	} {
		got := make([]byte, 4*columns*y.rows)
		if err := d.MemcpyDtoH(got, y.at); err != nil {
			return err
		}
		values, err := reference.Decode(driver.FP32, got)
		if err != nil {
			return err
		}
		for i, v := range values {
			if v != y.want(i/columns) {
				return fmt.Errorf("wrong bits of the %s in turn %d: element %d is %g, want %g", y.what, turn, i, v,
					y.want(i/columns))
			}
		}
	}
	return nil
}

// symmetricMemory runs collectives within it, eager, replayed and in a graph of the caller's, and refuses memory that
// does not lie at the same place on all ranks, and what there is no room for.
func symmetricMemory(e *env) error {
	e.config.Symmetric, e.config.Unabortable = 1<<16, true
	g, err := e.join("")
	if err != nil {
		return err
	}
	if !strings.Contains(g.Choice(), "65536 bytes of symmetric memory") {
		return fmt.Errorf("the choice says nothing of symmetric memory: %s", g.Choice())
	}
	x, err := newSymmetric(e, g)
	if err != nil {
		return err
	}
	graph, err := device.Capture(g.Driver(), x.s.Handle(), x.enqueue)
	if err != nil {
		return err
	}
	replay := func() error {
		s := x.s.Handle()
		return errors.Join(x.gather.Replay(s), x.scatter(), x.reduce.Replay(s), x.product.Replay(s))
	}
	for turn := 0; err == nil && turn < 3; turn++ {
		err = errors.Join(x.right(3*turn, x.enqueue), x.right(3*turn+1, replay),
			x.right(3*turn+2, func() error { return graph.Launch(x.s.Handle()) }))
	}
	if err = errors.Join(err, graph.Close()); err != nil {
		return err
	}
	return errors.Join(x.misplaced(e), x.right(20, x.enqueue), x.s.Close(), g.Close(e))
}

// misplaced binds A elsewhere on the last rank, and beyond the end on all, and then where it was.
func (x *symmetric) misplaced(e *env) error {
	last, err := x.g.Symmetric(512)
	if err != nil {
		return err
	}
	at := last
	if e.rank == e.size-1 {
		at += 64
	}
	var differ *plan.DisagreementError
	err = x.gather.Bind(e, allgathernccl.Buffers{A: at, C: x.c})
	if !errors.As(err, &differ) || !strings.Contains(err.Error(), "places of its buffers in symmetric memory") {
		return fmt.Errorf("bind to memory at two places: %w", err)
	}
	const staged = 512 // of the products
	rest := int64(1<<16) - int64(last-x.a) - 512 - staged
	if _, err := x.g.Symmetric(rest + 1); !errors.As(err, new(*group.SymmetricError)) {
		return fmt.Errorf("take more than there is: %w", err)
	}
	if _, err := x.g.Symmetric(rest); err != nil {
		return err
	}
	if err := x.tooLate(e); err != nil {
		return err
	}
	err = x.gather.Bind(e, allgathernccl.Buffers{A: x.a + 1<<16 - 32, C: x.c})
	if err == nil || !strings.Contains(err.Error(), "64 bytes wanted, and the allocation of") {
		return fmt.Errorf("bind to memory beyond the end: %w", err)
	}
	return x.bind(e, x.a)
}

// tooLate makes a plan that finds no symmetric memory to stage in, and stages in the arena.
func (x *symmetric) tooLate(e *env) error {
	shape := linearallreducenccl.Shape{M: 16, K: 4 * e.size, N: 64, Type: driver.FP32}
	p, err := linearallreducenccl.New(e, x.g, shape)
	if err != nil {
		return fmt.Errorf("a plan without room in symmetric memory: %w", err)
	}
	if p.InSymmetric() || !x.product.InSymmetric() {
		return errors.New("a plan stages in the wrong memory")
	}
	return p.Close(e)
}

// symmetricKilled kills rank 1 in the midst of collectives of symmetric memory: the others learn it, close, and join
// again. An NCCL that can't be aborted is refused.
func symmetricKilled(e *env) error {
	e.config.Symmetric = 1 << 16
	turns := e.random.IntN(20)
	g, err := e.join("")
	if e.onGPU && errors.As(err, new(*group.UnabortableError)) {
		return nil
	}
	if err != nil {
		return err
	}
	x, err := newSymmetric(e, g)
	for turn := 0; err == nil; turn++ {
		if e.rank == 1 && turn == turns {
			e.kill()
		}
		err = x.right(turn, x.enqueue)
	}
	if failed := aborted(err); failed != nil {
		return failed
	}
	if err := errors.Join(g.Driver().CtxSynchronize(), g.Close(e)); err != nil {
		return fmt.Errorf("after an abort: %w", err)
	}
	e.config.Symmetric = 0
	return e.again(1, true)
}

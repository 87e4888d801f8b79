package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/harness"
)

// operation is one operation of a model's layers: the plans of a program by bucket, and the memory of each layer in the
// order of Bind.
type operation struct {
	program *harness.Program
	shapes  []harness.Shape
	plans   []*plan.Plan
	layers  [][]driver.Ptr
}

// model is the plans and memory of a model's layers.
type model struct {
	*layersCommand
	r          *rank
	operations []*operation
	memory     []*device.Buffer
	standing   standing
}

// allocate makes the memory of an operation, as its largest bucket needs it: for each layer the buffers that no peer
// uses and no run writes, and one set of the other buffers.
func (m *model) allocate(p *harness.Program) error {
	op := &operation{program: p, layers: make([][]driver.Ptr, m.layers)}
	t := m.typesOf(p)[0]
	op.shapes = m.shapesOf(p, t, m.r.onGPU())
	if len(op.shapes) != m.buckets {
		return fmt.Errorf("%s has %d different numbers of rows (-buckets %[2]d, or more rows)", p.Name, len(op.shapes))
	}
	var need plan.Memory
	for i, s := range op.shapes {
		one, err := p.Memory(m.r.Size(), s)
		if err != nil {
			return fmt.Errorf("measure %s, %s: %w", p.Name, s, err)
		}
		if i == 0 {
			need = one
		}
		need.Cover(one)
		m.standing.Words += one.Words
	}
	m.standing.Staging = max(m.standing.Staging, need.Staging)
	m.standing.Rows = nil
	for _, s := range op.shapes {
		m.standing.Rows = append(m.standing.Rows, s.M)
	}
	x, err := p.Problem(op.shapes[0], m.r.Size())
	if err != nil {
		return err
	}
	for _, b := range need.Buffers {
		own := !b.Shared && !x.Result(b.Name)
		var at driver.Ptr
		for l := range op.layers {
			if l == 0 || own {
				memory, err := device.Alloc(m.r.drv, b.Bytes)
				if err != nil {
					return fmt.Errorf("allocate %s of layer %d of %s: %w", b.Name, l, p.Name, err)
				}
				m.memory = append(m.memory, memory)
				at = memory.Ptr()
				if own {
					m.standing.Weights += b.Bytes
				} else {
					m.standing.Activations += b.Bytes
				}
			}
			op.layers[l] = append(op.layers[l], at)
		}
	}
	m.operations = append(m.operations, op)
	return nil
}

// make makes the plans, and binds each plan for the first time.
func (m *model) make(ctx context.Context) error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var made, first []time.Duration
	workspaces := map[driver.Ptr]bool{}
	for _, op := range m.operations {
		for i, s := range op.shapes {
			m.r.shown.show("%s: plan %d of %d", op.program.Name, i+1, len(op.shapes))
			start := time.Now()
			p, err := op.program.New(ctx, m.r.Group, s)
			if err != nil {
				return fmt.Errorf("make plan of %s, %s: %w", op.program.Name, s, err)
			}
			made = append(made, time.Since(start))
			base := p.(plan.Runner).Base()
			op.plans = append(op.plans, base)
			start = time.Now()
			if err := base.Bind(ctx, op.layers[0]...); err != nil {
				return err
			}
			first = append(first, time.Since(start))
			for _, at := range base.Layout() {
				if strings.HasPrefix(at.Name, "workspace[") {
					workspaces[at.Base] = true
				}
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	x := &m.standing
	x.New, x.First = spreadOf(made), spreadOf(first)
	x.Workspaces = int64(len(workspaces)) * driver.WorkspaceBytes
	x.Heap = int64(after.HeapAlloc) - int64(before.HeapAlloc)
	return nil
}

// each calls f for every layer and operation of a bucket, in the order of the model, with the plan bound.
func (m *model) each(ctx context.Context, bucket int, f func(*plan.Plan) error) error {
	for l := range m.layers {
		for _, op := range m.operations {
			p := op.plans[bucket]
			if err := p.Bind(ctx, op.layers[l]...); err != nil {
				return err
			}
			if err := f(p); err != nil {
				return fmt.Errorf("layer %d: %w", l, err)
			}
		}
	}
	return nil
}

// bind binds every layer's weights to every plan, twice.
func (m *model) bind(ctx context.Context) error {
	for _, to := range []*spread{&m.standing.Bind, &m.standing.Again} {
		var times []time.Duration
		for bucket := range m.buckets {
			for l := range m.layers {
				for _, op := range m.operations {
					start := time.Now()
					if err := op.plans[bucket].Bind(ctx, op.layers[l]...); err != nil {
						return err
					}
					times = append(times, time.Since(start))
				}
			}
		}
		*to = spreadOf(times)
	}
	return nil
}

// replay replays the largest bucket layer by layer, twice.
func (m *model) replay(ctx context.Context) error {
	if m.eager() {
		return nil
	}
	for _, to := range []*spread{&m.standing.Replay, &m.standing.Replayed} {
		m.r.shown.show("replay %d layers", m.layers)
		var times []time.Duration
		err := m.each(ctx, m.buckets-1, func(p *plan.Plan) error {
			start := time.Now()
			err := p.Replay(m.r.Caller.Handle())
			times = append(times, time.Since(start))
			return err
		})
		if err = errors.Join(err, m.r.Watch(ctx, m.r.Caller.Handle())); err != nil {
			return err
		}
		*to = spreadOf(times)
	}
	return nil
}

// eager reports whether some program can't be captured.
func (m *model) eager() bool {
	return slices.ContainsFunc(m.operations, func(op *operation) bool { return op.program.Eager })
}

// capture captures all layers of each bucket in one graph, as a server does, and launches each graph once to warm up
// and once for its time.
func (m *model) capture(ctx context.Context) error {
	if m.eager() {
		return nil
	}
	var captured, steps []time.Duration
	for bucket := range m.buckets {
		m.r.shown.show("bucket %d of %d", bucket+1, m.buckets)
		s := m.r.Caller
		start := time.Now()
		g, err := device.Capture(m.r.drv, s.Handle(), func() error {
			return m.each(ctx, bucket, func(p *plan.Plan) error { return p.Enqueue(s.Handle()) })
		})
		if err != nil {
			return err
		}
		captured = append(captured, time.Since(start))
		var step time.Duration
		for range 2 {
			start = time.Now()
			if err = errors.Join(g.Launch(s.Handle()), m.r.Watch(ctx, s.Handle())); err != nil {
				break
			}
			step = time.Since(start)
		}
		if err = errors.Join(err, g.Close()); err != nil {
			return err
		}
		steps = append(steps, step)
	}
	m.standing.Capture, m.standing.Step = spreadOf(captured), spreadOf(steps)
	return nil
}

// close frees everything.
func (m *model) close(ctx context.Context) error {
	var errs []error
	for _, op := range m.operations {
		for _, p := range op.plans {
			errs = append(errs, p.Close(ctx))
		}
	}
	if m.r.Err() != nil {
		return nil // the call that the abort ended has reported it
	}
	for _, b := range m.memory {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

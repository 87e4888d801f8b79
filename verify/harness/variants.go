package harness

import (
	"context"
	"errors"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// Variants that bench compares. Each is measured twice: as the host enqueues it,
// and gated, when all of it is queued before the ranks start.
const (
	variantPure     = "pure" // one product of the whole A, which needs no communication
	variantEager    = "eager"
	variantReplayed = "replayed"
	variantChunks   = "chunks"    // the plan's products alone
	variantCopies   = "copies"    // its copies alone, by copy engine
	withoutSteps    = ", nosteps" // the plan without the step words that an abort reads
)

// variant is one way to do the work, or a part of it.
type variant struct {
	name    string
	plan    bool // does all of it
	enqueue func(s driver.Stream) error
}

// lab is what the variants of one program and shape work on.
type lab struct {
	*tensors
	chunk driver.Product
	plans []Plan
}

// newLab allocates, fills everything with random reals, and makes the plan.
func (r *rank) newLab(ctx context.Context, p *Program, s Shape) (l *lab, err error) {
	t, err := r.tensorsOf(p, s)
	if err != nil {
		return nil, err
	}
	l = &lab{tensors: t}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.free(ctx))
		}
	}()
	if t.whole, err = t.product(s.M); err != nil {
		return nil, err
	}
	if l.chunk, err = t.product(t.rows); err != nil {
		return nil, err
	}
	in, stream := t.inputs(0, true), r.stream.Handle()
	staged := reference.Input{Seed: in.A.Seed + 1, Real: true}
	if err := errors.Join(t.fill(in, stream),
		r.kernels.make(t.full, s.Type, in.A, 0, s.M*s.K, stream),
		r.kernels.make(t.staging, s.Type, staged, 0, s.M*s.K, stream),
		r.drv.StreamSynchronize(stream)); err != nil {
		return nil, err
	}
	return l, l.addPlan(ctx)
}

// addPlan makes a plan and binds it.
func (l *lab) addPlan(ctx context.Context) error {
	p, err := l.p.New(ctx, l.r.Group, l.s)
	if err != nil {
		return err
	}
	l.plans = append(l.plans, p)
	return p.Bind(ctx, l.buffers())
}

func (l *lab) free(ctx context.Context) error {
	var errs []error
	for _, p := range l.plans {
		errs = append(errs, l.r.closePlan(ctx, p))
	}
	return errors.Join(append(errs, l.tensors.free())...)
}

// variants are those to compare, the pure product first.
func (l *lab) variants(ctx context.Context) ([]variant, error) {
	list := []variant{
		{variantPure, false, func(s driver.Stream) error { return l.multiply(l.c, s) }},
		{variantEager, true, l.plans[0].Enqueue},
		{variantReplayed, true, l.plans[0].Replay},
		{variantChunks, false, l.chunks},
		{variantCopies, false, l.copies},
	}
	if l.r.o.nosteps {
		bare, err := l.withoutSteps(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, bare...)
	}
	if l.p.Eager {
		list = slices.DeleteFunc(list, func(v variant) bool { return strings.HasPrefix(v.name, variantReplayed) })
	}
	return list, nil
}

// withoutSteps are the variants of a plan that writes no step words.
func (l *lab) withoutSteps(ctx context.Context) ([]variant, error) {
	l.steps(false)
	defer l.steps(true)
	if err := l.addPlan(ctx); err != nil { // its graph is captured without the words
		return nil, err
	}
	bare := l.plans[1]
	return []variant{{variantEager + withoutSteps, true, func(s driver.Stream) error {
		l.steps(false)
		defer l.steps(true)
		return bare.Enqueue(s)
	}}, {variantReplayed + withoutSteps, true, bare.Replay}}, nil
}

// steps lets the writes of step words through, or not. Kernels that write them
// go on doing so.
func (l *lab) steps(on bool) {
	first := l.r.Arena().Base(l.r.Rank())
	l.r.filter.Without = func(p driver.Ptr) bool { return p >= first && p < first+stepBytes }
	if on {
		l.r.filter.Without = nil
	}
}

// stepBytes is the part of an arena, from its base, that holds step words.
const stepBytes = 256 * 4

// chunks are the products of a run, one after the other on one stream.
func (l *lab) chunks(s driver.Stream) error {
	for i := range l.r.Size() {
		a := l.full + driver.Ptr(l.s.bytes(i*l.rows*l.s.K))
		c := l.c + driver.Ptr(l.s.bytes(i*l.rows*l.s.N))
		if err := l.r.drv.Matmul(l.chunk, c, a, l.b, l.bias, l.r.space, s); err != nil {
			return err
		}
	}
	return nil
}

// copies are the pulls of a run, from what the peers staged: as many bytes over
// the same links as from their A.
func (l *lab) copies(s driver.Stream) error {
	me, n := l.r.Rank(), l.s.bytes(l.rows*l.s.K)
	offset := l.staging - l.r.Arena().Base(me)
	for i := 1; i < l.r.Size(); i++ {
		from := (me + i) % l.r.Size()
		dst, src := l.full+driver.Ptr(int64(from)*n), l.r.Arena().Base(from)+offset+driver.Ptr(int64(me)*n)
		if err := l.r.drv.MemcpyDtoDAsync(dst, src, n, s); err != nil {
			return err
		}
	}
	return nil
}

package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// onHost is the size of a product, in multiplications, up to which its reference
// is made on the host; above, by one product of the device over the whole A.
const onHost = 1 << 24

// Ways to run a plan.
const (
	modeEager    = "eager"
	modeReplayed = "replayed"
	modeOwn      = "own stream" // Run of a program that can't be replayed
	modeReal     = "real"
)

// verify runs every program in every type and shape, in each mode, and prints
// the table.
func (r *rank) verify(ctx context.Context) (right bool, err error) {
	var rows []row
	for _, p := range r.o.programs {
		for _, typ := range r.o.typesOf(&p) {
			for _, s := range r.o.shapesOf(typ, r.onGPU()) {
				more, err := r.verifyShape(ctx, &p, s)
				if err != nil {
					return false, fmt.Errorf("verify %s, %s %s: %w", p.Name, s, s.Type, err)
				}
				rows = append(rows, more...)
			}
		}
	}
	r.shown.clear()
	if len(rows) == 0 {
		return false, errors.New("nothing to verify: no program takes these types")
	}
	return r.report(rows), nil
}

// checker verifies one shape of one program.
type checker struct {
	*tensors
	plan Plan
	turn int // of the replayed runs
}

func (r *rank) verifyShape(ctx context.Context, p *Program, s Shape) (rows []row, err error) {
	t, err := r.tensorsOf(p, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.free()) }()
	if !t.small() {
		if t.whole, err = t.product(s.M); err != nil {
			return nil, err
		}
	}
	plan, err := p.New(ctx, r.Group, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.closePlan(ctx, plan)) }()
	if err := plan.Bind(ctx, t.buffers()); err != nil {
		return nil, err
	}
	c := &checker{tensors: t, plan: plan}
	modes := []string{modeEager, modeReplayed}
	if p.Eager {
		modes[1] = modeOwn
	}
	if t.small() {
		modes = append(modes, modeReal)
	}
	for _, mode := range modes {
		one, err := c.mode(ctx, mode)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", mode, err)
		}
		rows = append(rows, one)
	}
	return rows, nil
}

// closePlan closes, unless an abort has been reported already.
func (r *rank) closePlan(ctx context.Context, p Plan) error {
	if err := p.Close(ctx); err != nil && r.Err() == nil {
		return err
	}
	return nil
}

func (t *tensors) small() bool { return t.s.M*t.s.K*t.s.N <= onHost }

// mode makes the runs of one mode and gathers what each rank found.
func (c *checker) mode(ctx context.Context, mode string) (row, error) {
	runs := c.r.o.iters
	switch {
	case mode == modeReal:
		runs = 1
	case runs == 0 && c.r.onGPU():
		runs = 50
	case runs == 0:
		runs = 5
	}
	var first *mismatch
	for i := range runs {
		c.r.shown.show("%s %s %s %s: run %d of %d", c.p.Name, c.s, c.s.Type, mode, i+1, runs)
		m, err := c.run(ctx, mode, uint32(i))
		if err != nil {
			return row{}, fmt.Errorf("run %d: %w", i+1, err)
		}
		if first == nil && m != nil {
			m.Rank, m.Run, first = c.r.Rank(), i+1, m
		}
	}
	return c.gather(ctx, mode, runs, first)
}

// run makes one run with fresh inputs and poisoned outputs and judges it.
func (c *checker) run(ctx context.Context, mode string, i uint32) (*mismatch, error) {
	if mode == modeReplayed || mode == modeOwn {
		i += 1 << 20
	}
	s := c.r.stream.Handle()
	in := c.inputs(i, mode == modeReal)
	if err := errors.Join(c.fill(in, s), c.spoil(s), c.disturb(i, s)); err != nil {
		return nil, err
	}
	if err := c.start(ctx, mode, s); err != nil {
		return nil, err
	}
	if mode == modeReal {
		return c.near(in)
	}
	return c.equal(in, s)
}

// start runs the plan once: behind what s holds, or, replayed, on its own. Of the
// replayed runs every second is a Replay on s.
func (c *checker) start(ctx context.Context, mode string, s driver.Stream) error {
	if mode != modeReplayed && mode != modeOwn {
		return c.plan.Enqueue(s)
	}
	if c.turn++; c.turn%2 == 0 && mode == modeReplayed {
		return c.plan.Replay(s)
	}
	if err := c.r.drv.StreamSynchronize(s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.r.o.timeout)
	defer cancel()
	return c.plan.Run(ctx)
}

// disturb makes this rank late, as the options ask.
func (c *checker) disturb(run uint32, s driver.Stream) error {
	chance := reference.Hash(c.r.o.seed, int64(run)<<8|0xff)
	if c.r.o.straggler && int(chance%uint32(c.r.Size())) == c.r.Rank() {
		if chance>>16&1 == 0 {
			time.Sleep(2 * time.Millisecond) // the host is late, else the device
		} else if err := c.r.kernels.spinFor(s, 2*time.Millisecond); err != nil {
			return err
		}
	}
	if !c.r.o.delays {
		return nil
	}
	own := reference.Hash(c.r.o.seed, int64(run)<<8|int64(c.r.Rank()))
	return c.r.kernels.spinFor(s, time.Duration(own%200)*time.Microsecond)
}

// equal holds every element against the reference with ==.
func (c *checker) equal(in reference.Product, s driver.Stream) (*mismatch, error) {
	count := c.s.M * c.s.N
	if c.small() {
		want, largest := in.Integers()
		if most := reference.Exact(c.s.Type); largest > most {
			return nil, fmt.Errorf("sums reach %d and %s is exact to %d only (take another -seed)", largest, c.s.Type, most)
		}
		if err := c.r.drv.MemcpyHtoD(c.want, reference.Encode(c.s.Type, want)); err != nil {
			return nil, err
		}
	} else if err := errors.Join(
		c.r.kernels.make(c.full, c.s.Type, in.A, 0, c.s.M*c.s.K, s),
		c.multiply(c.want, s)); err != nil {
		return nil, err
	}
	if err := errors.Join(c.r.kernels.judge(c.c, c.want, c.verdicts, c.s.Type, count, s), c.drained(s)); err != nil {
		return nil, err
	}
	v, err := c.r.kernels.verdict(c.verdicts, count)
	if err != nil {
		return nil, err
	}
	if most := reference.Exact(c.s.Type); v.Largest > float32(most) {
		return nil, fmt.Errorf("results reach %g and %s is exact to %d only (take another -seed)", v.Largest, c.s.Type, most)
	}
	if v.First < 0 {
		return nil, nil
	}
	got, err := c.element(c.c, v.First)
	want, wrong := c.element(c.want, v.First)
	return c.mismatch(v.First, float64(got), float64(want), int(v.Differ)), errors.Join(err, wrong)
}

// near holds every element against float64, on the host.
func (c *checker) near(in reference.Product) (*mismatch, error) {
	raw := make([]byte, c.s.bytes(c.s.M*c.s.N))
	if err := c.drained(c.r.stream.Handle()); err != nil {
		return nil, err
	}
	if err := c.r.drv.MemcpyDtoH(raw, c.c); err != nil {
		return nil, err
	}
	got, err := reference.Decode(c.s.Type, raw)
	if err != nil {
		return nil, err
	}
	want, bound := in.Float64()
	var first *mismatch
	for i, x := range got {
		if d := float64(x) - want[i]; !(max(d, -d) <= bound[i]) { // NaN is wrong too
			if first == nil {
				first = c.mismatch(int64(i), float64(x), want[i], 0)
			}
			first.Differ++
		}
	}
	return first, nil
}

// drained waits for the stream; the group's error says whether the result counts.
func (c *checker) drained(s driver.Stream) error {
	if err := c.r.drv.StreamSynchronize(s); err != nil {
		return err
	}
	return c.r.Err()
}

func (c *checker) element(at driver.Ptr, i int64) (float32, error) {
	raw := make([]byte, c.s.Type.Size())
	if err := c.r.drv.MemcpyDtoH(raw, at+driver.Ptr(i*c.s.Type.Size())); err != nil {
		return 0, err
	}
	x, err := reference.Decode(c.s.Type, raw)
	if err != nil {
		return 0, err
	}
	return x[0], nil
}

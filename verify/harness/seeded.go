//go:build !nosim

package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/sim"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/verify/reference"
)

// TestProgram runs a program in the seeded simulator, on 2 to 4 ranks, in every
// type and in orders that the seed picks: eager, replayed and run, with fresh
// inputs. It compares every element and asks the simulator for races.
func TestProgram(t *testing.T, p Program) {
	for ranks := 2; ranks <= 4; ranks++ {
		for _, typ := range p.Types {
			for i, s := range verifyShapes(typ, ranks, false) {
				s.Type = typ
				t.Run(fmt.Sprintf("%d ranks, %s %s", ranks, s, typ), func(t *testing.T) {
					seed := uint64(10*ranks + i)
					synctest.Test(t, func(t *testing.T) {
						if err := testShape(t.Context(), &p, s, ranks, seed); err != nil {
							t.Error(err)
						}
					})
				})
			}
		}
	}
}

// testShape returns what went wrong on any rank, and the races.
func testShape(ctx context.Context, p *Program, s Shape, ranks int, seed uint64) error {
	w := sim.NewWorld(sim.Config{Devices: ranks, Seed: seed})
	defer w.Close()
	network := store.Memory()
	errs := make([]error, ranks)
	var wg sync.WaitGroup
	for r := range ranks {
		wg.Go(func() {
			if err := testJoined(ctx, w, network, r, ranks, p, s, uint32(seed)); err != nil {
				errs[r] = fmt.Errorf("seed %d, rank %d: %w", seed, r, err)
			}
		})
	}
	wg.Wait()
	for _, race := range w.Races() {
		errs = append(errs, fmt.Errorf("seed %d: %v", seed, race))
	}
	return errors.Join(errs...)
}

func testJoined(ctx context.Context, w *sim.World, network store.Network, r, ranks int, p *Program, s Shape, seed uint32) error {
	d, err := w.Open(r)
	if err != nil {
		return err
	}
	g, err := group.Join(ctx, group.Config{Rank: r, Size: ranks, Job: "test", Driver: d, Arena: 1 << 20, Network: network})
	if err != nil {
		return err
	}
	return errors.Join(testRank(ctx, g, p, s, seed), g.Close(ctx))
}

// testRank is one rank of testShape. It makes inputs and compares on the host,
// since the kernels of generated/run are not part of a package's test.
func testRank(ctx context.Context, g *group.Group, p *Program, s Shape, seed uint32) (err error) {
	r := &rank{o: &options{seed: seed}, Group: g, drv: g.Driver()}
	t, err := r.tensorsOf(p, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.free()) }()
	plan, err := p.New(ctx, g, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plan.Close(ctx)) }()
	if err := plan.Bind(ctx, t.buffers()); err != nil {
		return err
	}
	stream, err := r.drv.StreamCreateWithPriority(driver.Normal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.drv.StreamDestroy(stream)) }()
	replay := plan.Replay
	if p.Eager {
		replay = plan.Enqueue
	}
	for i, run := range []func() error{
		func() error { return plan.Enqueue(stream) },
		func() error { return replay(stream) },
		func() error { return plan.Run(ctx) },
		func() error { return plan.Enqueue(stream) },
	} {
		in := t.inputs(uint32(i), false)
		if err := errors.Join(t.upload(in), t.spoil(stream), r.drv.StreamSynchronize(stream)); err != nil {
			return err
		}
		if err := errors.Join(run(), r.drv.StreamSynchronize(stream), g.Err()); err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
		if err := t.equalOnHost(in); err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
	}
	return nil
}

// upload makes the inputs on the host.
func (t *tensors) upload(in reference.Product) error {
	shard := t.rows * t.s.K
	set := func(at driver.Ptr, x reference.Input, first, count int) error {
		values := make([]float32, count)
		for i := range values {
			values[i] = x.At(int64(first + i))
		}
		return t.r.drv.MemcpyHtoD(at, reference.Encode(t.s.Type, values))
	}
	err := errors.Join(set(t.a, in.A, t.r.Rank()*shard, shard), set(t.b, in.B, 0, t.s.K*t.s.N))
	if t.bias != 0 {
		err = errors.Join(err, set(t.bias, *in.Bias, 0, t.s.N))
	}
	return err
}

func (t *tensors) equalOnHost(in reference.Product) error {
	raw := make([]byte, t.s.bytes(t.s.M*t.s.N))
	if err := t.r.drv.MemcpyDtoH(raw, t.c); err != nil {
		return err
	}
	want, _ := in.Integers()
	if bytes.Equal(raw, reference.Encode(t.s.Type, want)) {
		return nil
	}
	got, err := reference.Decode(t.s.Type, raw)
	if err != nil {
		return err
	}
	for i, x := range got {
		if x != want[i] { // a zero may have either sign
			return fmt.Errorf("row %d, column %d is %g, want %g", i/t.s.N, i%t.s.N, x, want[i])
		}
	}
	return nil
}

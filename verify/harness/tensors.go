package harness

import (
	"errors"
	"fmt"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// tensors are a rank's memory for one shape of one program.
type tensors struct {
	r        *rank
	p        *Program
	s        Shape
	rows     int        // of A on this rank
	staging  driver.Ptr // where plans gather A, in this rank's arena
	a, b, c  driver.Ptr // a: this rank's rows
	bias     driver.Ptr // zero where the program has none
	full     driver.Ptr // all of A
	want     driver.Ptr // like c
	verdicts driver.Ptr
	whole    driver.Product // of the whole A
	close    []func() error
}

// desc is the product of m rows.
func (t *tensors) desc(m int) driver.MatmulDesc {
	return driver.MatmulDesc{M: m, K: t.s.K, N: t.s.N, Type: t.s.Type, Transposed: t.p.Op == "linear", Bias: t.p.has("Bias")}
}

// buffers are what the plan is bound to.
func (t *tensors) buffers() Buffers {
	return Buffers{At: map[string]driver.Ptr{"A": t.a, "B": t.b, "Bias": t.bias, "C": t.c}}
}

// tensorsOf allocates for a shape; free them.
func (r *rank) tensorsOf(p *Program, s Shape) (*tensors, error) {
	t := &tensors{r: r, p: p, s: s, rows: s.M / r.Size()}
	at, err := r.Arena().Stage(s.bytes(s.M * s.K))
	if err != nil {
		return nil, err
	}
	t.staging = r.Arena().Base(r.Rank()) + driver.Ptr(at[0])
	sizes := []struct {
		to    *driver.Ptr
		bytes int64
	}{
		{&t.a, s.bytes(t.rows * s.K)}, {&t.b, s.bytes(s.K * s.N)}, {&t.c, s.bytes(s.M * s.N)},
		{&t.full, s.bytes(s.M * s.K)}, {&t.want, s.bytes(s.M * s.N)}, {&t.verdicts, verdictBytes(s.M * s.N)},
	}
	if p.has("Bias") {
		sizes = append(sizes, struct {
			to    *driver.Ptr
			bytes int64
		}{&t.bias, s.bytes(s.N)})
	}
	for _, x := range sizes {
		b, err := device.Alloc(r.drv, (x.bytes+3)/4*4) // whole words, to be poisoned
		if err != nil {
			return nil, errors.Join(err, t.free())
		}
		*x.to = b.Ptr()
		t.close = append(t.close, b.Close)
	}
	return t, nil
}

// product makes a product that free destroys.
func (t *tensors) product(m int) (driver.Product, error) {
	p, err := t.r.drv.MatmulCreate(t.desc(m))
	if err != nil {
		return 0, fmt.Errorf("make the product of %d rows: %w", m, err)
	}
	t.close = append(t.close, func() error { return t.r.drv.MatmulDestroy(p) })
	return p, nil
}

// free gives everything back, last first.
func (t *tensors) free() error {
	var errs []error
	for len(t.close) > 0 {
		last := len(t.close) - 1
		errs = append(errs, t.close[last]())
		t.close = t.close[:last]
	}
	return errors.Join(errs...)
}

// inputs are the operands of one run on this rank: A is one tensor over all
// ranks, B and bias are each rank's own.
func (t *tensors) inputs(run uint32, real bool) reference.Product {
	seed := func(tensor uint32) uint32 { return reference.Hash(t.r.o.seed+tensor, int64(run)) }
	own := uint32(t.r.Rank()) << 16
	limit := reference.Limit(t.s.K, t.s.Type)
	p := reference.Product{M: t.s.M, K: t.s.K, N: t.s.N, Type: t.s.Type, Transposed: t.p.Op == "linear",
		A: reference.Input{Seed: seed(1 << 28), Limit: limit, Real: real},
		B: reference.Input{Seed: seed(2<<28 + own), Limit: limit, Real: real}}
	if t.p.has("Bias") {
		p.Bias = &reference.Input{Seed: seed(3<<28 + own), Limit: limit, Real: real}
	}
	return p
}

// fill enqueues fresh inputs.
func (t *tensors) fill(in reference.Product, s driver.Stream) error {
	k, shard := t.r.kernels, t.rows*t.s.K
	err := errors.Join(
		k.make(t.a, t.s.Type, in.A, t.r.Rank()*shard, shard, s),
		k.make(t.b, t.s.Type, in.B, 0, t.s.K*t.s.N, s))
	if t.bias != 0 {
		err = errors.Join(err, k.make(t.bias, t.s.Type, *in.Bias, 0, t.s.N, s))
	}
	return err
}

// poison is a NaN in every type.
const poison = 0xffffffff

// spoil enqueues the poisoning of what a run has to write.
func (t *tensors) spoil(s driver.Stream) error {
	return errors.Join(
		t.r.drv.MemsetD32Async(t.c, poison, (t.s.bytes(t.s.M*t.s.N)+3)/4, s),
		t.r.drv.MemsetD32Async(t.staging, poison, (t.s.bytes(t.s.M*t.s.K)+3)/4, s))
}

// multiply enqueues the whole product over the whole A.
func (t *tensors) multiply(c driver.Ptr, s driver.Stream) error {
	return t.r.drv.Matmul(t.whole, c, t.full, t.b, t.bias, t.r.space, s)
}

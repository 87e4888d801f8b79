package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ovgen/generated/allreduceoneshot"
	"ovgen/generated/allreducepackets"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/reference"
)

// shotAnywhere is anywhere for a run that is one kernel of several blocks, which waits
// before its sum and after it.
func shotAnywhere(e *env) error {
	return sumsAnywhere(e, func(g *group.Group, a, c driver.Ptr) (adding, error) {
		p, err := allreduceoneshot.New(e, g, allreduceoneshot.Shape{M: sumRows, N: sumColumns, Type: driver.FP32})
		if err != nil {
			return nil, err
		}
		return p, p.Bind(e, allreduceoneshot.Buffers{A: a, C: c})
	})
}

// packetsAnywhere is anywhere for two plans by turns, whose threads each wait for packets in memory of their plan.
func packetsAnywhere(e *env) error {
	e.config.Arena = 3 * arena
	return sumsAnywhere(e, func(g *group.Group, a, c driver.Ptr) (adding, error) {
		first, err := boundPackets(e, g, a, c)
		if err != nil {
			return nil, err
		}
		second, err := boundPackets(e, g, a, c)
		if err != nil {
			return first, err
		}
		return &turns{[]adding{first, second}, 0}, nil
	})
}

func boundPackets(e *env, g *group.Group, a, c driver.Ptr) (adding, error) {
	p, err := allreducepackets.New(e, g, allreducepackets.Shape{M: sumRows, N: sumColumns, Type: driver.FP32})
	if err != nil {
		return nil, err
	}
	return p, p.Bind(e, allreducepackets.Buffers{A: a, C: c})
}

// turns are plans that run in turn.
type turns struct {
	plans []adding
	next  int
}

func (t *turns) Run(ctx context.Context) error {
	t.next++
	return t.plans[t.next%len(t.plans)].Run(ctx)
}

func (t *turns) Close(ctx context.Context) error {
	var errs []error
	for _, p := range t.plans {
		errs = append(errs, p.Close(ctx))
	}
	return errors.Join(errs...)
}

// adding is a plan that adds up the ranks' tensors.
type adding interface {
	Run(ctx context.Context) error
	Close(ctx context.Context) error
}

// The tensors of such plans.
const sumRows, sumColumns = 5, 1024

// sumsAnywhere runs a plan until one rank aborts.
func sumsAnywhere(e *env, bound func(g *group.Group, a, c driver.Ptr) (adding, error)) error {
	victim := e.random.IntN(e.size)
	after := time.Duration(e.random.IntN(400)) * time.Microsecond
	g, err := e.join("")
	if err != nil {
		return err
	}
	if e.rank == victim {
		defer time.AfterFunc(after, func() { g.Abort(errReason) }).Stop()
	}
	return errors.Join(shots(e, g, bound), g.Close(e))
}

// shots runs until the group ends.
func shots(e *env, g *group.Group, bound func(g *group.Group, a, c driver.Ptr) (adding, error)) error {
	a, err := device.Alloc(g.Driver(), sumRows*sumColumns*driver.FP32.Size())
	if err != nil {
		return err
	}
	c, err := device.Alloc(g.Driver(), a.Bytes())
	if err != nil {
		return err
	}
	p, err := bound(g, a.Ptr(), c.Ptr())
	began := time.Now()
	for i := 0; err == nil; i++ {
		if time.Since(began) > within {
			return errors.New("runs go on after the end of the group")
		}
		err = e.shot(p, a, c, i)
	}
	if p != nil {
		_ = p.Close(e) // the abort, which is checked below
	}
	return errors.Join(aborted(err), a.Close(), c.Close())
}

// shot runs once, with rank r's input all i + r, and checks the sum.
func (e *env) shot(p adding, a, c *device.Buffer, i int) error {
	own := slices.Repeat([]float32{float32(i + e.rank)}, sumRows*sumColumns)
	want := slices.Repeat([]float32{float32(e.size*i + e.size*(e.size-1)/2)}, sumRows*sumColumns)
	if err := e.raw.MemcpyHtoD(a.Ptr(), reference.Encode(driver.FP32, own)); err != nil {
		return err
	}
	if err := p.Run(e); err != nil {
		return err
	}
	raw := make([]byte, c.Bytes())
	if err := e.raw.MemcpyDtoH(raw, c.Ptr()); err != nil {
		return err
	}
	if got, err := reference.Decode(driver.FP32, raw); err != nil || !slices.Equal(got, want) {
		return errors.Join(fmt.Errorf("run %d: a sum is not %g", i, want[0]), err)
	}
	return nil
}

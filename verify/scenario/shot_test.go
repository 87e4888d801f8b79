package scenario

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ovgen/generated/allreduceoneshot"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/reference"
)

// shotAnywhere is anywhere for a run that is one kernel of several blocks, which waits
// before its sum and after it.
func shotAnywhere(e *env) error {
	victim := e.random.IntN(e.size)
	after := time.Duration(e.random.IntN(400)) * time.Microsecond
	g, err := e.join("")
	if err != nil {
		return err
	}
	if e.rank == victim {
		defer time.AfterFunc(after, func() { g.Abort(errReason) }).Stop()
	}
	return errors.Join(shots(e, g), g.Close(e))
}

// shots runs until the group ends.
func shots(e *env, g *group.Group) error {
	s := allreduceoneshot.Shape{M: 5, N: 1024, Type: driver.FP32}
	a, err := device.Alloc(g.Driver(), int64(s.M*s.N)*s.Type.Size())
	if err != nil {
		return err
	}
	c, err := device.Alloc(g.Driver(), a.Bytes())
	if err != nil {
		return err
	}
	p, err := allreduceoneshot.New(e, g, s)
	if err == nil {
		err = p.Bind(e, allreduceoneshot.Buffers{A: a.Ptr(), C: c.Ptr()})
	}
	began := time.Now()
	for i := 0; err == nil; i++ {
		if time.Since(began) > within {
			return errors.New("runs go on after the end of the group")
		}
		err = e.shot(p, s, a, c, i)
	}
	if p != nil {
		_ = p.Close(e) // the abort, which is checked below
	}
	return errors.Join(aborted(err), a.Close(), c.Close())
}

// shot runs once, with rank r's input all i + r, and checks the sum.
func (e *env) shot(p *allreduceoneshot.Plan, s allreduceoneshot.Shape, a, c *device.Buffer, i int) error {
	own := slices.Repeat([]float32{float32(i + e.rank)}, s.M*s.N)
	want := slices.Repeat([]float32{float32(e.size*i + e.size*(e.size-1)/2)}, s.M*s.N)
	if err := e.raw.MemcpyHtoD(a.Ptr(), reference.Encode(s.Type, own)); err != nil {
		return err
	}
	if err := p.Run(e); err != nil {
		return err
	}
	raw := make([]byte, c.Bytes())
	if err := e.raw.MemcpyDtoH(raw, c.Ptr()); err != nil {
		return err
	}
	if got, err := reference.Decode(s.Type, raw); err != nil || !slices.Equal(got, want) {
		return errors.Join(fmt.Errorf("run %d: a sum is not %g", i, want[0]), err)
	}
	return nil
}

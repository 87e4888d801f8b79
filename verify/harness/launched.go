package harness

import (
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/reference"
)

// launched runs a plan with the kernels of its calls, for which the earlier runs have stand-ins. The caller's tests
// check the numbers. Here the kernels must stay within their memory, which the simulator checks; write all of a result;
// and make the same result from the same inputs, enqueued and captured. One number of ranks is enough, since the
// kernels don't know the number.
func (t *Tensors) launched(p Plan, stream driver.Stream) (failed error) {
	if !slices.ContainsFunc(t.Program.Schedule.Ops, withKernel) || t.Member.Size() > t.Program.TestRanks()[0] {
		return nil
	}
	d := t.Member.Driver()
	p.(Calling).Calls(t.Program.Schedule.Ops, func(o Op) plan.Call {
		if withKernel(o) {
			return nil
		}
		return standIn(d, t.Shape, t.Program.Schedule, o)
	})
	enqueue := func() error { return p.Enqueue(stream) }
	runs := []func() error{enqueue, enqueue}
	if !t.Program.Eager {
		graph, err := device.Capture(d, stream, enqueue)
		if err != nil {
			return err
		}
		defer func() { failed = errors.Join(failed, graph.Close()) }()
		runs[1] = func() error { return graph.Launch(stream) }
	}
	in := t.Inputs(0, true)
	first := map[string][]float32{}
	for i, run := range runs {
		if err := t.once(run, in, stream, first); err != nil {
			return fmt.Errorf("with its own kernels for calls: run %d: %w", i+1, err)
		}
	}
	return nil
}

// withKernel reports whether an operation is a call by a kernel.
func withKernel(o Op) bool { return o.Kernel.File != "" }

// once makes one run and compares its results with the first run's.
func (t *Tensors) once(run func() error, in map[string]reference.Input, stream driver.Stream,
	first map[string][]float32) error {
	if err := errors.Join(t.Spoil(stream), t.Member.Driver().StreamSynchronize(stream), t.upload(in)); err != nil {
		return err
	}
	if err := errors.Join(run(), t.Member.Driver().StreamSynchronize(stream), t.Member.Err()); err != nil {
		return err
	}
	for _, name := range t.results() {
		got, err := t.download(name)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(got, func(x float32) bool { return x != x }); i >= 0 {
			return fmt.Errorf("element %d of %s is NaN: a call leaves it unwritten, or makes it", i, name)
		}
		if want, known := first[name]; known && !slices.Equal(got, want) {
			return fmt.Errorf("%s differs from that of the first run of the same inputs", name)
		}
		first[name] = got
	}
	return nil
}

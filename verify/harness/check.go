package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/schedule"
	"ovgen/verify/reading"
	"ovgen/verify/reference"
)

// TestRanks are the sizes of the groups to test: the proven sizes from 2 to 4, or else the smallest proven size.
func (p *Program) TestRanks() (sizes []int) {
	for ranks := 2; ranks <= 4; ranks++ {
		if len(p.Ranks) == 0 || slices.Contains(p.Ranks, ranks) {
			sizes = append(sizes, ranks)
		}
	}
	if len(sizes) == 0 {
		return []int{slices.Min(p.Ranks)}
	}
	return sizes
}

// TestShapes are the whole shapes to verify; a program whose constants make it large gets as few rows as it takes.
func (p *Program) TestShapes(t driver.Type, ranks int) (list []Shape) {
	_, constant := p.Schedule.Constants()[schedule.M]
	for _, s := range p.VerifyShapes(t, ranks, false) {
		s = s.Fit(p, ranks)
		if p.Large(s, ranks) && !constant {
			s.M = p.divisor(schedule.M, s, ranks)
			s.P = 0
			s = s.Fit(p, ranks)
		}
		if s.Type = t; !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// Large reports whether the host takes seconds for one set of results.
func (p *Program) Large(s Shape, ranks int) bool {
	x, err := p.Problem(s, ranks)
	if err != nil {
		return false // reported where it runs
	}
	multiplications, elements := x.Work()
	return multiplications > onHost || elements > elementsOnHost
}

// Check runs a program in the simulator as one rank of a group: enqueued, replayed and run, each time with fresh
// inputs. It makes the inputs and compares every element on the host, since the kernels of generated/run are not part
// of a package's test.
func Check(ctx context.Context, g *group.Group, p *Program, s Shape, seed uint32) (err error) {
	r := &Member{Group: g, Seed: seed}
	t, err := r.Tensors(p, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Free()) }()
	plan, err := t.Plan(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plan.Close(ctx)) }()
	stream, err := g.Driver().StreamCreateWithPriority(driver.Normal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Driver().StreamDestroy(stream)) }()
	replay := plan.Replay
	if p.Eager {
		replay = plan.Enqueue
	}
	runs := []func() error{
		func() error { return plan.Enqueue(stream) },
		func() error { return replay(stream) },
		func() error { return plan.Run(ctx) },
		func() error { return plan.Enqueue(stream) },
	}
	patterns := p.Patterns(t.Shape, g.Size())
	if len(patterns) > 1 {
		patterns = append(patterns, patterns[0]) // and back
	}
	for i, counts := range patterns {
		if i > 0 {
			if err := t.Recount(ctx, plan, counts.Counts); err != nil {
				return fmt.Errorf("%s: %w", counts.Name, err)
			}
		}
		if err := t.compared(runs, stream); err != nil {
			return fmt.Errorf("counts %v: %w", counts.Counts, err)
		}
	}
	return t.launched(plan, stream)
}

// compared makes the runs, each with fresh inputs, and compares their results.
func (t *Tensors) compared(runs []func() error, stream driver.Stream) error {
	for i, run := range runs {
		in := t.Inputs(uint32(i), false)
		if err := errors.Join(t.Spoil(stream), t.Member.Driver().StreamSynchronize(stream), t.upload(in)); err != nil {
			return err
		}
		if err := errors.Join(run(), t.Member.Driver().StreamSynchronize(stream), t.Member.Err()); err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
		if err := t.equalOnHost(in); err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
	}
	return nil
}

// upload writes the inputs from the host.
func (t *Tensors) upload(in map[string]reference.Input) error {
	var errs []error
	for name := range in {
		if !t.absent(name) && t.Parts[name].Count > 0 {
			errs = append(errs, t.Member.Driver().MemcpyHtoD(t.At[name], t.onDevice(name, in[name])))
		}
	}
	return errors.Join(errs...)
}

// onDevice is this rank's part of an input in the device's encoding.
func (t *Tensors) onDevice(name string, in reference.Input) []byte {
	return encoded(t.typeOf(name), in, t.Parts[name])
}

// encoded is a part of an input in the encoding of a type.
func encoded(t driver.Type, in reference.Input, part reading.Part) []byte {
	values := make([]float32, part.Count)
	for i := range values {
		values[i] = in.At(int64(part.At(i)))
	}
	return reference.Encode(t, values)
}

// equalOnHost compares every result with the reference, and the inputs with their values
// before the run, except inputs that the program replaces in place.
func (t *Tensors) equalOnHost(in map[string]reference.Input) error {
	for name, v := range t.Problem.Results(in) {
		got, err := t.download(name)
		if err != nil {
			return err
		}
		for i, x := range got {
			if at := t.Parts[name].At(i); !v.Holds(at, float64(x)) {
				m := t.mismatch(name, i, float64(x), v.At(at), 0)
				return fmt.Errorf("%s, row %d, column %d is %s, want %s", name, m.Row, m.Column, m.Got, m.Want)
			}
		}
	}
	for name := range in {
		if t.absent(name) {
			continue
		}
		was := t.onDevice(name, in[name])
		for _, k := range t.kept(name) {
			from, now := t.BytesOf(name, k.from), make([]byte, t.BytesOf(name, k.to-k.from))
			if err := t.Member.Driver().MemcpyDtoH(now, t.At[name]+driver.Ptr(from)); err != nil {
				return err
			}
			if !bytes.Equal(now, was[from:from+int64(len(now))]) {
				return fmt.Errorf("the run has changed %s, an input", name)
			}
		}
	}
	return nil
}

package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/schedule"
	"ovgen/verify/reference"
	"ovgen/verify/sim"
)

// TestProgram runs a program in the seeded simulator, on the sizes of 2 to 4 ranks that
// it was proven for, in every type and in orders that the seed picks: eager, replayed
// and run, with fresh inputs. It compares every element and asks the simulator for
// races. A program whose constants make it large is run in its first type only, at its
// plain shape and on the fewest ranks. What a
// build without cgo or for another system than Linux can't run is skipped.
func TestProgram(t *testing.T, p Program) {
	for i, ranks := range p.testRanks() {
		for j, typ := range p.Types {
			for n, s := range p.testShapes(typ, ranks) {
				if p.large(s, ranks) && i+j+n > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%d ranks, %s %s", ranks, s, typ), func(t *testing.T) {
					for more := range seeds() {
						seed := uint64(10*ranks + n + 100*more)
						synctest.Test(t, func(t *testing.T) {
							switch err := testShape(t.Context(), &p, s, ranks, seed); {
							case sim.Missing() != nil && errors.Is(err, driver.ErrUnavailable):
								t.Skip(err)
							case err != nil:
								t.Error(err)
							}
						})
					}
				})
			}
		}
	}
}

// testRanks are the sizes of the groups to test: of 2 to 4 those that the program was
// proven for, or else the smallest that it was.
func (p *Program) testRanks() (sizes []int) {
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

// testShapes are the shapes to verify, whole; of a program whose constants make it large
// with as few rows as it takes.
func (p *Program) testShapes(t driver.Type, ranks int) (list []Shape) {
	_, constant := p.schedule().Constants()[schedule.M]
	for _, s := range p.verifyShapes(t, ranks, false) {
		s = s.fit(p, ranks)
		if p.large(s, ranks) && !constant {
			s.M = p.divisor(schedule.M, ranks)
			s.P = 0
			s = s.fit(p, ranks)
		}
		if s.Type = t; !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// large says that the host takes seconds for one set of results.
func (p *Program) large(s Shape, ranks int) bool {
	x, err := p.problem(s, ranks)
	if err != nil {
		return false // said where it runs
	}
	multiplications, elements := x.Work()
	return multiplications > onHost || elements > elementsOnHost
}

// seeds of each shape: one, or where OVGEN_SOAK is set 50.
func seeds() int {
	if os.Getenv("OVGEN_SOAK") != "" {
		return 50
	}
	return 1
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
	x, err := p.problem(s, ranks)
	if err != nil {
		return err
	}
	d, err := w.Open(r)
	if err != nil {
		return err
	}
	m := &meter{Driver: d}
	g, err := group.Join(ctx, group.Config{Rank: r, Size: ranks, Job: "test", Driver: m, Arena: group.ArenaBytes(staged(x)+slack, 0), Network: network})
	if err != nil {
		return err
	}
	return errors.Join(testRank(ctx, g, m.metered(p), s, seed), g.Close(ctx))
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
	plan, err := t.plan(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plan.Close(ctx)) }()
	stream, err := r.drv.StreamCreateWithPriority(driver.Normal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.drv.StreamDestroy(stream)) }()
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
	patterns := p.patterns(t.s, g.Size())
	if len(patterns) > 1 {
		patterns = append(patterns, patterns[0]) // and back
	}
	for i, counts := range patterns {
		if i > 0 {
			if err := t.recount(ctx, plan, counts.counts); err != nil {
				return fmt.Errorf("%s: %w", counts.name, err)
			}
		}
		if err := t.compared(runs, stream); err != nil {
			return fmt.Errorf("counts %v: %w", counts.counts, err)
		}
	}
	return nil
}

// compared makes the runs, each with inputs of its own, and compares what they leave.
func (t *tensors) compared(runs []func() error, stream driver.Stream) error {
	for i, run := range runs {
		in := t.inputs(uint32(i), false)
		if err := errors.Join(t.spoil(stream), t.r.drv.StreamSynchronize(stream), t.upload(in)); err != nil {
			return err
		}
		if err := errors.Join(run(), t.r.drv.StreamSynchronize(stream), t.r.Err()); err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
		if err := t.equalOnHost(in); err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
	}
	return nil
}

// upload makes the inputs on the host.
func (t *tensors) upload(in map[string]reference.Input) error {
	var errs []error
	for name := range in {
		if !t.absent(name) && t.parts[name].Count > 0 {
			errs = append(errs, t.r.drv.MemcpyHtoD(t.at[name], t.held(name, in[name])))
		}
	}
	return errors.Join(errs...)
}

// held is this rank's part of an input, as the device holds it.
func (t *tensors) held(name string, in reference.Input) []byte {
	part := t.parts[name]
	values := make([]float32, part.Count)
	for i := range values {
		values[i] = in.At(int64(part.At(i)))
	}
	return reference.Encode(t.s.Type, values)
}

// equalOnHost holds every result against the reference, and the inputs against what
// they were, but for what the program replaces in place.
func (t *tensors) equalOnHost(in map[string]reference.Input) error {
	for name, v := range t.x.Results(in, false) {
		if most := float64(reference.Exact(t.s.Type) * t.x.Unit()); t.x.Op != schedule.Copy && v.Largest > most {
			return fmt.Errorf("sums reach %g and %s is exact to %g only", v.Largest, t.s.Type, most)
		}
		got, err := t.download(name)
		if err != nil {
			return err
		}
		for i, x := range got {
			if want := v.Want[t.parts[name].At(i)]; float64(x) != want { // a zero may have either sign
				m := t.mismatch(name, i, float64(x), want, 0)
				return fmt.Errorf("%s, row %d, column %d is %s, want %s", name, m.Row, m.Column, m.Got, m.Want)
			}
		}
	}
	for name := range in {
		if t.absent(name) {
			continue
		}
		was := t.held(name, in[name])
		for _, k := range t.kept(name) {
			from, now := t.bytes(k.from), make([]byte, t.bytes(k.to-k.from))
			if err := t.r.drv.MemcpyDtoH(now, t.at[name]+driver.Ptr(from)); err != nil {
				return err
			}
			if !bytes.Equal(now, was[from:from+int64(len(now))]) {
				return fmt.Errorf("the run has changed %s, an input", name)
			}
		}
	}
	return nil
}

package scenario

import (
	"context"
	"errors"
	"fmt"

	"ovgen/generated/allgatherlinear"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/verify/reference"
)

// layer is a plan with the memory it works on. Its weights are fixed, its A is
// given by a seed.
type layer struct {
	*plan.Plan
	of            *program
	g             *group.Group
	d             driver.Driver
	s             allgatherlinear.Shape
	a, b, bias, c *device.Buffer
	all           []own // of the layers, made at once: see group.JoinAll
	which         int   // of them, whose b and c are bound
}

// own is the memory of a layer that no peer uses.
type own struct{ b, c *device.Buffer }

// extent is a buffer to make, of so many elements.
type extent struct {
	to    **device.Buffer
	count int
}

// newLayer makes a plan and binds it.
func newLayer(ctx context.Context, of *program, g *group.Group, s allgatherlinear.Shape) (*layer, error) {
	l := &layer{of: of, g: g, d: g.Driver(), s: s}
	l.all = make([]own, layers)
	memory := []extent{{&l.a, of.rows(s, g.Size())}, {&l.bias, s.N}}
	for i := range l.all {
		memory = append(memory, extent{&l.all[i].b, s.N * s.K}, extent{&l.all[i].c, of.results(s, g.Size())})
	}
	for _, x := range memory {
		b, err := device.Alloc(l.d, int64(x.count)*s.Type.Size())
		if err != nil {
			return nil, err
		}
		*x.to = b
	}
	err := l.set(l.bias.Ptr(), l.biases(), 0, s.N)
	for i := range l.all {
		l.which, l.b, l.c = i, l.all[i].b, l.all[i].c
		err = errors.Join(err, l.set(l.b.Ptr(), l.weights(g.Rank()), 0, s.N*s.K))
	}
	if l.which, l.b, l.c = 0, l.all[0].b, l.all[0].c; err != nil {
		return nil, err
	}
	if l.Plan, err = of.make(ctx, g, s); err != nil {
		return nil, err
	}
	return l, l.bind(ctx, l.a.Ptr())
}

func (l *layer) bind(ctx context.Context, a driver.Ptr) error {
	return l.Bind(ctx, l.of.buffers(l, a)...)
}

// layers is how many there are for turn.
const layers = 3

// turn binds the plan to the weights and the output of one of its layers: a local Bind.
func (l *layer) turn(ctx context.Context, which int) error {
	l.which = which % layers
	l.b, l.c = l.all[l.which].b, l.all[l.which].c
	return l.bind(ctx, l.a.Ptr())
}

// free closes the plan and then its memory, also after an abort.
func (l *layer) free(ctx context.Context) error {
	err := l.Close(ctx)
	if l.g.Err() != nil {
		err = nil // the abort, which somebody has seen
	}
	for _, x := range l.all {
		err = errors.Join(err, x.b.Close(), x.c.Close())
	}
	return errors.Join(err, l.a.Close(), l.bias.Close())
}

// input is A of all ranks under a seed; weights are a rank's, and biases this rank's own.
func (l *layer) input(seed int) reference.Input   { return l.values(uint32(seed) + 1000) }
func (l *layer) weights(rank int) reference.Input { return l.values(uint32(rank + 10*l.which)) }
func (l *layer) biases() reference.Input          { return l.values(uint32(l.g.Rank()) + 100) }

func (l *layer) values(seed uint32) reference.Input {
	return reference.Input{Seed: seed, Limit: reference.Limit(l.s.K, l.s.Type)}
}

func (l *layer) set(at driver.Ptr, in reference.Input, first, count int) error {
	values := make([]float32, count)
	for i := range values {
		values[i] = in.At(int64(first + i))
	}
	return l.d.MemcpyHtoD(at, reference.Encode(l.s.Type, values))
}

// put writes this rank's rows of A to a place.
func (l *layer) put(at driver.Ptr, seed int) error {
	n := l.of.rows(l.s, l.g.Size())
	return l.set(at, l.input(seed), l.g.Rank()*n, n)
}

// check compares a result with what A's seed makes.
func (l *layer) check(at driver.Ptr, seed int) error {
	raw := make([]byte, l.c.Bytes())
	if err := l.d.MemcpyDtoH(raw, at); err != nil {
		return err
	}
	got, err := reference.Decode(l.s.Type, raw)
	if err != nil {
		return err
	}
	want := l.of.want(l, seed)
	for i, x := range got {
		if float64(x) != want[i] {
			return fmt.Errorf("wrong bits for input %d: row %d, column %d is %g, want %g", seed, i/l.s.N,
				i%l.s.N, x, want[i])
		}
	}
	return nil
}

// right runs once on fresh input and checks.
func (l *layer) right(ctx context.Context, a driver.Ptr, seed int) error {
	if err := l.put(a, seed); err != nil {
		return err
	}
	if err := l.Run(ctx); err != nil {
		return err
	}
	return l.check(l.c.Ptr(), seed)
}

// with runs f in a group with one layer, and leaves it.
func (e *env) with(name string, f func(g *group.Group, l *layer) error) error {
	g, err := e.join(name)
	if err != nil {
		return err
	}
	l, err := newLayer(e, e.of, g, e.of.shape(g.Size()))
	if err == nil {
		err = f(g, l)
	}
	if l != nil && !e.dead.Load() {
		err = errors.Join(err, l.free(e))
	}
	closed := g.Close(e)
	if e.dead.Load() {
		return err
	}
	return errors.Join(err, closed)
}

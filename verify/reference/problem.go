package reference

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// Problem is operations on placed tensors at one size: each rank's operands and expected
// results.
type Problem struct {
	Ops     []schedule.Op
	Tensors []schedule.Tensor
	Extents Extents // D included
	Type    driver.Type
	Counts  []int // extents of uneven parts
	steps   []Step
}

// Step is one operation of the plain way to the results, over whole tensors, named: a
// product, a sum over the first axis of A, or a copy of A.
type Step struct {
	Product
	Does          Does
	A, B, Bias, C string   // Bias is empty where there is none
	Added         string   // to the result; empty where there is none
	In            []string // of a call: what it reads, A first
	// Then are the functions of the result that no product applies.
	Then []schedule.Func
}

// Does is the kind of a step.
type Does int

// Kinds of steps.
const (
	Multiplies Does = iota
	AddsUp
	Copies
	Calls
)

// Check returns the reason why the tensors can't be placed or multiplied, and finds the
// steps.
func (p *Problem) Check() error {
	var errs []error
	for _, t := range p.Tensors {
		_, err := p.Part(t.Name, 0)
		errs = append(errs, err, p.fits(t))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var err error
	p.steps, err = p.way()
	return err
}

// fits says which axis of a tensor is not as long as the operations have it.
func (p *Problem) fits(t schedule.Tensor) error {
	for symbol, written := range p.schedule().Symbols() {
		want, err := p.Extents.Of(symbol)
		if err != nil {
			return fmt.Errorf("size of %s: %w", t.Name, err)
		}
		for _, e := range written {
			if is, err := p.Extents.Of(e); err != nil || is != want {
				return errors.Join(err, fmt.Errorf("%s is %d, and %s of the operations is %d", e, is, symbol, want))
			}
		}
	}
	return nil
}

// schedule is the computation and the placements.
func (p *Problem) schedule() schedule.Schedule {
	return schedule.Schedule{Tensors: p.Tensors, Ops: p.Ops}
}

// Tensor is the tensor of that name; the zero value if there is none.
func (p *Problem) Tensor(name string) schedule.Tensor {
	t, _ := p.schedule().Tensor(name)
	return t
}

// has reports whether the operation has that tensor.
func (p *Problem) has(name string) bool { return p.Tensor(name).Name != "" }

// Part is the rank's part of a tensor.
func (p *Problem) Part(name string, rank int) (Part, error) {
	return PartOf(p.Tensor(name), p.Extents, rank, p.Counts)
}

// Elements of a whole tensor.
func (p *Problem) Elements(name string) int {
	for _, s := range p.steps {
		if s.C == name && !p.has(name) && s.Does == Copies {
			return p.Elements(s.A)
		}
		if s.C == name && !p.has(name) && s.Does == Calls {
			sizes := p.sizes(name)
			return sizes[0] * sizes[1]
		}
		if s.C == name && !p.has(name) {
			return s.M * s.N
		}
	}
	n, _ := Elements(p.Tensor(name), p.Extents) // Check has seen every extent
	return n
}

// Result reports whether a tensor is written, not read.
func (p *Problem) Result(name string) bool { return p.schedule().Made(name) }

// Hidden are the tensors between two operations that no caller sees.
func (p *Problem) Hidden() []string { return p.schedule().Hidden() }

// Multiplies reports whether there is a product among the operations.
func (p *Problem) Multiplies() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.Does == Multiplies })
}

// Copied reports whether a result is a copy, and of what.
func (p *Problem) Copied(name string) (of string, ok bool) {
	i := slices.IndexFunc(p.steps, func(s Step) bool { return s.C == name && s.Does == Copies && len(s.Then) == 0 })
	if i < 0 {
		return "", false
	}
	return p.steps[i].A, true
}

// Own reports whether each rank may have a tensor of its own under this name: one that is
// whole on every rank and that no other rank's result depends on.
func (p *Problem) Own(name string) bool {
	t := p.Tensor(name)
	if p.Result(name) || t.Root || sharded(t) || p.Reduces() || !p.Multiplies() || len(p.Hidden()) > 0 || p.widened() {
		return false
	}
	return !slices.ContainsFunc(p.Tensors, func(t schedule.Tensor) bool { return p.Result(t.Name) && sharded(t) })
}

// widened reports whether each rank makes columns of a result of which every rank gets all: what it makes them of is
// then the same on all ranks.
func (p *Problem) widened() bool {
	return slices.ContainsFunc(p.Ops, func(o schedule.Op) bool {
		c, err := p.schedule().Contraction(o)
		if err != nil || len(o.In) != 2 || o.Call != "" || sharded(p.Tensor(o.Out)) {
			return false
		}
		axis, _, spread := p.Tensor(o.In[1]).Sharded()
		return spread && c.In[1][axis] == c.Out[len(c.Out)-1]
	})
}

func sharded(t schedule.Tensor) bool {
	_, _, ok := t.Sharded()
	return ok
}

// Reduces reports whether the ranks' products are partial: the operands of one are spread
// over the mesh along what it contracts.
func (p *Problem) Reduces() bool { return p.schedule().Reduces() }

// Steps are the operations that lead to the results.
func (p *Problem) Steps() []Step { return p.steps }

func (p *Problem) way() ([]Step, error) {
	if len(p.Ops) == 0 {
		return nil, errors.New("no operation")
	}
	var steps []Step
	for _, o := range p.Ops {
		s, err := p.step(o)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// step is one operation, with the sizes of its Index's letters.
func (p *Problem) step(o schedule.Op) (Step, error) {
	c, err := p.schedule().Contraction(o)
	if err != nil {
		return Step{}, err
	}
	if o.Call != "" {
		return Step{Does: Calls, C: o.Out, A: o.In[0], In: p.schedule().OfPlan(o.In)}, nil
	}
	s := Step{C: o.Out, A: o.In[0], Bias: o.Bias(), Added: o.Added(), Product: Product{Type: p.Type}}
	for _, f := range o.Then {
		switch {
		case ofKernel(o, f):
			s.Then = append(s.Then, f)
		case ofProduct(f.Do):
			s.Func = f.Do
		case f.Do == schedule.AddBias, f.Do == schedule.AddTensor:
		case f.Do == schedule.ApplyToFP32:
			s.Sum = driver.FP32
		default:
			return s, fmt.Errorf("no reference for %s", f)
		}
	}
	summed := c.Summed()
	switch {
	case len(o.In) == 1 && len(o.Then) > len(s.Then) || len(o.In) > 2 || len(o.In) == 2 && len(summed) != 1:
		return s, fmt.Errorf("no reference for %s", o)
	case len(o.In) == 1 && summed == "" && c.In[0] == c.Out:
		s.Does = Copies
		return s, nil
	case len(o.In) == 1 && len(summed) == 1 && c.In[0] == summed+c.Out && len(o.Then) == 0:
		s.Does = AddsUp
		return s, nil
	}
	whole, batches := c, 1
	if len(o.In) == 2 && len(c.In[0]) == 3 && len(c.Out) == 3 && c.In[0][0] == c.Out[0] { // rows of several batches
		batches = p.length(o, c, c.Out[:1])
		c.In, c.Out = []string{c.In[0][1:], c.In[1]}, c.Out[1:]
	}
	switch {
	case len(o.In) == 1 || len(c.In[0]) != 2 || len(c.In[1]) != 2 || len(c.Out) != 2:
		return s, fmt.Errorf("no reference for %s", o)
	}
	s.B = o.In[1]
	m, n := c.Out[:1], c.Out[1:]
	s.TransposedA, s.Transposed = c.In[0] == summed+m, c.In[1] == n+summed
	if !s.TransposedA && c.In[0] != m+summed || !s.Transposed && c.In[1] != summed+n {
		return s, fmt.Errorf("no reference for %s", o)
	}
	s.M, s.K, s.N = batches*p.length(o, whole, m), p.length(o, whole, summed), p.length(o, whole, n)
	if p.spread(o, whole, summed) {
		s.Parts = p.Extents[schedule.D]
	}
	return s, nil
}

// length is the extent of the axis of a letter.
func (p *Problem) length(o schedule.Op, c schedule.Contraction, letter string) int {
	for i, in := range o.In {
		at := strings.Index(c.In[i], letter)
		if at < 0 {
			continue
		}
		if p.has(in) {
			n, _ := p.Extents.Of(p.Tensor(in).Axes[at].Extent) // Check has seen every extent
			return n
		}
		maker, _ := p.schedule().Maker(in)
		inner, _ := p.schedule().Contraction(maker)
		return p.length(maker, inner, inner.Out[at:at+1])
	}
	return 0
}

// spread reports whether a contracted axis lies on several ranks, so that partial sums travel, or
// arrives in shards, whose products a rank may add one after the other: either is rounded.
func (p *Problem) spread(o schedule.Op, c schedule.Contraction, letter string) bool {
	for i, in := range o.In {
		at := strings.Index(c.In[i], letter)
		if axis, _, ok := p.Tensor(in).Sharded(); ok && axis == at {
			return true
		}
	}
	return false
}

// Work is the multiplications of all steps and the elements of the largest tensor.
func (p *Problem) Work() (multiplications, elements int) {
	for _, s := range p.steps {
		multiplications += s.M * s.K * s.N
	}
	for _, t := range p.Tensors {
		elements = max(elements, p.Elements(t.Name))
	}
	return multiplications, elements
}

// Input is the operand of that name under a seed. A copy takes reals always: it
// must not change a bit of them.
func (p *Problem) Input(name string, seed uint32, real bool) Input {
	in := Input{Seed: seed, Limit: dense, Real: real || !p.Multiplies() && !p.addsUp()}
	if p.Chained() {
		d := p.drawn()[name]
		in.Limit, in.Unit = limit(d.density), float32(d.unit)
		return in
	}
	for _, s := range p.steps {
		if s.Does == Multiplies {
			in.Limit = min(in.Limit, Limit(s.K, p.Type))
		}
	}
	return in
}

func (p *Problem) addsUp() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.Does == AddsUp })
}

// Results computes all results, whole, from the inputs of one rank; bounded says
// whether with bounds.
func (p *Problem) Results(inputs map[string]Input, bounded bool) map[string]Values {
	v := map[string]Values{}
	for name, in := range inputs {
		v[name] = in.Values(p.TypeOf(name), p.Elements(name))
	}
	out := map[string]Values{}
	for _, s := range p.steps {
		switch s.Does {
		case Copies:
			v[s.C] = s.apply(v[s.A], v, p, bounded)
		case AddsUp:
			v[s.C] = p.sum(v[s.A], bounded)
		case Calls:
			v[s.C] = p.called(s, v)
		default:
			s.Real = bounded
			v[s.C] = s.Of(v[s.A], v[s.B], v[s.Bias])
			if s.Added != "" {
				v[s.C] = v[s.C].plus(v[s.Added], s.rounds())
			}
			v[s.C] = s.apply(v[s.C], v, p, bounded)
		}
		if p.has(s.C) {
			out[s.C] = v[s.C]
		}
	}
	return out
}

// sum is a product with ones.
func (p *Problem) sum(a Values, bounded bool) Values {
	d := p.Extents[schedule.D]
	ones := Values{Want: make([]float64, d)}
	for i := range ones.Want {
		ones.Want[i] = 1
	}
	return Product{M: 1, K: d, N: len(a.Want) / d, Type: p.Type, Parts: d, Real: bounded}.Of(ones, a, Values{})
}

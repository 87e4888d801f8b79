package reference

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reading"
)

// Problem is operations on placed tensors at one size: the operands and the expected results of each rank.
type Problem struct {
	Ops     []schedule.Op
	Tensors []schedule.Tensor
	Extents reading.Extents // D included
	Type    driver.Type
	Counts  []int   // extents of uneven parts
	Epsilon float64 // of the Shape; 0 stands for schedule.DefaultEpsilon
	steps   []Step
	drawn   *drawing // nil before it is first used
}

// Step is one operation of the plain computation of the results, over whole tensors, by name: a product, a sum over the
// first axis of A, or a copy of A.
type Step struct {
	Product
	Does          Does
	A, B, Bias, C string   // Bias is empty where there is none
	Added         string   // a tensor added to the result; empty where there is none
	In            []string // the operands of a call, A first
	Own           bool     // the call makes each rank's rows alone
	Terms         []string // products whose partial results are added to this product's before they travel
	Ranks         int      // the number of summands, each of a part of the summed axis; 0: it is one sum
	// Made are the functions of the result that neither the product nor the sum applies: formulas apply them together.
	// The first ones may be of a sum that is not rounded yet; Finish counts these.
	Made   []schedule.Func
	Finish int
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

// Check returns the reason why the tensors can't be placed or multiplied, and finds the steps.
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
	p.drawn = nil
	return err
}

// fits says which axis of a tensor has another length than the operations need.
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

// schedule is a schedule with the operations and the placements.
func (p *Problem) schedule() schedule.Schedule {
	return schedule.Schedule{Tensors: p.Tensors, Ops: p.Ops}
}

// Tensor is the tensor of that name; the zero value if there is none.
func (p *Problem) Tensor(name string) schedule.Tensor {
	t, _ := p.schedule().Tensor(name)
	return t
}

// has reports whether a tensor is declared.
func (p *Problem) has(name string) bool { return p.Tensor(name).Name != "" }

// sized is the schedule in the form that the explorer reads too.
func (p *Problem) sized() *reading.Sized {
	return &reading.Sized{Schedule: p.schedule(), Extents: p.Extents, Counts: p.Counts}
}

// Part is the rank's part of a tensor.
func (p *Problem) Part(name string, rank int) (reading.Part, error) {
	return p.sized().Part(p.Tensor(name), rank)
}

// Elements is the number of elements of a whole tensor.
func (p *Problem) Elements(name string) int {
	for _, s := range p.steps {
		if s.C == name && !p.has(name) && s.Does == Copies {
			return p.Elements(s.A)
		}
		if s.C == name && !p.has(name) && s.Does == Calls {
			n := 1
			for _, size := range p.sized().Sizes(name) {
				n *= size
			}
			return n
		}
		if s.C == name && !p.has(name) {
			return max(s.Ranks, 1) * s.M * s.N
		}
	}
	n, _ := reading.Elements(p.Tensor(name), p.Extents) // Check has seen every extent
	return n
}

// Result reports whether a tensor is written, and not read.
func (p *Problem) Result(name string) bool { return p.schedule().Made(name) }

// Hidden are the tensors between two operations that no caller sees.
func (p *Problem) Hidden() []string { return p.schedule().Hidden() }

// Multiplies reports whether there is a product among the operations.
func (p *Problem) Multiplies() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.Does == Multiplies })
}

// Copied names the source of a result that is a copy; ok is false for other results.
func (p *Problem) Copied(name string) (of string, ok bool) {
	i := slices.IndexFunc(p.steps, func(s Step) bool { return s.C == name && s.Does == Copies && !s.changed() })
	if i < 0 {
		return "", false
	}
	return p.steps[i].A, true
}

// Own reports whether each rank may have different values of this tensor: an operand of products that is whole on every
// rank, and on which the ranks need not agree.
func (p *Problem) Own(name string) bool {
	return p.Multiplies() && !p.Result(name) && p.Tensor(name).WholeEverywhere() && !p.schedule().MustAgree(name)
}

// Reduces reports whether the ranks' products are partial: the operands of a product are spread over the mesh along the
// contracted axis.
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
	if o.Call != "" {
		return Step{Does: Calls, C: o.Out, A: o.In[0], In: p.schedule().OfPlan(o.In),
			Own: p.schedule().OfOwnRows(o)}, nil
	}
	first := p.schedule().With(o)
	s := Step{C: o.Out, A: o.In[0], Product: Product{Type: p.Type}}
	for _, t := range p.schedule().Terms(o) {
		s.Terms = append(s.Terms, t.Out)
	}
	if p.schedule().InFP32(o) {
		s.Sum = driver.FP32
	}
	if err := s.functions(first, p.schedule().Own(o), p.schedule().Partial(o)); err != nil {
		return s, err
	}
	if len(o.In) == 2 {
		return s, p.multiply(&s, o)
	}
	x := p.sized().Index(o)
	switch summed := x.Summed(); {
	case len(o.In) > 2:
		return s, none(o)
	case summed == "" && x.In[0] == x.Out:
		s.Does = Copies
	case len(summed) == 1 && x.In[0] == summed+x.Out:
		s.Does = AddsUp
	default:
		return s, none(o)
	}
	return s, nil
}

// none is the error for an operation, or a function, that the reference can't compute.
func none(o fmt.Stringer) error { return fmt.Errorf("no reference for %s", o) }

// functions notes who applies an operation's functions: a product, a sum, or a separate kernel. The step itself adds a
// row and a tensor, and nothing else that a sum takes.
func (s *Step) functions(first schedule.Op, own []schedule.Func, sums bool) error {
	s.Made = own
	for _, f := range first.Then {
		row, tensor := f.AddsRow(), f.Adds()
		switch {
		case f.Joins:
		case row != "" && s.Bias == "":
			s.Bias = row
		case tensor != "" && s.Added == "":
			s.Added = tensor
		case sums:
			s.finish(first.Then, own)
			return nil
		case f.Epilogue() != "":
			s.Func = f.Epilogue()
		default:
			return none(f)
		}
	}
	return nil
}

// finish notes that a sum stays in fp32 until its functions are applied.
func (s *Step) finish(with, own []schedule.Func) {
	with = slices.DeleteFunc(slices.Clone(with), func(f schedule.Func) bool { return f.Joins })
	s.Bias, s.Added, s.Sum = "", "", driver.FP32
	s.Made, s.Finish = slices.Concat(with, own), len(with)
}

// multiply makes a step a product of two matrices; the rows of A may come from several batches.
func (p *Problem) multiply(s *Step, o schedule.Op) error {
	sized := p.sized()
	x := sized.Index(o)
	length := func(letter string) int { return sized.Length(o, rune(letter[0])) }
	a, b, out, summed, batches := x.In[0], x.In[1], x.Out, x.Summed(), 1
	if o.OfPartials() {
		s.Ranks, out = p.Extents[schedule.D], out[1:]
	}
	if len(a) == 3 && len(out) == 3 && a[0] == out[0] {
		batches, a, out = length(out[:1]), a[1:], out[1:]
	}
	if len(a) != 2 || len(b) != 2 || len(out) != 2 || len(summed) != 1 {
		return none(o)
	}
	m, n := out[:1], out[1:]
	s.B, s.TransposedA, s.Transposed = o.In[1], a == summed+m, b == n+summed
	if !s.TransposedA && a != m+summed || !s.Transposed && b != summed+n {
		return none(o)
	}
	s.M, s.K, s.N = batches*length(m), length(summed)/max(s.Ranks, 1), length(n)
	if scale := p.Tensor(p.Tensor(s.B).Scale); scale.Name != "" {
		s.Operand, s.OperandB, s.Narrow = p.TypeOf(s.A), p.TypeOf(s.B), p.Tensor(s.A).Scale == ""
		s.RowScales, s.BlockScales = scale.OfRows() && !scale.OfSquares(), scale.OfSquares()
	}
	if s.Ranks == 0 && p.spread(o, x, summed) {
		s.Parts = p.Extents[schedule.D]
	}
	return nil
}

// spread reports whether a contracted axis is spread over several ranks, so that partial sums travel, or arrives in
// shards, whose products a rank may add one after the other. In both cases partial sums are rounded.
func (p *Problem) spread(o schedule.Op, x reading.Index, letter string) bool {
	for i, in := range o.In {
		at := strings.Index(x.In[i], letter)
		if axis, _, ok := p.Tensor(in).Sharded(); ok && axis == at {
			return true
		}
	}
	return false
}

// Work is the number of multiplications of all steps, and the number of elements of the largest tensor.
func (p *Problem) Work() (multiplications, elements int) {
	for _, s := range p.steps {
		multiplications += max(s.Ranks, 1) * s.M * s.K * s.N
	}
	for _, t := range p.Tensors {
		elements = max(elements, p.Elements(t.Name))
	}
	return multiplications, elements
}

// Input is the operand of that name, for a seed. A copy without functions always takes reals: it must not change a bit
// of them.
func (p *Problem) Input(name string, seed uint32, real bool) Input {
	if _, scales := p.schedule().ScaledBy(name); scales {
		return Input{Seed: seed, Scales: true}
	}
	in := Input{Seed: seed, Limit: dense, Real: real || !p.Multiplies() && !p.addsUp() && !p.Chained()}
	in.Row, _ = p.quantised(name)
	if p.Chained() {
		d := p.draws().values[name]
		in.Limit, in.Size = limit(d.density), float32(math.Ldexp(1, d.grid))
		in.Real = real || in.Row > 0 && !p.Multiplies() // one value of eight bits, whatever the operand is
		return in
	}
	for _, s := range p.steps {
		if s.Does == Multiplies {
			in.Limit = min(in.Limit, Limit(int(s.terms()), p.Type))
		}
	}
	return in
}

func (p *Problem) addsUp() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.Does == AddsUp })
}

// Results computes all results, whole, from the inputs of one rank.
func (p *Problem) Results(inputs map[string]Input) map[string]Values {
	v := map[string]Values{}
	for name, in := range inputs {
		v[name] = in.Values(p.TypeOf(name), p.Elements(name))
	}
	out := map[string]Values{}
	for _, s := range p.steps {
		switch s.Does {
		case Copies:
			v[s.C] = s.apply(v[s.A], v, p)
		case AddsUp:
			v[s.C] = s.apply(p.sum(s, v), v, p)
		case Calls:
			v[s.C] = p.called(s, v)
		default:
			var terms []Term
			for _, t := range p.stepsOf(s.Terms) {
				terms = append(terms, Term{t.Product, v[t.A], v[t.B]})
			}
			a, b := p.scaled(s.A, v), p.scaled(s.B, v)
			if s.Ranks > 0 {
				v[s.C] = s.ofRanks(a, b)
				continue
			}
			v[s.C] = s.apply(s.Of(a, b, v[s.Bias], v[s.Added], terms...), v, p)
		}
		for _, name := range []string{s.C, p.Tensor(s.C).Scale} {
			if p.has(name) {
				out[name] = v[name]
			}
		}
	}
	return out
}

// stepsOf lists the steps that make these results.
func (p *Problem) stepsOf(names []string) (list []Step) {
	for _, s := range p.steps {
		if slices.Contains(names, s.C) {
			list = append(list, s)
		}
	}
	return list
}

// sum is a product with ones, of one row. A row that is added to each row of the result is repeated once for each of
// them.
//
// Codes with scales are multiplied by their scales and added up, all by one kernel. No partial sum travels, so nothing
// is rounded to the type but the result. The kernel rounds each of D products to fp32, which is exact where scales are
// powers of two, and rounds each of D - 1 sums: in all less than the (K + 2) * 2^-24 * S of Product.Of for K = D,
// whatever the scales are.
func (p *Problem) sum(s Step, v map[string]Values) Values {
	d, a, bias, parts := p.Extents[schedule.D], p.scaled(s.A, v), Values{}, 0
	if p.Tensor(s.A).Scale == "" { // else only codes travel
		parts = d
	}
	for row := v[s.Bias]; len(bias.Want) < len(a.Want)/d && s.Bias != ""; {
		bias = Values{append(bias.Want, row.Want...), append(bias.Lo, row.Lo...), append(bias.Hi, row.Hi...)}
	}
	ones := make([]float64, d)
	for i := range ones {
		ones[i] = 1
	}
	all := Product{M: 1, K: d, N: len(a.Want) / d, Type: p.Type, Parts: parts, Sum: s.Sum}
	return all.Of(points(ones), a, bias, v[s.Added])
}

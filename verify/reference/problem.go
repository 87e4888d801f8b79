package reference

import (
	"errors"
	"fmt"
	"math"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// Problem is an operation with placed tensors at one size: what each rank holds
// and what it has to end up with.
type Problem struct {
	Op      schedule.Op
	Tensors []schedule.Tensor
	Extents Extents // D included
	Type    driver.Type
	Counts  []int // extents of uneven parts
	steps   []Step
}

// Step is one product of the plain way to the results, over whole tensors, named.
// Hidden is what lies between the two layers of an MLP.
type Step struct {
	Product
	A, B, Bias, C string // Bias is empty where there is none
}

// Hidden names the result of an MLP's first layer.
const Hidden = "hidden"

// Check says what keeps the tensors from being placed or multiplied, and finds the
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

// fits says which axis of a tensor is not as long as the operation has it: the sizes of
// the steps are those of the operation's symbols.
func (p *Problem) fits(t schedule.Tensor) error {
	symbols := p.Op.Extents(t)
	if symbols == nil {
		return nil // the operation has no such tensor, or is none: way says so
	}
	if len(symbols) != len(t.Axes) {
		return fmt.Errorf("%s has %d axes, and %d in a %s", t.Name, len(t.Axes), len(symbols), p.Op)
	}
	for i, a := range t.Axes {
		is, err := p.Extents.Of(a.Extent)
		if err != nil {
			return fmt.Errorf("size of %s: %w", t.Name, err)
		}
		want, err := p.Extents.Of(symbols[i])
		if err != nil {
			return fmt.Errorf("size of %s: %w", t.Name, err)
		}
		if is != want {
			return fmt.Errorf("axis %d of %s is %d, and %s of the operation is %d", i, t.Name, is, symbols[i], want)
		}
	}
	return nil
}

// Tensor is the tensor of that name; the zero value where there is none.
func (p *Problem) Tensor(name string) schedule.Tensor {
	t, _ := schedule.Schedule{Tensors: p.Tensors}.Tensor(name)
	return t
}

// Has says whether the operation has that tensor.
func (p *Problem) Has(name string) bool { return p.Tensor(name).Name != "" }

// Part is the rank's part of a tensor.
func (p *Problem) Part(name string, rank int) (Part, error) {
	return PartOf(p.Tensor(name), p.Extents, rank, p.Counts)
}

// Elements of a whole tensor.
func (p *Problem) Elements(name string) int {
	if name == Hidden {
		return p.Extents[schedule.M] * p.Extents[schedule.F]
	}
	n, _ := Elements(p.Tensor(name), p.Extents) // Check has seen every extent
	return n
}

// Result says whether a tensor is written, not read.
func Result(name string) bool {
	return name == "C" || name == "C2" || name == "C3" || name == "Gathered"
}

// Own says that each rank may have a tensor of its own under this name: one that is
// whole on every rank and that no other rank's result depends on.
func (p *Problem) Own(name string) bool {
	t := p.Tensor(name)
	if Result(name) || t.Root || sharded(t) || p.Reduces() {
		return false
	}
	switch p.Op {
	case schedule.Matmul, schedule.Linear, schedule.Gradient:
		return !sharded(p.Tensor("C"))
	}
	return false
}

func sharded(t schedule.Tensor) bool {
	_, _, ok := t.Sharded()
	return ok
}

// Reduces says that the ranks' products are partial: both operands of the last
// product are spread over the mesh along what it contracts.
func (p *Problem) Reduces() bool {
	along := func(name string, axis int) bool {
		at, _, ok := p.Tensor(name).Sharded()
		return ok && at == axis
	}
	switch p.Op {
	case schedule.Matmul:
		return along("A", 1) && along("B", 0)
	case schedule.Linear:
		return along("A", 1) && along("B", 1)
	case schedule.Gradient:
		return along("A", 0) && along("B", 0)
	case schedule.MLP:
		return along("B2", 1)
	}
	return p.Op == schedule.Sum
}

// accumulates says that what is contracted arrives in shards, so that a rank may add
// their products one after the other to its result, which is rounded each time.
func (p *Problem) accumulates() bool {
	return p.Op == schedule.Gradient && (sharded(p.Tensor("A")) || sharded(p.Tensor("B")))
}

// Steps are the products that lead to the results; a copy and a sum have none.
func (p *Problem) Steps() []Step { return p.steps }

func (p *Problem) way() ([]Step, error) {
	m, k, n, f := p.Extents[schedule.M], p.Extents[schedule.K], p.Extents[schedule.N], p.Extents[schedule.F]
	one := Product{M: m, K: k, N: n, Type: p.Type}
	if p.Reduces() || p.accumulates() {
		one.Parts = p.Extents[schedule.D]
	}
	switch p.Op {
	case schedule.Copy, schedule.Sum:
		return nil, nil
	case schedule.Gradient:
		one.M, one.K, one.N, one.TransposedA = n, m, k, true
		return []Step{{one, "A", "B", "", "C"}}, nil
	case schedule.MLP:
		first, second := one, one
		first.N, first.Transposed, first.Gelu, first.Parts = f, true, true, 0
		second.K, second.Transposed = f, true
		return []Step{{first, "A", "B", p.bias("Bias"), Hidden}, {second, Hidden, "B2", p.bias("Bias2"), "C"}}, nil
	case schedule.Matmul, schedule.Linear:
		one.Transposed = p.Op == schedule.Linear
		steps := []Step{{one, "A", "B", p.bias("Bias"), "C"}}
		for i, e := range []schedule.Extent{schedule.N2, schedule.N3} {
			if number := fmt.Sprint(i + 2); p.Has("B" + number) {
				one.N = p.Extents[e]
				steps = append(steps, Step{one, "A", "B" + number, p.bias("Bias" + number), "C" + number})
			}
		}
		return steps, nil
	}
	return nil, fmt.Errorf("no reference for operation %q", p.Op)
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

func (p *Problem) bias(name string) string {
	if p.Has(name) {
		return name
	}
	return ""
}

// hiddenUnit is the unit of an MLP's first layer: GELU of a multiple of 16 is that
// multiple or zero, to the last bit.
const hiddenUnit = 16

// hiddenVariance of the first layer's sums in that unit: enough that about half of
// what GELU leaves differs from zero, little enough that the second layer stays exact.
const hiddenVariance = 4

// Unit divides every sum of integer inputs.
func (p *Problem) Unit() int {
	if p.Op == schedule.MLP {
		return hiddenUnit
	}
	return 1
}

// Input is the operand of that name under a seed. A copy takes reals always: it
// must not change a bit of them.
func (p *Problem) Input(name string, seed uint32, real bool) Input {
	in := Input{Seed: seed, Limit: Dense, Real: real || p.Op == schedule.Copy}
	switch p.Op {
	case schedule.Matmul, schedule.Linear:
		in.Limit = Limit(p.Extents[schedule.K], p.Type)
	case schedule.Gradient:
		in.Limit = Limit(p.Extents[schedule.M], p.Type)
	case schedule.MLP:
		in.Limit, in.Unit = p.mlp(name)
	}
	return in
}

// mlp chooses densities: of the first layer by its variance K*q*q; of B2 so that
// the second layer's deviation, sqrt(F * q2 * variance/2), lies sigmas times below
// what the type holds.
func (p *Problem) mlp(name string) (density uint32, factor float32) {
	k, f := float64(p.Extents[schedule.K]), float64(p.Extents[schedule.F])
	q := min(1, math.Sqrt(hiddenVariance/k))
	switch name {
	case "A":
		return limit(q), 1
	case "B", "Bias":
		return limit(q), hiddenUnit
	}
	most := float64(Exact(p.Type)) / sigmas
	return limit(most * most * 2 / (hiddenVariance * f)), 1
}

// Results computes all results, whole, from the inputs of one rank; bounded says
// whether with bounds.
func (p *Problem) Results(inputs map[string]Input, bounded bool) map[string]Values {
	v := map[string]Values{}
	for name, in := range inputs {
		v[name] = in.Values(p.Type, p.Elements(name))
	}
	out := map[string]Values{}
	switch p.Op {
	case schedule.Copy:
		out["C"] = v["A"]
	case schedule.Sum:
		out["C"] = p.sum(v["A"], bounded)
	}
	for _, s := range p.steps {
		s.Real = bounded
		v[s.C] = s.Of(v[s.A], v[s.B], v[s.Bias])
		if s.C != Hidden {
			out[s.C] = v[s.C]
		}
	}
	if p.Has("Gathered") {
		out["Gathered"] = v["A"]
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

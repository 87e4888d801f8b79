package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reference"
)

// tensors are a rank's memory for one shape of one program: its parts of all
// tensors by their names.
type tensors struct {
	r     *rank
	p     *Program
	s     Shape // whole
	x     *reference.Problem
	at    map[string]driver.Ptr
	parts map[string]reference.Part
	rooms map[string]int // elements that there is room for
	stage int64          // bytes that a plan may stage
	close []func() error
}

// tensorsOf allocates for a shape; free them.
func (r *rank) tensorsOf(p *Program, s Shape) (*tensors, error) {
	x, err := p.problem(s, r.Size())
	if err != nil {
		return nil, err
	}
	t := &tensors{r: r, p: p, s: s.fit(p, r.Size()), x: x, at: map[string]driver.Ptr{}, parts: map[string]reference.Part{},
		rooms: map[string]int{}, stage: staged(x)}
	for _, tensor := range p.Tensors {
		part, err := x.Part(tensor.Name, r.Rank())
		if err == nil {
			t.parts[tensor.Name], t.rooms[tensor.Name] = part, room(x, tensor, part)
			if tensor.Within == "" {
				t.at[tensor.Name], err = t.alloc(t.rooms[tensor.Name])
			}
		}
		if err != nil {
			return nil, errors.Join(err, t.free())
		}
	}
	t.within()
	return t, nil
}

// within gives tensors that lie within others their addresses.
func (t *tensors) within() {
	for _, tensor := range t.p.Tensors {
		if tensor.Within != "" {
			t.at[tensor.Name] = t.at[tensor.Within] + driver.Ptr(t.bytes(t.offset(tensor)))
		}
	}
}

// offset is how many elements of the tensor that another lies within are ahead of it.
func (t *tensors) offset(inner Tensor) int {
	if place, _ := inner.PlaceWithin(t.x.Tensor(inner.Within)); place == schedule.PartOf {
		return t.r.Rank() * t.parts[inner.Name].Count
	}
	return 0
}

// stretch is elements of a rank's part, from one to ahead of another.
type stretch struct{ from, to int }

// kept are the elements of an operand that a run leaves as they are: none of one that lies
// within another tensor, and of any other all but what lies within it.
func (t *tensors) kept(name string) []stretch {
	if t.x.Tensor(name).Within != "" {
		return nil
	}
	list := []stretch{{0, t.parts[name].Count}}
	for _, o := range t.p.Tensors {
		if o.Within != name {
			continue
		}
		from := t.offset(o)
		to := from + t.parts[o.Name].Count
		var rest []stretch
		for _, k := range list {
			rest = append(rest, stretch{k.from, min(k.to, from)}, stretch{max(k.from, to), k.to})
		}
		list = rest
	}
	return slices.DeleteFunc(list, func(k stretch) bool { return k.from >= k.to })
}

// room is what a plan wants of a rank's part: all, where counts that only Bind knows
// may leave one rank all.
func room(x *reference.Problem, t Tensor, part reference.Part) int {
	if _, ok := reference.Ragged(t); ok {
		return x.Extents[schedule.M]
	}
	if unevenly(t) {
		return x.Elements(t.Name)
	}
	return part.Count
}

// alloc makes room for so many elements, in whole words that can be poisoned.
func (t *tensors) alloc(elements int) (driver.Ptr, error) {
	b, err := device.Alloc(t.r.drv, 4*words(t.bytes(max(elements, 1))))
	if err != nil {
		return 0, err
	}
	t.close = append(t.close, b.Close)
	return b.Ptr(), nil
}

func (t *tensors) bytes(elements int) int64 { return int64(elements) * t.s.Type.Size() }

func words(bytes int64) int64 { return (bytes + 3) / 4 }

// product makes a product that free destroys.
func (t *tensors) product(p reference.Product, bias bool) (driver.Product, error) {
	h, err := t.r.drv.MatmulCreate(driver.MatmulDesc{M: p.M, K: p.K, N: p.N, Type: p.Type,
		Transposed: p.Transposed, TransposedA: p.TransposedA, Bias: bias, Gelu: p.Gelu})
	if err != nil {
		return 0, fmt.Errorf("make the product of %dx%d by %dx%d: %w", p.M, p.K, p.K, p.N, err)
	}
	t.close = append(t.close, func() error { return t.r.drv.MatmulDestroy(h) })
	return h, nil
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

// plan makes a program's plan, bound to these tensors; close it.
func (t *tensors) plan(ctx context.Context, p *Program) (Plan, error) {
	plan, err := p.New(ctx, t.r.Group, t.s)
	if err != nil {
		return nil, err
	}
	if err := plan.Bind(ctx, Buffers{At: t.at, Counts: t.x.Counts}); err != nil {
		return nil, errors.Join(err, t.r.closePlan(ctx, plan))
	}
	return plan, nil
}

// recount gives uneven parts other counts, and tells the plan.
func (t *tensors) recount(ctx context.Context, plan Plan, counts []int) error {
	x, err := t.p.loaded(t.s, t.r.Size(), counts)
	if err != nil {
		return err
	}
	for _, tensor := range t.p.Tensors {
		if t.parts[tensor.Name], err = x.Part(tensor.Name, t.r.Rank()); err != nil {
			return err
		}
	}
	t.x = x
	return plan.Bind(ctx, Buffers{At: t.at, Counts: counts})
}

// inputs are the operands of one run as this rank knows them. An operand that is
// spread over the ranks, or of which results on several ranks are made, has one
// seed everywhere; of others each rank has its own.
func (t *tensors) inputs(run uint32, real bool) map[string]reference.Input {
	in := map[string]reference.Input{}
	for i, tensor := range t.p.Tensors {
		if reference.Result(tensor.Name) {
			continue
		}
		seed := t.r.o.seed + uint32(i+1)<<24
		if t.x.Own(tensor.Name) {
			seed += uint32(t.r.Rank()) << 16
		}
		in[tensor.Name] = t.x.Input(tensor.Name, reference.Hash(seed, int64(run)), real)
	}
	return in
}

// absent says that this rank has no use for a tensor that only rank 0 has.
func (t *tensors) absent(name string) bool { return t.x.Tensor(name).Root && t.r.Rank() != 0 }

// fill enqueues fresh inputs.
func (t *tensors) fill(in map[string]reference.Input, s driver.Stream) error {
	var errs []error
	for name, x := range in {
		if !t.absent(name) {
			errs = append(errs, t.r.kernels.make(t.at[name], t.s.Type, x, t.parts[name], s))
		}
	}
	return errors.Join(errs...)
}

// poison is a NaN in every type.
const poison = 0xffffffff

// spoil enqueues, ahead of fill, the poisoning of all that a run has to write: the results, and
// what the plans of the group stage in this rank's arena. What only rank 0 has is
// poisoned on the others.
func (t *tensors) spoil(s driver.Stream) error {
	arena := t.r.Arena()
	start, err := arena.Stage(0)
	if err != nil {
		return err
	}
	errs := []error{t.r.drv.MemsetD32Async(arena.Base(t.r.Rank())+driver.Ptr(start[0]), poison, min(arena.Bytes()-start[0], t.stage+slack)/4, s)}
	for name, at := range t.at {
		if reference.Result(name) || t.absent(name) {
			errs = append(errs, t.r.drv.MemsetD32Async(at, poison, words(t.bytes(max(t.parts[name].Count, 1))), s))
		}
	}
	return errors.Join(errs...)
}

// results are the names of what a run writes, as declared.
func (t *tensors) results() (names []string) {
	for _, tensor := range t.p.Tensors {
		if reference.Result(tensor.Name) {
			names = append(names, tensor.Name)
		}
	}
	return names
}

package harness

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reading"
	"ovgen/verify/reference"
)

// Tensors are a rank's memory for one shape of one program: the rank's parts of all tensors, by their names.
type Tensors struct {
	Member  *Member
	Program *Program
	Shape   Shape              // whole
	Problem *reference.Problem // the computation at that shape
	At      map[string]driver.Ptr
	Parts   map[string]reading.Part
	rooms   map[string]int // the number of elements for which there is room
	stage   int64          // bytes that a plan may stage
	// constant has the contents of inputs that are Constant, by their place.
	constant map[driver.Ptr]reference.Input
	close    []func() error
}

// Tensors allocates the memory for a shape; free it with Free.
func (m *Member) Tensors(p *Program, s Shape) (*Tensors, error) {
	x, err := p.Problem(s, m.Size())
	if err != nil {
		return nil, err
	}
	t := &Tensors{Member: m, Program: p, Shape: s.Fit(p, m.Size()), Problem: x, At: map[string]driver.Ptr{},
		Parts: map[string]reading.Part{},
		rooms: map[string]int{}, stage: staged(x), constant: map[driver.Ptr]reference.Input{}}
	for _, tensor := range p.Schedule.Tensors {
		part, err := x.Part(tensor.Name, m.Rank())
		if err == nil {
			t.Parts[tensor.Name], t.rooms[tensor.Name] = part, room(x, tensor, part)
			switch {
			case tensor.Type == schedule.I32:
				err = t.integers(tensor.Name)
			case tensor.Within == "":
				t.At[tensor.Name], err = t.alloc(t.BytesOf(tensor.Name, t.rooms[tensor.Name]))
			}
		}
		if err != nil {
			return nil, errors.Join(err, t.Free())
		}
	}
	t.within()
	return t, nil
}

// integers makes a tensor of integers, zeros and ones, with its memory. Only calls read it, and their stand-ins leave
// it out.
func (t *Tensors) integers(name string) (err error) {
	n := t.Parts[name].Count
	if t.At[name], err = t.alloc(4 * int64(max(n, 1))); err != nil {
		return err
	}
	var raw []byte
	for i := range n {
		raw = binary.LittleEndian.AppendUint32(raw, reference.Hash(t.Member.Seed, int64(t.Parts[name].At(i)))&1)
	}
	return t.Member.Driver().MemcpyHtoD(t.At[name], raw)
}

// within sets the addresses of tensors that lie within others.
func (t *Tensors) within() {
	for _, tensor := range t.Program.Schedule.Tensors {
		if tensor.Within != "" {
			t.At[tensor.Name] = t.At[tensor.Within] + driver.Ptr(t.Bytes(t.offset(tensor)))
		}
	}
}

// offset is the number of elements before a tensor in the tensor within which it lies.
func (t *Tensors) offset(inner Tensor) int {
	if place, _ := inner.PlaceWithin(t.Problem.Tensor(inner.Within)); place == schedule.PartOf {
		return t.Member.Rank() * t.Parts[inner.Name].Count
	}
	return 0
}

// stretch is a range of elements of a rank's part; to is the first element behind it.
type stretch struct{ from, to int }

// kept are the elements of an operand that a run leaves unchanged: none if it lies within
// another tensor, otherwise all except the tensors within it.
func (t *Tensors) kept(name string) []stretch {
	if t.Problem.Tensor(name).Within != "" {
		return nil
	}
	list := []stretch{{0, t.Parts[name].Count}}
	for _, o := range t.Program.Schedule.Tensors {
		if o.Within != name {
			continue
		}
		from := t.offset(o)
		to := from + t.Parts[o.Name].Count
		var rest []stretch
		for _, k := range list {
			rest = append(rest, stretch{k.from, min(k.to, from)}, stretch{max(k.from, to), k.to})
		}
		list = rest
	}
	return slices.DeleteFunc(list, func(k stretch) bool { return k.from >= k.to })
}

// room is the size of a rank's part for the plan: the whole tensor, where counts that only Bind knows may give one rank
// all rows.
func room(x *reference.Problem, t Tensor, part reading.Part) int {
	if _, ok := reading.Ragged(t); ok {
		ranks := x.Extents[schedule.D]
		return x.Elements(t.Name) / (ranks * ranks) // the elements of one pair
	}
	if unevenly(t) {
		return x.Elements(t.Name)
	}
	return part.Count
}

// Alloc makes room for a number of elements of the plan's type.
func (t *Tensors) Alloc(elements int) (driver.Ptr, error) { return t.alloc(t.Bytes(max(elements, 1))) }

// AllocOf makes room for a number of elements of a tensor.
func (t *Tensors) AllocOf(name string, elements int) (driver.Ptr, error) {
	return t.alloc(t.BytesOf(name, elements))
}

// alloc makes room for a number of bytes, in whole words that can be poisoned, at least one word.
func (t *Tensors) alloc(bytes int64) (driver.Ptr, error) {
	b, err := device.Alloc(t.Member.Driver(), 4*words(bytes))
	if err != nil {
		return 0, err
	}
	t.close = append(t.close, b.Close)
	return b.Ptr(), nil
}

// BytesOf is the size of a number of elements of a tensor, which may have another type than the plan.
func (t *Tensors) BytesOf(name string, elements int) int64 {
	return t.typeOf(name).Bytes(elements)
}

// typeOf is the type of a tensor's elements.
func (t *Tensors) typeOf(name string) driver.Type { return t.Problem.TypeOf(name) }

// Bytes is the size of a number of elements of the plan's type.
func (t *Tensors) Bytes(elements int) int64 { return int64(elements) * t.Shape.Type.Size() }

func words(bytes int64) int64 { return (max(bytes, 1) + 3) / 4 }

// Product makes a product that Free destroys.
func (t *Tensors) Product(p reference.Product, bias bool) (driver.Product, error) {
	h, err := t.Member.Driver().MatmulCreate(driver.MatmulDesc{M: p.M, K: p.K, N: p.N, Type: p.Type,
		Transposed: p.Transposed, TransposedA: p.TransposedA, Bias: bias, Func: driver.Func(p.Func),
		Of: p.Operand, OfB: p.OperandB, RowScales: p.RowScales, BlockScales: p.BlockScales})
	if err != nil {
		return 0, fmt.Errorf("make the product of %dx%d by %dx%d: %w", p.M, p.K, p.K, p.N, err)
	}
	t.close = append(t.close, func() error { return t.Member.Driver().MatmulDestroy(h) })
	return h, nil
}

// Free frees everything, in the reverse order.
func (t *Tensors) Free() error {
	var errs []error
	for len(t.close) > 0 {
		last := len(t.close) - 1
		errs = append(errs, t.close[last]())
		t.close = t.close[:last]
	}
	return errors.Join(errs...)
}

// Plan makes a program's plan, bound to these tensors; close it.
func (t *Tensors) Plan(ctx context.Context, p *Program) (Plan, error) {
	plan, err := p.New(ctx, t.Member.Group, t.Shape)
	if err != nil {
		return nil, err
	}
	if err := plan.Bind(ctx, Buffers{At: t.At, Counts: t.Problem.Counts}); err != nil {
		return nil, errors.Join(err, t.Member.ClosePlan(ctx, plan))
	}
	return plan, nil
}

// Recount gives uneven parts other counts, and binds the plan with them.
func (t *Tensors) Recount(ctx context.Context, plan Plan, counts []int) error {
	x, err := t.Program.loaded(t.Shape, t.Member.Size(), counts)
	if err != nil {
		return err
	}
	for _, tensor := range t.Program.Schedule.Tensors {
		if t.Parts[tensor.Name], err = x.Part(tensor.Name, t.Member.Rank()); err != nil {
			return err
		}
	}
	t.Problem = x
	return plan.Bind(ctx, Buffers{At: t.At, Counts: counts})
}

// Inputs are the operands of one run as this rank knows them. An operand that is spread over the ranks, or from which
// several ranks make results, has one seed on all ranks; other operands have a different seed on each rank. A Constant
// operand is the same in all runs.
func (t *Tensors) Inputs(run uint32, real bool) map[string]reference.Input {
	in := map[string]reference.Input{}
	for i, tensor := range t.Program.Schedule.Tensors {
		if t.Program.Made(tensor.Name) || tensor.Type == schedule.I32 {
			continue
		}
		seed := t.Member.Seed + uint32(i+1)<<24
		if t.Problem.Own(tensor.Name) {
			seed += uint32(t.Member.Rank()) << 16
		}
		of := int64(run)
		if tensor.Constant {
			of = 0
		}
		in[tensor.Name] = t.Problem.Input(tensor.Name, reference.Hash(seed, of), real)
	}
	return in
}

// absent reports whether only rank 0 has a tensor, and this is another rank.
func (t *Tensors) absent(name string) bool {
	return t.Problem.Tensor(name).Root && t.Member.Rank() != 0
}

// Fill enqueues fresh inputs. It waits for the writes of Constant inputs, which it writes only where their values have
// changed.
func (t *Tensors) Fill(in map[string]reference.Input, s driver.Stream) error {
	var errs []error
	wrote := false
	for name, x := range in {
		at, constant := t.At[name], t.Problem.Tensor(name).Constant
		if held, same := t.constant[at]; t.absent(name) || constant && same && held == x {
			continue
		}
		errs = append(errs, t.Member.Kernels.Make(at, t.typeOf(name), x, t.Parts[name], s))
		if constant {
			t.constant[at], wrote = x, true
		}
	}
	if wrote {
		errs = append(errs, t.Member.Driver().StreamSynchronize(s))
	}
	return errors.Join(errs...)
}

// poison is a NaN in every type.
const poison = 0xffffffff

// Spoil enqueues, before Fill, the poisoning of all memory that a run has to write: the results, and the staging of the
// group's plans in this rank's arena. A tensor that only rank 0 has is poisoned on the other ranks.
func (t *Tensors) Spoil(s driver.Stream) error {
	arena := t.Member.Arena()
	start, err := arena.Stage(0)
	if err != nil {
		return err
	}
	// The kept memory of plans is left out: peers that are a run ahead may have sent packets there.
	errs := []error{t.Member.Driver().MemsetD32Async(arena.Base(t.Member.Rank())+driver.Ptr(start[0]), poison,
		min(arena.Kept()-start[0], t.stage+slack)/4, s)}
	for name, at := range t.At {
		if t.Program.Made(name) || t.absent(name) {
			errs = append(errs, t.Member.Driver().MemsetD32Async(at, poison,
				words(t.BytesOf(name, t.Parts[name].Count)), s))
		}
	}
	return errors.Join(errs...)
}

// Made has the bytes of this rank's parts of the tensors that a run writes, by name.
func (t *Tensors) Made() map[string]int64 {
	made := map[string]int64{}
	for _, name := range t.results() {
		if n := t.BytesOf(name, t.Parts[name].Count); n > 0 {
			made[name] = n
		}
	}
	return made
}

// results are the names of the tensors that a run writes, as declared.
func (t *Tensors) results() (names []string) {
	for _, tensor := range t.Program.Schedule.Tensors {
		if t.Program.Made(tensor.Name) {
			names = append(names, tensor.Name)
		}
	}
	return names
}

package harness

import (
	"errors"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/formula"
	"ovgen/verify/reading"
	"ovgen/verify/reference"
)

// onHost is the size of a problem, in multiplications and in elements of its largest tensor, up to which its results
// are made on the host. The results of larger problems are made by plain products of the device over whole operands.
const (
	onHost         = 1 << 24
	elementsOnHost = 1 << 22
)

// Wanted are the expected results of a run, whole tensors computed without the plan.
type Wanted struct {
	*Tensors
	full     map[string]driver.Ptr // whole tensors, and in large problems the operands
	scratch  driver.Ptr            // in small problems, an input made again
	products []driver.Product      // of large problems' steps
	verdicts driver.Ptr
	values   map[string]reference.Values // of the last run of a small problem
	points   int                         // the number of elements of that run that were compared by ==
	of       int                         // the number of all elements of that run
}

// Share is the share, of 1, of the last run's elements that were compared by ==.
func (w *Wanted) Share() float64 {
	if !w.Small() || w.of == 0 {
		return 1
	}
	return float64(w.points) / float64(w.of)
}

// Small reports whether the host computes the results.
func (t *Tensors) Small() bool {
	multiplications, elements := t.Problem.Work()
	return t.Problem.HostOnly() || multiplications <= onHost && elements <= elementsOnHost
}

// Wanted allocates the memory for judging runs.
func (t *Tensors) Wanted() (*Wanted, error) {
	w := &Wanted{Tensors: t, full: map[string]driver.Ptr{}}
	names := t.results()
	largest, widest := 0, int64(1)
	for _, tensor := range t.Program.Schedule.Tensors {
		largest, widest = max(largest, t.rooms[tensor.Name]), max(widest, t.BytesOf(tensor.Name, t.rooms[tensor.Name]))
	}
	var err error
	if t.Small() {
		w.scratch, err = t.alloc(widest)
	} else {
		names = append(names, w.operands()...)
	}
	for _, name := range names {
		if err == nil && w.full[name] == 0 {
			w.full[name], err = t.alloc(t.BytesOf(name, t.Problem.Elements(name)))
		}
	}
	if err == nil {
		b := verdictBytes(largest)
		w.verdicts, err = t.Alloc(int(b / t.Shape.Type.Size()))
	}
	return w, errors.Join(err, w.steps())
}

// operands names the tensors that large problems need whole on the device beside the results. An operand that this rank
// has whole is used in place, and a result that is a copy is compared with its source.
func (w *Wanted) operands() (names []string) {
	for _, tensor := range w.Program.Schedule.Tensors {
		name := tensor.Name
		switch {
		case w.Problem.Result(name):
		case w.addedUp(name): // part by part
		case w.Parts[name].Count == w.Problem.Elements(name) && !tensor.Root:
			w.full[name] = w.At[name]
		default:
			names = append(names, name)
		}
	}
	return append(names, w.Problem.Hidden()...)
}

// addedUp reports whether an operation sums a tensor, or adds it to a result.
func (w *Wanted) addedUp(name string) bool {
	return slices.ContainsFunc(w.Problem.Steps(), func(s reference.Step) bool {
		return s.A == name && s.Does == reference.AddsUp || s.Added == name
	})
}

func (w *Wanted) steps() error {
	if w.Small() {
		return nil
	}
	var errs []error
	for _, s := range w.Problem.Steps() {
		var h driver.Product
		var err error
		if s.Does == reference.Multiplies {
			h, err = w.Product(s.Product, s.Bias != "")
		}
		w.products, errs = append(w.products, h), append(errs, err)
	}
	return errors.Join(errs...)
}

// make makes the results of these inputs.
func (w *Wanted) make(in map[string]reference.Input, s driver.Stream) error {
	if !w.Small() {
		return w.onDevice(in, s)
	}
	w.values = w.Problem.Results(in)
	return nil
}

// onDevice fills whole operands and multiplies them.
func (w *Wanted) onDevice(in map[string]reference.Input, s driver.Stream) error {
	k := w.Member.Kernels
	for name, x := range in {
		if at := w.full[name]; at != 0 && at != w.At[name] {
			if err := k.Make(at, w.typeOf(name), x, reading.Whole(w.Problem.Elements(name)), s); err != nil {
				return err
			}
		}
	}
	for i, step := range w.Problem.Steps() {
		var err error
		switch step.Does {
		case reference.Copies:
			w.full[step.C] = w.full[step.A]
			if scale := w.Problem.Tensor(step.C).Scale; scale != "" {
				w.full[scale] = w.full[w.Problem.Tensor(step.A).Scale]
			}
		case reference.AddsUp:
			err = w.addUp(step.C, in[step.A], s)
		default:
			err = w.Member.Driver().Matmul(w.products[i], driver.Operands{C: w.full[step.C], A: w.full[step.A],
				B: w.full[step.B], Bias: w.full[step.Bias], Workspace: w.Member.Space,
				ScaleA: w.full[w.Problem.Tensor(step.A).Scale], ScaleB: w.full[w.Problem.Tensor(step.B).Scale]}, s)
			if step.Added != "" {
				err = errors.Join(err, k.add(w.full[step.C], w.Shape.Type, in[step.Added],
					reading.Whole(w.Problem.Elements(step.Added)), s))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addUp adds the ranks' tensors, which is exact for small integers.
func (w *Wanted) addUp(result string, a reference.Input, s driver.Stream) error {
	n, k := w.Problem.Elements(result), w.Member.Kernels
	err := k.Make(w.full[result], w.Shape.Type, a, reading.Whole(n), s)
	for r := 1; r < w.Problem.Extents[schedule.D]; r++ {
		err = errors.Join(err, k.add(w.full[result], w.Shape.Type, a, reading.Stretch(r*n, n), s))
	}
	return err
}

// copied reports whether a result is a copy, of any numbers.
func (t *Tensors) copied(name string) bool {
	_, ok := t.Problem.Copied(name)
	return ok
}

// Copies reports whether all results are copies.
func (t *Tensors) Copies() bool {
	return !slices.ContainsFunc(t.results(), func(name string) bool { return !t.copied(name) })
}

// Equal compares every element of every result with the reference, by == where an element has a single right value. All
// elements of a large problem have one, as products of the device make them, unless a sum is beyond what its inputs are
// drawn for: then the host makes the results, and says which values are right.
func (w *Wanted) Equal(in map[string]reference.Input, s driver.Stream) (*Mismatch, error) {
	if err := w.make(in, s); err != nil {
		return nil, err
	}
	if w.Small() {
		if m, err := w.bounded(s); err != nil || m != nil {
			return m, err
		}
		return w.untouched(in, s)
	}
	var first *Mismatch
	for _, name := range w.results() {
		m, largest, err := w.same(name, w.full[name], s)
		switch {
		case err != nil:
			return nil, err
		case w.inexact(name, largest):
			w.values = w.Problem.Results(in)
			return w.bounded(s)
		case first == nil:
			first = m
		}
	}
	return first, nil
}

// inexact reports whether a result reaches so far that the device's own products may round it.
func (w *Wanted) inexact(name string, largest float32) bool {
	return !w.copied(name) && float64(largest) > w.Problem.Most(name)
}

// same compares this rank's part of a tensor with the whole, and returns the largest
// magnitude.
func (w *Wanted) same(name string, whole driver.Ptr, s driver.Stream) (first *Mismatch, largest float32, err error) {
	done := 0
	for _, x := range w.Parts[name].Pieces {
		if x.Count == 0 {
			continue
		}
		at := w.At[name] + driver.Ptr(w.BytesOf(name, done))
		if err := errors.Join(w.Member.Kernels.judge(at, whole, w.verdicts, w.typeOf(name), x, s),
			w.drained(s)); err != nil {
			return nil, 0, err
		}
		v, err := w.Member.Kernels.verdict(w.verdicts, x.Count)
		if err != nil {
			return nil, 0, err
		}
		largest = max(largest, v.Largest)
		if v.First >= 0 && first == nil {
			i := done + int(v.First)
			got, err := w.element(name, w.At[name], i)
			want, wrong := w.element(name, whole, w.Parts[name].At(i))
			if err := errors.Join(err, wrong); err != nil {
				return nil, 0, err
			}
			first = w.mismatch(name, i, float64(got), formula.Point(float64(want)), 0)
		}
		if first != nil {
			first.Differ += int(v.Differ)
		}
		done += x.Count
	}
	return first, largest, nil
}

// untouched compares the inputs with the same inputs, made again: a run only reads them, except inputs that it replaces
// in place.
func (w *Wanted) untouched(in map[string]reference.Input, s driver.Stream) (*Mismatch, error) {
	for name, x := range in {
		kept := w.kept(name)
		if w.absent(name) || len(kept) == 0 {
			continue
		}
		part, at := w.Parts[name], w.At[name]
		if err := w.Member.Kernels.Make(w.scratch, w.typeOf(name), x, part, s); err != nil {
			return nil, err
		}
		for _, k := range kept {
			w.Parts[name] = reading.Stretch(k.from, k.to-k.from) // scratch holds only the part
			w.At[name] = at + driver.Ptr(w.BytesOf(name, k.from))
			m, _, err := w.same(name, w.scratch, s)
			w.Parts[name], w.At[name] = part, at
			if err != nil || m != nil {
				return m, err
			}
		}
	}
	return nil, nil
}

// Near compares every element with float64, on the host.
func (w *Wanted) Near(in map[string]reference.Input) (*Mismatch, error) {
	if err := w.make(in, w.Member.Caller.Handle()); err != nil {
		return nil, err
	}
	return w.bounded(w.Member.Caller.Handle())
}

// bounded compares every element with the host's result, and counts the elements that it compares by ==.
func (w *Wanted) bounded(s driver.Stream) (*Mismatch, error) {
	if err := w.drained(s); err != nil {
		return nil, err
	}
	w.points, w.of = 0, 0
	for _, name := range w.results() {
		got, err := w.download(name)
		if err != nil {
			return nil, err
		}
		w.points, w.of = w.points+w.values[name].Points(), w.of+len(w.values[name].Want)
		if m := w.within(name, got); m != nil {
			return m, nil
		}
	}
	return nil, nil
}

func (w *Wanted) within(name string, got []float32) (first *Mismatch) {
	v := w.values[name]
	for i, x := range got {
		if at := w.Parts[name].At(i); !v.Holds(at, float64(x)) {
			if first == nil {
				first = w.mismatch(name, i, float64(x), v.At(at), 0)
			}
			first.Differ++
		}
	}
	return first
}

// download reads this rank's part of a tensor.
func (t *Tensors) download(name string) ([]float32, error) {
	raw := make([]byte, t.BytesOf(name, t.Parts[name].Count))
	if len(raw) == 0 {
		return nil, nil
	}
	if err := t.Member.Driver().MemcpyDtoH(raw, t.At[name]); err != nil {
		return nil, err
	}
	return reference.Decode(t.typeOf(name), raw)
}

// drained waits for the stream. An error of the group means that the result does not count.
func (t *Tensors) drained(s driver.Stream) error {
	if err := t.Member.Driver().StreamSynchronize(s); err != nil {
		return err
	}
	return t.Member.Err()
}

func (t *Tensors) element(name string, at driver.Ptr, i int) (float32, error) {
	share := int(max(8/t.typeOf(name).Bits(), 1)) // of a byte
	raw := make([]byte, t.BytesOf(name, share))
	if err := t.Member.Driver().MemcpyDtoH(raw, at+driver.Ptr(t.BytesOf(name, i/share*share))); err != nil {
		return 0, err
	}
	x, err := reference.Decode(t.typeOf(name), raw)
	if err != nil {
		return 0, err
	}
	return x[i%share], nil
}

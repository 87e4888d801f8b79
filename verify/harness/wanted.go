package harness

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reference"
)

// onHost is the size of a problem, in multiplications and in elements of its
// largest tensor, up to which its results are made on the host; above, by plain
// products of the device over whole operands.
const (
	onHost         = 1 << 24
	elementsOnHost = 1 << 22
)

// wanted are the results that a run must leave, whole, made apart from the plan.
type wanted struct {
	*tensors
	full     map[string]driver.Ptr // whole tensors, and in large problems the operands
	scratch  driver.Ptr            // in small problems, an input made again
	products []driver.Product      // of large problems' steps
	verdicts driver.Ptr
	values   map[string]reference.Values // of the last run of a small problem
}

func (t *tensors) small() bool {
	multiplications, elements := t.x.Work()
	return multiplications <= onHost && elements <= elementsOnHost
}

// wanted allocates what judging runs takes.
func (t *tensors) wanted() (*wanted, error) {
	w := &wanted{tensors: t, full: map[string]driver.Ptr{}}
	names := t.results()
	largest := 0
	for _, tensor := range t.p.Tensors {
		largest = max(largest, t.rooms[tensor.Name])
	}
	var err error
	if t.small() {
		w.scratch, err = t.alloc(largest)
	} else {
		names = append(names, w.operands()...)
	}
	for _, name := range names {
		if err == nil && w.full[name] == 0 {
			w.full[name], err = t.alloc(t.x.Elements(name))
		}
	}
	if err == nil {
		b := verdictBytes(largest)
		w.verdicts, err = t.alloc(int(b / t.s.Type.Size()))
	}
	return w, errors.Join(err, w.steps())
}

// operands names what large problems need whole on the device beside the results.
// Operands that this rank holds whole are used where they are, and a result that is
// a copy is held against what was copied.
func (w *wanted) operands() (names []string) {
	for _, tensor := range w.p.Tensors {
		name := tensor.Name
		switch {
		case reference.Result(name):
		case w.x.Op == schedule.Sum: // added up part by part
		case w.parts[name].Count == w.x.Elements(name) && !tensor.Root:
			w.full[name] = w.at[name]
		default:
			names = append(names, name)
		}
	}
	if w.x.Op == schedule.MLP {
		names = append(names, reference.Hidden)
	}
	return names
}

func (w *wanted) steps() error {
	if w.small() {
		return nil
	}
	var errs []error
	for _, s := range w.x.Steps() {
		h, err := w.product(s.Product, s.Bias != "")
		w.products, errs = append(w.products, h), append(errs, err)
	}
	return errors.Join(errs...)
}

// make makes the results of these inputs.
func (w *wanted) make(in map[string]reference.Input, real bool, s driver.Stream) error {
	if !w.small() {
		return w.onDevice(in, s)
	}
	w.values = w.x.Results(in, real)
	for name, v := range w.values {
		if most := float64(reference.Exact(w.s.Type) * w.x.Unit()); !real && w.x.Op != schedule.Copy && v.Largest > most {
			return fmt.Errorf("sums reach %g and %s is exact to %g only (take another -seed)", v.Largest, w.s.Type, most)
		}
		if len(v.Want) == 0 {
			continue
		}
		if err := w.r.drv.MemcpyHtoD(w.full[name], reference.Encode(w.s.Type, single(v.Want))); err != nil {
			return err
		}
	}
	return nil
}

func single(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, x := range values {
		out[i] = float32(x)
	}
	return out
}

// onDevice fills whole operands and multiplies them.
func (w *wanted) onDevice(in map[string]reference.Input, s driver.Stream) error {
	k := w.r.kernels
	for name, x := range in {
		if at := w.full[name]; at != 0 && at != w.at[name] {
			if err := k.make(at, w.s.Type, x, reference.Whole(w.x.Elements(name)), s); err != nil {
				return err
			}
		}
	}
	switch w.x.Op {
	case schedule.Copy:
		w.full["C"] = w.full["A"]
	case schedule.Sum:
		return w.addUp(in["A"], s)
	}
	if w.p.has("Gathered") {
		w.full["Gathered"] = w.full["A"]
	}
	for i, step := range w.x.Steps() {
		err := w.r.drv.Matmul(w.products[i], w.full[step.C], w.full[step.A], w.full[step.B], w.full[step.Bias], w.r.space, s)
		if err != nil {
			return err
		}
	}
	return nil
}

// addUp adds the ranks' tensors, which is exact for small integers.
func (w *wanted) addUp(a reference.Input, s driver.Stream) error {
	n, k := w.x.Elements("C"), w.r.kernels
	err := k.make(w.full["C"], w.s.Type, a, reference.Whole(n), s)
	for r := 1; r < w.x.Extents[schedule.D]; r++ {
		err = errors.Join(err, k.add(w.full["C"], w.s.Type, a, reference.Stretch(r*n, n), s))
	}
	return err
}

// equal holds every element of every result against the reference with ==.
func (w *wanted) equal(in map[string]reference.Input, s driver.Stream) (*mismatch, error) {
	if err := w.make(in, false, s); err != nil {
		return nil, err
	}
	for _, name := range w.results() {
		m, largest, err := w.same(name, w.full[name], s)
		if err != nil || m != nil {
			return m, err
		}
		if most := reference.Exact(w.s.Type) * w.x.Unit(); w.x.Op != schedule.Copy && name != "Gathered" && largest > float32(most) {
			return nil, fmt.Errorf("%s reaches %g and %s is exact to %d only (take another -seed)", name, largest, w.s.Type, most)
		}
	}
	if w.small() {
		return w.untouched(in, s)
	}
	return nil, nil
}

// same holds this rank's part of a tensor against the whole, and says how large that is.
func (w *wanted) same(name string, whole driver.Ptr, s driver.Stream) (first *mismatch, largest float32, err error) {
	done := 0
	for _, x := range w.parts[name].Pieces {
		if x.Count == 0 {
			continue
		}
		at := w.at[name] + driver.Ptr(w.bytes(done))
		if err := errors.Join(w.r.kernels.judge(at, whole, w.verdicts, w.s.Type, x, s), w.drained(s)); err != nil {
			return nil, 0, err
		}
		v, err := w.r.kernels.verdict(w.verdicts, x.Count)
		if err != nil {
			return nil, 0, err
		}
		largest = max(largest, v.Largest)
		if v.First >= 0 && first == nil {
			i := done + int(v.First)
			got, err := w.element(w.at[name], i)
			want, wrong := w.element(whole, w.parts[name].At(i))
			if err := errors.Join(err, wrong); err != nil {
				return nil, 0, err
			}
			first = w.mismatch(name, i, float64(got), float64(want), 0)
		}
		if first != nil {
			first.Differ += int(v.Differ)
		}
		done += x.Count
	}
	return first, largest, nil
}

// untouched holds the inputs against themselves, made again: a run reads them only, but
// for what it replaces in place.
func (w *wanted) untouched(in map[string]reference.Input, s driver.Stream) (*mismatch, error) {
	for name, x := range in {
		kept := w.kept(name)
		if w.absent(name) || len(kept) == 0 {
			continue
		}
		part, at := w.parts[name], w.at[name]
		if err := w.r.kernels.make(w.scratch, w.s.Type, x, part, s); err != nil {
			return nil, err
		}
		for _, k := range kept {
			w.parts[name] = reference.Stretch(k.from, k.to-k.from) // scratch holds the part alone
			w.at[name] = at + driver.Ptr(w.bytes(k.from))
			m, _, err := w.same(name, w.scratch, s)
			w.parts[name], w.at[name] = part, at
			if err != nil || m != nil {
				return m, err
			}
		}
	}
	return nil, nil
}

// near holds every element against float64, on the host.
func (w *wanted) near(in map[string]reference.Input) (*mismatch, error) {
	if err := errors.Join(w.make(in, true, w.r.stream.Handle()), w.drained(w.r.stream.Handle())); err != nil {
		return nil, err
	}
	for _, name := range w.results() {
		got, err := w.download(name)
		if err != nil {
			return nil, err
		}
		if m := w.within(name, got); m != nil {
			return m, nil
		}
	}
	return nil, nil
}

func (w *wanted) within(name string, got []float32) (first *mismatch) {
	v := w.values[name]
	for i, x := range got {
		at, bound := w.parts[name].At(i), 0.0
		if v.Bound != nil {
			bound = v.Bound[at]
		}
		if d := float64(x) - v.Want[at]; !(max(d, -d) <= bound) { // NaN is wrong too
			if first == nil {
				first = w.mismatch(name, i, float64(x), v.Want[at], 0)
			}
			first.Differ++
		}
	}
	return first
}

// download reads this rank's part of a tensor.
func (t *tensors) download(name string) ([]float32, error) {
	raw := make([]byte, t.bytes(t.parts[name].Count))
	if len(raw) == 0 {
		return nil, nil
	}
	if err := t.r.drv.MemcpyDtoH(raw, t.at[name]); err != nil {
		return nil, err
	}
	return reference.Decode(t.s.Type, raw)
}

// drained waits for the stream; the group's error says whether the result counts.
func (t *tensors) drained(s driver.Stream) error {
	if err := t.r.drv.StreamSynchronize(s); err != nil {
		return err
	}
	return t.r.Err()
}

func (t *tensors) element(at driver.Ptr, i int) (float32, error) {
	raw := make([]byte, t.s.Type.Size())
	if err := t.r.drv.MemcpyDtoH(raw, at+driver.Ptr(t.bytes(i))); err != nil {
		return 0, err
	}
	x, err := reference.Decode(t.s.Type, raw)
	if err != nil {
		return 0, err
	}
	return x[0], nil
}

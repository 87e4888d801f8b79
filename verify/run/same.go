package run

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/harness"
	"ovgen/verify/reading"
)

// rowSums are the sums of the bits of rows, by result and by row.
type rowSums map[string]map[int]uint64

// firstSum is the sum of the bits of a row in the first run that had it, and that run.
type firstSum struct {
	sum uint64
	of  string
}

// sames compares the rows of all programs, shapes and modes.
type sames struct {
	*sameCommand
	r        *rank
	seen     map[string]firstSum // by sizes, result and row
	compared int
	odd      []string
}

// sameCommand gives all programs the same rows of real numbers, as many as each shape has. It compares the bits of each
// row of a result with the bits of the same row in the first run that had it: of another program, number of rows or
// mode (eager, replayed, captured).
type sameCommand struct {
	running
	disturbing
}

func (c *sameCommand) bind(f *flag.FlagSet) {
	c.name, c.typed = "same", true
	c.running.bind(f)
	f.UintVar(&c.seed, "seed", 1, "")
	c.disturbing.bind(f)
}

func (c *sameCommand) settle(f *flag.FlagSet, names []string, programs []harness.Program) error {
	if err := c.running.settle(f, names, programs, nil); err != nil {
		return err
	}
	for _, p := range c.programs {
		if first := c.programs[0]; !reflect.DeepEqual(p.Schedule.Tensors, first.Schedule.Tensors) {
			return fmt.Errorf("%s has other tensors than %s (name programs of one operation and equal placements)",
				p.Name, first.Name)
		}
	}
	c.filters = c.delays
	return errors.Join(c.taken(), c.fit(c.shapes))
}

func (c *sameCommand) run(code *driver.Code) int {
	return c.start(func(ctx context.Context, s *seat) (right bool, err error) {
		r, err := c.join(ctx, s, code)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, r.close(ctx)) }()
		c.delay(r)
		c.greet(r, false, false)
		x := &sames{sameCommand: c, r: r, seen: map[string]firstSum{}}
		modes := func(programs int) int { return 3 * programs }
		if err := errors.Join(c.affordable(r, c.arguments, modes), x.all(ctx)); err != nil {
			return false, err
		}
		return x.report(), nil
	})
}

// all runs all programs in all types and shapes.
func (x *sames) all(ctx context.Context) error {
	for i := range x.programs {
		p := &x.programs[i]
		for _, t := range x.typesOf(p) {
			for _, s := range x.shapesOf(p, t, x.r.onGPU()) {
				if err := x.shape(ctx, p, s); err != nil {
					return fmt.Errorf("same %s, %s %s: %w", p.Name, s, s.Type, err)
				}
			}
		}
	}
	return nil
}

// shape runs one shape of one program in each mode.
func (x *sames) shape(ctx context.Context, p *harness.Program, s harness.Shape) (err error) {
	t, err := x.r.Tensors(p, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Free()) }()
	alikeInRows(t)
	plan, err := t.Plan(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.r.ClosePlan(ctx, plan)) }()
	modes := []string{modeEager, modeReplayed, modeCaptured}
	if p.Eager {
		modes = modes[:1]
	}
	for _, mode := range modes {
		if err := x.mode(ctx, t, &runner{r: x.r, plan: plan}, mode); err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
	}
	return nil
}

// alikeInRows has a rank's partial results of many rows begin with those of few: one rank's follow the other's in the
// whole tensor, so an element's place there, and with it its value, depends on the number of rows.
func alikeInRows(t *harness.Tensors) {
	const apart = 1 << 32 // more elements than a rank has
	for _, o := range t.Program.Schedule.Tensors {
		if axis, _, spread := o.Sharded(); spread && axis == 0 && o.Axes[0].Extent == schedule.D {
			t.Parts[o.Name] = reading.Stretch(t.Member.Rank()*apart, t.Parts[o.Name].Count)
		}
	}
}

// mode makes one run and compares its rows.
func (x *sames) mode(ctx context.Context, t *harness.Tensors, run *runner, mode string) (err error) {
	if err := run.capture(mode); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.release()) }()
	s := x.r.Caller.Handle()
	err = errors.Join(t.Spoil(s), t.Fill(t.Inputs(0, true), s), x.disturb(x.r, draws[mode], s))
	if err == nil {
		err = run.start(ctx, mode, s)
	}
	if err = errors.Join(err, x.r.Watch(ctx, s)); err != nil {
		return err
	}
	mine, err := x.sums(t)
	if err != nil {
		return err
	}
	text, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	all, err := x.r.Gather(ctx, "compare rows", text)
	if err != nil {
		return err
	}
	for rank, text := range all {
		var sums rowSums
		if err := json.Unmarshal(text, &sums); err != nil {
			return err
		}
		x.compare(t, mode, rank, sums)
	}
	return nil
}

// sums are the sums of this rank's rows of each result.
func (x *sames) sums(t *harness.Tensors) (rowSums, error) {
	all := rowSums{}
	for name, bytes := range t.Made() {
		raw := make([]byte, bytes)
		if err := x.r.drv.MemcpyDtoH(raw, t.At[name]); err != nil {
			return nil, err
		}
		elements := t.Parts[name].Count
		columns, _ := inRow(t, name)
		row := int(bytes) / elements * columns
		all[name] = map[int]uint64{}
		for i := 0; i < elements; i += columns {
			all[name][t.Parts[name].At(i)/columns] = sumOf(raw[i/columns*row:][:row])
		}
	}
	return all, nil
}

// inRow is the number of elements of a result's row on a rank, and the number of ranks that have different elements of
// it. A result with one axis, such as scales, has one element for each row.
func inRow(t *harness.Tensors, name string) (columns, ranks int) {
	of := t.Problem.Tensor(name)
	axis, _, spread := of.Sharded()
	switch last := len(of.Axes) - 1; {
	case last == 0:
		return 1, 1
	case spread && axis == last:
		ranks = t.Problem.Extents[schedule.D]
		return t.Columns(name) / ranks, ranks
	}
	return t.Columns(name), 1
}

// sumOf is FNV-1a of the bits, by which processes compare rows.
func sumOf(row []byte) uint64 {
	h := fnv.New64a()
	h.Write(row)
	return h.Sum64()
}

// compare notes rows of a rank whose bits differ from the bits that were seen first. Where ranks have different
// operands, they have different results.
func (x *sames) compare(t *harness.Tensors, mode string, rank int, sums rowSums) {
	sizes, whose := t.Shape, -1
	sizes.M = 0
	if slices.ContainsFunc(t.Program.Schedule.Tensors, func(o harness.Tensor) bool { return t.Problem.Own(o.Name) }) {
		whose = rank
	}
	of := fmt.Sprintf("%s, %s, %s, rank %d", t.Program.Name, t.Shape, mode, rank)
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		differ, first := 0, ""
		_, ranks := inRow(t, name)
		for _, row := range slices.Sorted(maps.Keys(sums[name])) {
			x.compared++
			key := fmt.Sprint(sizes, t.Shape.Type, whose, name, row)
			was, known := x.seen[key]
			if !known {
				x.seen[key] = firstSum{sums[name][row], of}
			} else if was.sum != sums[name][row] {
				if differ++; differ == 1 {
					first = fmt.Sprintf("row %d of %s has other bits than of %s", row/ranks, name, was.of)
				}
			}
		}
		if differ > 0 {
			x.odd = append(x.odd, fmt.Sprintf("%s: %s (%d of %d rows)", of, first, differ, len(sums[name])))
		}
	}
}

// bits is a sum of all rows that were seen, by which runs of the command are compared with each other.
func (x *sames) bits() uint64 {
	h := fnv.New64a()
	for _, key := range slices.Sorted(maps.Keys(x.seen)) {
		fmt.Fprintf(h, "%s %016x\n", key, x.seen[key].sum)
	}
	return h.Sum64()
}

// report prints the number of compared rows, and where bits differ.
func (x *sames) report() bool {
	if x.r.Rank() == 0 {
		for _, line := range x.odd {
			fmt.Println(line)
		}
		fmt.Printf("%d rows compared with %d, whose bits add up to %016x: %d runs of ranks have others\n", x.compared,
			len(x.seen), x.bits(), len(x.odd))
	}
	return len(x.odd) == 0
}

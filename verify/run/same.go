package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// rowSums are sums of the bits of rows, by result, by row.
type rowSums map[string]map[int]uint64

// firstSum is the sum of the bits of a row that was seen first, and where.
type firstSum struct {
	sum uint64
	of  string
}

// sames compares the rows of all programs, shapes and modes.
type sames struct {
	r        *rank
	seen     map[string]firstSum // by sizes, result and row
	compared int
	odd      []string
}

// compareRows gives all programs the same rows of real numbers, as many as each shape has, and compares the bits of each row of
// a result with those of its first run: of another program, of another number of rows, eager, replayed or captured.
func compareRows(ctx context.Context, o *options, code *driver.Code) (right bool, err error) {
	r, err := join(ctx, o, code)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	r.greet()
	if err := r.affordable(); err != nil {
		return false, err
	}
	x := &sames{r: r, seen: map[string]firstSum{}}
	first := o.programs[0].Schedule
	for i := range o.programs {
		p := &o.programs[i]
		if !reflect.DeepEqual(p.Schedule.Tensors, first.Tensors) {
			return false, fmt.Errorf("%s has other tensors than %s (name programs of one operation and equal placements)",
				p.Name, o.programs[0].Name)
		}
		for _, t := range o.typesOf(p) {
			for _, s := range o.shapesOf(p, t, r.onGPU()) {
				if err := x.shape(ctx, p, s); err != nil {
					return false, fmt.Errorf("same %s, %s %s: %w", p.Name, s, s.Type, err)
				}
			}
		}
	}
	return x.report(), nil
}

// shape runs one shape of one program in each mode.
func (x *sames) shape(ctx context.Context, p *harness.Program, s harness.Shape) (err error) {
	t, err := x.r.Tensors(p, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Free()) }()
	plan, err := t.Plan(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.r.ClosePlan(ctx, plan)) }()
	c := &checker{Wanted: &harness.Wanted{Tensors: t}, r: x.r, plan: plan}
	for _, mode := range []string{modeEager, modeReplayed, modeCaptured} {
		if p.Eager && mode != modeEager {
			continue
		}
		if err := x.mode(ctx, c, mode); err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
	}
	return nil
}

// mode makes one run and compares its rows.
func (x *sames) mode(ctx context.Context, c *checker, mode string) (err error) {
	s := x.r.Caller.Handle()
	if mode == modeCaptured {
		if c.graph, err = device.Capture(x.r.drv, s, func() error { return c.plan.Enqueue(s) }); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.graph.Close()) }()
	}
	err = errors.Join(c.Spoil(s), c.Fill(c.Inputs(0, true), s), c.disturb(draws[mode], s))
	if err == nil {
		err = c.start(ctx, mode, s)
	}
	if err = errors.Join(err, x.r.Watch(ctx, s)); err != nil {
		return err
	}
	mine, err := x.sums(c.Tensors)
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
		x.compare(c, mode, rank, sums)
	}
	return nil
}

// sums are those of this rank's rows of each result.
func (x *sames) sums(t *harness.Tensors) (rowSums, error) {
	all := rowSums{}
	for name, bytes := range t.Made() {
		raw := make([]byte, bytes)
		if err := x.r.drv.MemcpyDtoH(raw, t.At[name]); err != nil {
			return nil, err
		}
		elements := t.Parts[name].Count
		columns := t.Columns(name)
		row := int(bytes) / elements * columns
		all[name] = map[int]uint64{}
		for i := 0; i < elements; i += columns {
			all[name][t.Parts[name].At(i)/columns] = sumOf(raw[i/columns*row:][:row])
		}
	}
	return all, nil
}

// sumOf is FNV-1a of the bits, by which processes compare rows.
func sumOf(row []byte) uint64 {
	h := fnv.New64a()
	h.Write(row)
	return h.Sum64()
}

// compare notes rows of a rank whose bits are not those that were seen first. Where ranks have operands of their own, so
// are the results.
func (x *sames) compare(c *checker, mode string, rank int, sums rowSums) {
	sizes, whose := c.Shape, -1
	sizes.M = 0
	if slices.ContainsFunc(c.Program.Schedule.Tensors, func(t harness.Tensor) bool { return c.Problem.Own(t.Name) }) {
		whose = rank
	}
	of := fmt.Sprintf("%s, %s, %s, rank %d", c.Program.Name, c.Shape, mode, rank)
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		differ, first := 0, ""
		for _, row := range slices.Sorted(maps.Keys(sums[name])) {
			x.compared++
			key := fmt.Sprint(sizes, c.Shape.Type, whose, name, row)
			was, known := x.seen[key]
			if !known {
				x.seen[key] = firstSum{sums[name][row], of}
			} else if was.sum != sums[name][row] {
				if differ++; differ == 1 {
					first = fmt.Sprintf("row %d of %s has other bits than of %s", row, name, was.of)
				}
			}
		}
		if differ > 0 {
			x.odd = append(x.odd, fmt.Sprintf("%s: %s (%d of %d rows)", of, first, differ, len(sums[name])))
		}
	}
}

// report prints how many rows were compared, and where bits differ.
func (x *sames) report() bool {
	if x.r.Rank() == 0 {
		for _, line := range x.odd {
			fmt.Println(line)
		}
		fmt.Printf("%d rows compared with %d: %d runs of ranks have others\n", x.compared, len(x.seen), len(x.odd))
	}
	return len(x.odd) == 0
}

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/schedule"
	"ovgen/verify/harness"
	"ovgen/verify/reading"
	"ovgen/verify/reference"
)

// Variants that bench compares. Each is measured twice: as the host enqueues it, and gated, with all of it queued
// before the ranks start.
const (
	variantPure     = "pure" // the same products whole, without communication
	variantEager    = "eager"
	variantReplayed = "replayed"
	variantChunks   = "chunks"    // the products alone, with one product for each rank's rows
	variantCopies   = "copies"    // copies of equally many bytes alone, by copy engine
	variantNetwork  = "network"   // over hosts: the exchanges between them alone
	variantSerial   = "serial"    // these exchanges and then the whole products
	withoutSteps    = ", nosteps" // the plan without the step words that an abort reads
)

// variant is one way to do the work, or a part of it.
type variant struct {
	name    string
	program *harness.Program // the program whose plan it runs; nil for parts of the work
	tiles   string           // the kernel of tiles that the plan was told to take
	enqueue func(s driver.Stream) error
}

// moves: the variant moves bytes between ranks, and has no product.
func (v variant) moves() bool { return v.name == variantCopies || v.name == variantNetwork }

// plan: the variant does all of the work.
func (v variant) plan() bool { return v.program != nil }

// lab is the data of all variants of one shape, for programs of one operation whose tensors have equal placements.
type lab struct {
	*harness.Tensors
	r        *rank
	programs []*harness.Program
	plans    []harness.Plan
	tiles    []string // the kernel of tiles that each plan was told to take, or empty
	tasks    []task
	staging  driver.Ptr // in this rank's arena
	traffic  []int64    // bytes pulled from each peer
	pulled   driver.Ptr
}

// newLab allocates, fills everything with random reals, and makes the plans.
func (r *rank) newLab(ctx context.Context, programs []*harness.Program, s harness.Shape) (*lab, error) {
	t, err := r.Tensors(programs[0], s)
	if err != nil {
		return nil, err
	}
	l := &lab{Tensors: t, r: r, programs: programs}
	if err := l.open(ctx); err != nil {
		return nil, errors.Join(err, l.free(ctx))
	}
	return l, nil
}

func (l *lab) open(ctx context.Context) error {
	for _, p := range l.programs[1:] {
		if err := l.alike(p); err != nil {
			return err
		}
	}
	in, stream := l.Inputs(0, true), l.r.Caller.Handle()
	if err := errors.Join(l.Fill(in, stream), l.prepare(in, stream),
		l.r.drv.StreamSynchronize(stream)); err != nil {
		return err
	}
	l.tiles = make([]string, len(l.programs))
	for _, p := range l.programs {
		if err := l.addPlan(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// addTiles adds plans of each program, one for each kernel of tiles that it could take.
func (l *lab) addTiles(ctx context.Context) error {
	for i, p := range slices.Clone(l.programs) {
		for _, name := range tilesOf(l.plans[i]) {
			if err := l.addPlan(ctx, taking(p, name)); err != nil {
				return err
			}
			l.programs, l.tiles = append(l.programs, p), append(l.tiles, name)
		}
	}
	return nil
}

// taking is a program whose plans take one of their kernels of tiles.
func taking(p *harness.Program, tiles string) *harness.Program {
	by := *p
	by.New = func(ctx context.Context, g *group.Group, s harness.Shape) (harness.Plan, error) {
		made, err := p.New(ctx, g, s)
		if err != nil {
			return nil, err
		}
		return made, base(made).UseTiles(tiles)
	}
	return &by
}

// estimates reports whether a plan takes its tiles by the estimate while another plan of its program was told which to
// take.
func (l *lab) estimates(v variant) bool {
	for i, p := range l.programs {
		if v.tiles == "" && l.tiles[i] != "" && p == v.program {
			return true
		}
	}
	return false
}

// alike returns the reason why a program can't be measured beside the first program.
func (l *lab) alike(p *harness.Program) error {
	first := l.programs[0]
	x, err := p.Problem(l.Shape, l.r.Size())
	if err != nil {
		return err
	}
	if !slices.EqualFunc(x.Ops, l.Problem.Ops, same) || len(x.Tensors) != len(l.Problem.Tensors) {
		return fmt.Errorf("%s and %s are not the same operation (bench them one after the other)", first.Name,
			p.Name)
	}
	for name, want := range l.Parts {
		part, err := x.Part(name, l.r.Rank())
		if err != nil || !slices.Equal(part.Pieces, want.Pieces) ||
			x.Tensor(name).Within != l.Problem.Tensor(name).Within {
			return errors.Join(err,
				fmt.Errorf("%s and %s place %s differently (bench them one after the other)",
					first.Name, p.Name, name))
		}
	}
	return nil
}

// same reports whether two operations compute the same from the same tensors.
func same(a, b schedule.Op) bool { return a.String() == b.String() }

// prepare allocates the memory that the parts of the work need beside the plans' tensors.
func (l *lab) prepare(in map[string]reference.Input, s driver.Stream) error {
	if err := l.addTasks(in, s); err != nil {
		return err
	}
	l.traffic = l.pulls()
	if len(l.traffic) == 0 {
		return nil
	}
	elements := int(slices.Max(l.traffic)/l.Shape.Type.Size()) * l.r.Size()
	start, err := l.r.Arena().Stage(l.Bytes(elements))
	if err != nil {
		return err
	}
	l.staging = l.r.Arena().Base(l.r.Rank()) + driver.Ptr(start[0])
	if l.pulled, err = l.Alloc(elements); err != nil {
		return err
	}
	return l.r.Kernels.Make(l.staging, l.Shape.Type, reference.Input{Seed: l.r.Seed, Real: true},
		reading.Whole(elements), s)
}

// addPlan makes a plan and binds it.
func (l *lab) addPlan(ctx context.Context, p *harness.Program) error {
	plan, err := l.Tensors.Plan(ctx, p)
	if err == nil {
		l.plans = append(l.plans, plan)
	}
	return err
}

func (l *lab) free(ctx context.Context) error {
	var errs []error
	for _, p := range l.plans {
		errs = append(errs, l.r.ClosePlan(ctx, p))
	}
	return errors.Join(append(errs, l.Tensors.Free())...)
}

// variants are the variants to compare, the pure products first.
func (l *lab) variants(ctx context.Context, nosteps bool) ([]variant, error) {
	var list []variant
	if len(l.tasks) > 0 {
		list = append(list, variant{name: variantPure, enqueue: l.pure})
	}
	for i, p := range l.programs {
		list = append(list, variant{variantEager, p, l.tiles[i], l.plans[i].Enqueue},
			variant{variantReplayed, p, l.tiles[i], l.plans[i].Replay})
	}
	if l.chunked() {
		list = append(list, variant{name: variantChunks, enqueue: l.chunks})
	}
	switch {
	case len(l.traffic) == 0:
	case l.r.Hosts() == 1:
		list = append(list, variant{name: variantCopies, enqueue: l.copies})
	default:
		list = append(list, variant{name: variantNetwork, enqueue: l.exchanges},
			variant{name: variantSerial, enqueue: l.serial})
	}
	if nosteps {
		bare, err := l.withoutSteps(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, bare...)
	}
	return slices.DeleteFunc(list, func(v variant) bool {
		return v.plan() && v.program.Eager && strings.HasPrefix(v.name, variantReplayed)
	}), nil
}

// withoutSteps are the variants of plans that write no step words.
func (l *lab) withoutSteps(ctx context.Context) (list []variant, err error) {
	l.steps(false)
	defer l.steps(true)
	for _, p := range l.programs {
		if err := l.addPlan(ctx, p); err != nil { // its graph is captured without the words
			return nil, err
		}
		bare := l.plans[len(l.plans)-1]
		list = append(list, variant{variantEager + withoutSteps, p, "", func(s driver.Stream) error {
			l.steps(false)
			defer l.steps(true)
			return bare.Enqueue(s)
		}}, variant{variantReplayed + withoutSteps, p, "", bare.Replay})
	}
	return list, nil
}

// steps lets the writes of step words through, or stops them. Kernels that write step words are not stopped.
func (l *lab) steps(on bool) {
	first := l.r.Arena().Base(l.r.Rank())
	l.r.filter.Without = func(p driver.Ptr) bool { return p >= first && p < first+group.StepBytes }
	if on {
		l.r.filter.Without = nil
	}
}

package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Finish makes the plan on all ranks: it lays out the arena, compares program, shape and layout over the ranks, loads
// and tunes, and launches every kernel once, so that a run loads nothing. issue enqueues one run; Finish calls it once
// without enqueuing anything, to number its steps.
func (b *Builder) Finish(ctx context.Context, issue func(*Queue)) (*Plan, error) {
	p := b.plan
	p.issue = issue
	p.next.memory = make([]binding, len(p.bindable))
	p.graphs.most = p.group.Graphs()
	// If peers use no memory of the caller, the ranks have nothing to exchange at the first Bind.
	p.met = p.counts == 0 && !slices.ContainsFunc(p.bindable, func(f *Buffer) bool { return f.shared })
	err := p.group.Alive()
	if err == nil {
		p.id, err = p.group.Register(p)
	}
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", p.program.Name, err)
	}
	if err := p.make(ctx, errors.Join(b.errs...)); err != nil {
		return nil, errors.Join(fmt.Errorf("make %s: %w", p, err), p.release())
	}
	return p, nil
}

// Shape is the size and element type of a plan: each generated package has a separate type.
type Shape interface {
	Check(ranks int) error // everything that keeps the given number of ranks from running it
	String() string        // as errors print it
}

// Make is New of every generated package: a plan of prog for a shape, on all ranks of the group. declare gives a
// builder the parts of the plan and the function that issues a run.
//
// Every rank of the group calls Make with the same shape, and all ranks get the error of any rank. Make allocates,
// opens, loads and tunes everything that a run needs; it may synchronise the device. The group's arena holds the plan's
// words and staging: Shape.Memory returns how much the plan needs. Each stream that runs products also has a workspace
// of 32 MiB, which it shares with the group's other plans.
//
// Its errors come from Shape.Check, or wrap *DisagreementError, *UnprovenError, *RanksError, *CapabilityError,
// *HostsError, *ApartError, *LinkError, *BlocksError, *RoomError, *group.ArenaError, *group.WordsError, *RankError for
// another rank's failure, or *group.AbortError where a rank did not come in time. After all errors but the last the
// group goes on.
func Make[P any](ctx context.Context, g *group.Group, prog *Program, s Shape,
	declare func(*Builder) P) (p P, err error) {
	if g == nil {
		return p, fmt.Errorf("make a plan of %s: no group (group.Join makes one)", prog.Name)
	}
	if err := s.Check(g.Size()); err != nil {
		return p, Refuse(ctx, g, prog, err)
	}
	b := Build(g, prog, s.String())
	made := declare(b)
	if _, err := b.Finish(ctx, b.plan.issue); err != nil {
		return p, err
	}
	return made, nil
}

// Refuse is Finish for a rank that can't make the plan, because of err. It takes part in the step in which the peers
// agree on the plan, so that they get the error too instead of waiting.
func Refuse(ctx context.Context, g *group.Group, prog *Program, err error) error {
	b := Build(g, prog, "")
	b.errs = append(b.errs, err)
	_, err = b.Finish(ctx, nil)
	return err
}

// make takes two collective steps: the ranks compare their identities, then each rank confirms that it is ready. If
// they have tuned a product to different algorithms, they take a third step.
func (p *Plan) make(ctx context.Context, mistakes error) error {
	failed := mistakes
	if failed == nil {
		failed = p.supported()
	}
	if failed == nil {
		failed = p.layOut()
	}
	mine, err := json.Marshal(p.identity())
	all, err := p.agree(ctx, fmt.Sprintf("make plan %d", p.id), mine, errors.Join(failed, err))
	if err == nil {
		err = compare(all)
	}
	if err != nil {
		return err
	}
	if err := p.drain(ctx); err != nil {
		return err
	}
	failed = p.load()
	if failed == nil {
		failed = p.warmUp()
	}
	if len(p.collectives) > 0 {
		failed = p.connect(ctx, failed)
	}
	mine, err = json.Marshal(p.algorithms())
	all, err = p.agree(ctx, fmt.Sprintf("make plan %d ready", p.id), mine, errors.Join(failed, err))
	if err != nil {
		return err
	}
	return p.equal(ctx, all)
}

// supported checks the size of the group, its links and its devices against the assumptions of the proof.
func (p *Plan) supported() error {
	proven := p.program.Ranks
	switch {
	case p.program.Proof == "" || p.program.Proof == "unproven" || len(proven) == 0:
		return &UnprovenError{Program: p.program.Name}
	case !slices.Contains(proven, p.Size()):
		return &RanksError{Program: p.program.Name, Proven: proven, Size: p.Size()}
	}
	return Suits(p.group, p.program, p.reaches())
}

// reaches reports whether a run uses peers' memory: it signals, or peers use a buffer that the caller binds.
func (p *Plan) reaches() bool {
	return len(p.packets) > 0 || slices.ContainsFunc(p.semaphores, func(s *semaphores) bool { return s.count > 0 }) ||
		slices.ContainsFunc(p.bindable, func(f *Buffer) bool { return f.shared })
}

// layOut takes the plan's place in the arena and numbers its steps.
func (p *Plan) layOut() error {
	arena := p.group.Arena()
	sizes := make([]int64, len(p.staged))
	for i, f := range p.staged {
		sizes[i] = f.bytes
	}
	offsets, err := p.stage(sizes)
	if err != nil {
		return err
	}
	for i, f := range p.staged {
		f.offset = offsets[i]
		if p.staging != 0 {
			f.at[p.rank] = p.staging + driver.Ptr(offsets[i])
			continue
		}
		for r := range f.at {
			f.at[r] = within(arena, r, offsets[i])
		}
	}
	for _, s := range p.semaphores {
		if s.count < 1 {
			continue // the set has no members for a rank alone
		}
		offset, err := arena.Words(s.words(p.Size()))
		if err != nil {
			return err
		}
		s.offset = offset
		for r := range p.Size() {
			s.base = append(s.base, within(arena, r, offset))
		}
	}
	if err := p.land(); err != nil {
		return err
	}
	return p.number()
}

// within is the address of an offset in a rank's arena as mapped here, zero where the arena is not mapped.
func within(a *group.Arena, rank int, offset int64) driver.Ptr {
	if base := a.Base(rank); base != 0 {
		return base + driver.Ptr(offset)
	}
	return 0
}

// number issues a run without enqueuing it.
func (p *Plan) number() error {
	if err := p.balance(); err != nil {
		return err
	}
	q := &p.queue
	q.start(0)
	q.dry = true
	p.issue(q)
	q.dry = false
	if q.err != nil {
		return fmt.Errorf("number the steps of a run: %w", q.err)
	}
	p.numbered.Store(&p.steps)
	if q.step > math.MaxUint16 {
		return fmt.Errorf("number the steps of a run: %d, and a step word holds %d", q.step, math.MaxUint16)
	}
	q.items = slices.Grow(q.items[:0], 2*p.Size()+1)
	return nil
}

// identity lists the parts of the plan that must be equal on all ranks, each part with the remedy for a difference.
func (p *Plan) identity() []part {
	var layout []string
	for _, f := range p.bindable {
		layout = append(layout, fmt.Sprintf("%s:%d", f.name, f.bytes))
	}
	for _, f := range p.staged {
		layout = append(layout, fmt.Sprintf("%s:%d@%d", f.name, f.bytes, f.offset))
	}
	if p.inWindow {
		at, _ := p.group.SymmetricOffset(p.staging)
		layout = append(layout, fmt.Sprintf("symmetric@%d", at))
	}
	for _, s := range p.semaphores {
		layout = append(layout, fmt.Sprintf("%s@%d", s, s.offset))
	}
	for _, x := range p.packets {
		layout = append(layout, fmt.Sprintf("%s:%d@%d", x.name, x.bytes, x.offset))
	}
	for _, s := range p.streams {
		layout = append(layout, fmt.Sprintf("%s!%d", s, s.priority))
	}
	return []part{
		{"program", p.program.Name + " " + p.program.Hash,
			"run the same binary on all ranks and make the same plans in the same order"},
		{"shape", p.shape, "call New with the same shape on all ranks"},
		{"layout", strings.Join(layout, " "), "make and close the same plans in the same order on all ranks"},
	}
}

type part struct{ What, Value, Do string }

// compare returns a *DisagreementError of the first part that differs.
func compare(all [][]byte) error {
	parts := make([][]part, len(all))
	for r, b := range all {
		if err := json.Unmarshal(b, &parts[r]); err != nil || len(parts[r]) != len(parts[0]) {
			return fmt.Errorf("compare plans: rank %d sent something else: %w (run the same binary on all ranks)",
				r, err)
		}
	}
	for i, first := range parts[0] {
		values := make([]string, len(parts))
		for r := range parts {
			values[r] = parts[r][i].Value
		}
		if len(slices.Compact(slices.Clone(values))) > 1 {
			return &DisagreementError{What: first.What, Values: values, Do: first.Do}
		}
	}
	return nil
}

// load takes the streams, products, kernels and events of a run.
func (p *Plan) load() (err error) {
	for _, s := range p.streams {
		pooled, err := p.group.Stream(s.name, s.index, s.priority)
		if err != nil {
			return err
		}
		s.handle, s.own, s.step = pooled.Handle, pooled.Handle, pooled.Step
		if s.multiply {
			if s.workspace, err = pooled.Workspace(); err != nil {
				return err
			}
		}
	}
	for _, m := range p.products {
		if m.empty() || !m.called {
			continue
		}
		if m.handle, err = p.driver.MatmulCreate(m.desc); err != nil {
			return fmt.Errorf("tune %dx%dx%d %v: %w", m.desc.M, m.desc.K, m.desc.N, m.desc.Type, err)
		}
	}
	if p.program.Code != nil {
		if p.module, err = p.driver.ModuleLoadData(p.program.Code); err != nil {
			return fmt.Errorf("load kernels: %w", err)
		}
	}
	for _, k := range p.kernels {
		if k.handle, err = p.driver.ModuleGetFunction(p.module, k.name); err != nil {
			return fmt.Errorf("load kernel %s: %w", k.name, err)
		}
		if err := p.room(k); err != nil {
			return err
		}
	}
	if err := p.clearPackets(); err != nil {
		return err
	}
	for range p.queue.events {
		e, err := p.driver.EventCreate(false)
		if err != nil {
			return fmt.Errorf("make events: %w", err)
		}
		p.events = append(p.events, e)
	}
	return nil
}

// warmUp launches each kernel once with zero parameters, which do nothing: CUDA loads a kernel at its first launch, and
// that may synchronise the device. Products were launched when they were tuned.
func (p *Plan) warmUp() error {
	for _, k := range p.kernels {
		clear(k.params)
		cluster := driver.Dim3{X: uint32(max(1, k.code.Cluster)), Y: 1, Z: 1}
		err := p.driver.LaunchKernel(k.handle, cluster, driver.Dim3{X: 32, Y: 1, Z: 1}, p.main.own,
			unsafe.Pointer(unsafe.SliceData(k.params)))
		if err != nil {
			return fmt.Errorf("launch %s for the first time: %w", k.name, err)
		}
	}
	if err := p.driver.StreamSynchronize(p.main.own); err != nil {
		return fmt.Errorf("launch kernels for the first time: %w", err)
	}
	for _, try := range p.trials {
		if err := try(p.driver, p.module, p.main.own); err != nil {
			return err
		}
	}
	return nil
}

package tuning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// Candidate is one schedule of an operation with shape S and buffers B. Check returns the reason why the given number
// of ranks can't run a shape, and Memory the memory that the shape needs. New makes the plan and returns the function
// that binds it.
type Candidate[S fmt.Stringer, B any] struct {
	Program *plan.Program
	Check   func(s S, ranks int) error
	Memory  func(s S, ranks int) (plan.Memory, error)
	New     func(context.Context, *group.Group, S) (plan.Runner, func(context.Context, B) error, error)
	Sum     Sum
}

// Summing is the candidate with the known figures of its sum.
func (c Candidate[S, B]) Summing(x Sum) Candidate[S, B] {
	c.Sum = x
	return c
}

// Own is the candidate that has the shape and buffers which all candidates take.
func Own[S plan.Sized, B any, P plan.Runner](prog *plan.Program, make func(context.Context, *group.Group, S) (P, error),
	bind func(P, context.Context, B) error) Candidate[S, B] {
	return Other(prog, make, bind, func(s S) S { return s }, func(x B) B { return x })
}

// Other is a candidate whose shape and buffers have the same fields as the first candidate's, but other type names:
// shape and buffers convert them.
func Other[S fmt.Stringer, B any, P plan.Runner, T plan.Sized, C any](prog *plan.Program,
	make func(context.Context, *group.Group, T) (P, error), bind func(P, context.Context, C) error,
	shape func(S) T, buffers func(B) C) Candidate[S, B] {
	return Candidate[S, B]{
		Program: prog,
		Check:   func(s S, ranks int) error { return shape(s).Check(ranks) },
		Memory:  func(s S, ranks int) (plan.Memory, error) { return shape(s).Memory(ranks) },
		New: func(ctx context.Context, g *group.Group, s S) (plan.Runner, func(context.Context, B) error, error) {
			p, err := make(ctx, g, shape(s))
			return p, func(ctx context.Context, x B) error { return bind(p, ctx, buffers(x)) }, err
		},
	}
}

// Tuned is an operation run by the schedule that a Table has chosen.
type Tuned[S fmt.Stringer, B any] struct {
	plan.Runner
	bind   func(context.Context, B) error
	choice Choice
}

// Tune makes a plan of an operation, which has the name of its first candidate. It takes the fastest candidate in t at
// s, or else the fastest at the nearest shape where that candidate serves s, by the same kernel where it makes products
// of few rows, or else such a one of an operation that asks less of the caller and is a candidate by its name, or else
// the first candidate that serves s. In the last case rings come before other candidates where NVLink joins only
// neighbours; where NVLink or PCIe joins every pair, sums for all ranks come in the order of their estimated times
// (Sum.Microseconds); and candidates by NCCL come last, where the group may fall back. Fewer than three ranks never sum
// in two shots. A nil t stands for ovgen's measurements on H100s and H200s.
// A candidate serves if it takes the shape and the ranks, the device runs its kernels, the group's links carry it, and
// the arena has room for it. Choice returns the candidate that runs and the reason. Tune is collective, as each
// candidate's New is: ranks that choose differently all get a *DisagreementError, and where no candidate serves all
// ranks get a *NoChoiceError.
func Tune[S fmt.Stringer, B any](ctx context.Context, g *group.Group, t *Table, s S,
	candidates []Candidate[S, B]) (*Tuned[S, B], error) {
	operation := candidates[0].Program.Name
	key := Measured{Operation: operation, GPU: g.Driver().Properties().Name, Ranks: g.Size(), Shape: s.String()}
	options := make([]option, len(candidates))
	for i, c := range candidates {
		options[i] = option{Program: c.Program, serves: func() error { return c.serves(g, s) },
			nccl: func() bool { return !c.reaches(g, s) }, sum: c.Sum, bytes: c.summed(g, s)}
	}
	if t == nil {
		own, err := ownTuning()
		if err != nil {
			return nil, plan.Refuse(ctx, g, &plan.Program{Name: operation}, fmt.Errorf("read h200.json: %w", err))
		}
		t = own.among(options)
	}
	i, choice, err := choose(t, key, options, prefers{rings: g.Fabric().RingsFirst(), nccl: g.FallsBack(),
		links: g.Fabric().Kind()})
	if err != nil {
		return nil, plan.Refuse(ctx, g, &plan.Program{Name: operation}, err)
	}
	p := &Tuned[S, B]{choice: choice}
	if p.Runner, p.bind, err = candidates[i].New(ctx, g, s); err != nil {
		return nil, fmt.Errorf("%w (chosen: %s)", err, p.choice)
	}
	p.Base().SetChosen(choice.String())
	if choice.Tiles == "" {
		return p, nil
	}
	if err := p.Base().UseTiles(choice.Tiles); err != nil {
		return nil, errors.Join(err, p.Close(ctx))
	}
	return p, nil
}

// serves returns the reason why the group can't run a shape by the candidate, or nil: its devices, its links, or an
// arena that has no room for the plan. A plan that uses no peer's memory may have its staging outside of the arena.
func (c *Candidate[S, B]) serves(g *group.Group, s S) error {
	if err := c.Check(s, g.Size()); err != nil {
		return err
	}
	need, err := c.Memory(s, g.Size())
	if err != nil {
		return err
	}
	reaches := need.Reaches()
	if err := plan.Suits(g, c.Program, reaches); err != nil || !reaches && g.FallsBack() {
		return err
	}
	if err = g.Arena().Room(need.Staging, need.Packets, need.Words); err != nil && !reaches {
		return fmt.Errorf("%w; with Config.FallBack it takes memory of its own", err)
	}
	return err
}

// summed is the bytes of the tensor that the candidate sums.
func (c *Candidate[S, B]) summed(g *group.Group, s S) int64 {
	need, err := c.Memory(s, g.Size())
	if i := slices.IndexFunc(need.Buffers, func(b plan.BufferMemory) bool { return b.Name == c.Sum.Of }); i >= 0 &&
		err == nil {
		return need.Buffers[i].Bytes
	}
	return 0
}

// reaches reports whether the candidate uses peers' memory, and thus does not run by NCCL.
func (c *Candidate[S, B]) reaches(g *group.Group, s S) bool {
	need, err := c.Memory(s, g.Size())
	return err != nil || need.Reaches()
}

// Choice returns the schedule that runs, and the reason.
func (p *Tuned[S, B]) Choice() Choice { return p.choice }

// Bind sets the memory of the runs: see the candidates' Bind.
func (p *Tuned[S, B]) Bind(ctx context.Context, x B) error { return p.bind(ctx, x) }

// Enqueue enqueues one run after the work on the stream. It replays a graph if that was measured to be faster and the
// stream is not being captured.
func (p *Tuned[S, B]) Enqueue(s driver.Stream) error {
	if p.choice.Replayed && !p.Base().Program().Eager {
		capturing, err := p.Base().Group().Driver().StreamIsCapturing(s)
		if err != nil {
			return fmt.Errorf("enqueue %s: %w", p.choice.Program, err)
		}
		if !capturing {
			return p.Replay(s)
		}
	}
	return p.Runner.Enqueue(s)
}

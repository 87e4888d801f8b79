package plan

import (
	"context"
	"errors"
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Runner is what the plans of all generated packages have in common; Bind takes
// buffers of each package's own type.
type Runner interface {
	Enqueue(driver.Stream) error
	Replay(driver.Stream) error
	Run(context.Context) error
	Close(context.Context) error
	Base() *Plan
}

// Candidate is one schedule of an operation whose shape is an S and whose buffers
// are a B. Check says what keeps so many ranks from running a shape, and Memory what that needs; New makes the
// plan and returns how to bind it.
type Candidate[S fmt.Stringer, B any] struct {
	Program *Program
	Check   func(s S, ranks int) error
	Memory  func(s S, ranks int) (Memory, error)
	New     func(context.Context, *group.Group, S) (Runner, func(context.Context, B) error, error)
}

// Sized is the Shape of a generated package.
type Sized interface {
	Shape
	Memory(ranks int) (Memory, error) // of a plan, on a rank at most
}

// Own is the candidate whose own shape and buffers all others take.
func Own[S Sized, B any, P Runner](prog *Program, make func(context.Context, *group.Group, S) (P, error),
	bind func(P, context.Context, B) error) Candidate[S, B] {
	return Other(prog, make, bind, func(s S) S { return s }, func(x B) B { return x })
}

// Other is a candidate whose shape and buffers have the fields of the first's under other type
// names: shape and buffers convert them.
func Other[S fmt.Stringer, B any, P Runner, T Sized, C any](prog *Program,
	make func(context.Context, *group.Group, T) (P, error), bind func(P, context.Context, C) error,
	shape func(S) T, buffers func(B) C) Candidate[S, B] {
	return Candidate[S, B]{
		Program: prog,
		Check:   func(s S, ranks int) error { return shape(s).Check(ranks) },
		Memory:  func(s S, ranks int) (Memory, error) { return shape(s).Memory(ranks) },
		New: func(ctx context.Context, g *group.Group, s S) (Runner, func(context.Context, B) error, error) {
			p, err := make(ctx, g, shape(s))
			return p, func(ctx context.Context, x B) error { return bind(p, ctx, buffers(x)) }, err
		},
	}
}

// Tuned is an operation run by the schedule that a Tuning has chosen.
type Tuned[S fmt.Stringer, B any] struct {
	Runner
	bind   func(context.Context, B) error
	choice Choice
}

// Tune makes a plan of an operation, which is named by the first candidate. It takes the candidate that t has measured
// as the fastest at s, or else at the nearest shape whose fastest candidate serves s, or else the first candidate that
// serves s: rings before others where NVLink joins neighbours alone, and those by NCCL, which come last, where the
// group may fall back. A nil t is what ovgen's authors measured on two H200s. A candidate serves where it takes the
// shape and the ranks, the device runs its kernels, the group's links carry it, and the arena has room for it. Choice
// says which it is and why. It is collective, as each candidate's New is: ranks that choose differently all get a
// *DisagreementError, and where no candidate serves all get a *NoChoiceError.
func Tune[S fmt.Stringer, B any](ctx context.Context, g *group.Group, t *Tuning, s S,
	candidates []Candidate[S, B]) (*Tuned[S, B], error) {
	operation := candidates[0].Program.Name
	key := Measured{Operation: operation, GPU: g.Driver().Properties().Name, Ranks: g.Size(), Shape: s.String()}
	options := make([]option, len(candidates))
	for i, c := range candidates {
		options[i] = option{Program: c.Program, serves: func() error { return c.serves(g, s) },
			nccl: func() bool { return !c.reaches(g, s) }}
	}
	if t == nil {
		own, err := ownTuning()
		if err != nil {
			return nil, refuse(ctx, g, &Program{Name: operation}, fmt.Errorf("read h200.json: %w", err))
		}
		t = own.among(options)
	}
	i, choice, err := choose(t, key, options, prefers{rings: g.Fabric().RingsFirst(), nccl: g.FallsBack()})
	if err != nil {
		return nil, refuse(ctx, g, &Program{Name: operation}, err)
	}
	p := &Tuned[S, B]{choice: choice}
	if p.Runner, p.bind, err = candidates[i].New(ctx, g, s); err != nil {
		return nil, fmt.Errorf("%w (chosen: %s)", err, p.choice)
	}
	p.Base().chosen = choice.String()
	if choice.Tiles == "" {
		return p, nil
	}
	if err := p.Base().UseTiles(choice.Tiles); err != nil {
		return nil, errors.Join(err, p.Close(ctx))
	}
	return p, nil
}

// serves says what keeps the group from running a shape by the candidate.
func (c *Candidate[S, B]) serves(g *group.Group, s S) error {
	if err := c.Check(s, g.Size()); err != nil {
		return err
	}
	need, err := c.Memory(s, g.Size())
	if err != nil {
		return err
	}
	return fits(g, c.Program, need)
}

// reaches says that the candidate uses peers' memory, and so is none by NCCL.
func (c *Candidate[S, B]) reaches(g *group.Group, s S) bool {
	need, err := c.Memory(s, g.Size())
	return err != nil || need.reaches()
}

// Choice is which schedule runs, and why.
func (p *Tuned[S, B]) Choice() Choice { return p.choice }

// Bind sets the memory that runs work on: see the candidates' Bind.
func (p *Tuned[S, B]) Bind(ctx context.Context, x B) error { return p.bind(ctx, x) }

// Enqueue enqueues one run after the work on the stream, by a replay where that was
// measured to be faster and the stream is not being captured.
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

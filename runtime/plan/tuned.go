package plan

import (
	"context"
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
// are a B. New makes its plan and returns how to bind it.
type Candidate[S fmt.Stringer, B any] struct {
	Program string
	New     func(context.Context, *group.Group, S) (Runner, func(context.Context, B) error, error)
}

// Tuned is an operation run by the schedule that a Tuning has chosen.
type Tuned[S fmt.Stringer, B any] struct {
	Runner
	bind   func(context.Context, B) error
	choice Choice
}

// Tune makes a plan of an operation by the candidate that t chooses; the operation is
// named by the first. It is collective, as each candidate's New is: ranks that choose
// differently all get a *DisagreementError.
func Tune[S fmt.Stringer, B any](ctx context.Context, g *group.Group, t *Tuning, s S, candidates []Candidate[S, B]) (*Tuned[S, B], error) {
	operation := candidates[0].Program
	p := &Tuned[S, B]{choice: t.Choose(g, operation, s.String())}
	var known []string
	for _, c := range candidates {
		known = append(known, c.Program)
		if c.Program != p.choice.Program {
			continue
		}
		var err error
		if p.Runner, p.bind, err = c.New(ctx, g, s); err != nil {
			return nil, fmt.Errorf("%w (chosen: %s)", err, p.choice)
		}
		return p, nil
	}
	return nil, Refuse(ctx, g, &Program{Name: operation}, &UnknownChoiceError{operation, p.choice.Program, known})
}

// Choice is which schedule runs, and why.
func (p *Tuned[S, B]) Choice() Choice { return p.choice }

// Bind sets the memory that runs work on: see the candidates' Bind.
func (p *Tuned[S, B]) Bind(ctx context.Context, x B) error { return p.bind(ctx, x) }

// Enqueue enqueues one run behind what the stream holds, by a replay where that was
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

package plan

import (
	"context"
	"fmt"
	"slices"

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
// are a B. Check says what keeps so many ranks from running a shape; New makes the
// plan and returns how to bind it.
type Candidate[S fmt.Stringer, B any] struct {
	Program string
	Check   func(s S, ranks int) error
	New     func(context.Context, *group.Group, S) (Runner, func(context.Context, B) error, error)
}

// Own is the candidate whose own shape and buffers all others take.
func Own[S Shape, B any, P Runner](prog *Program, make func(context.Context, *group.Group, S) (P, error),
	bind func(P, context.Context, B) error) Candidate[S, B] {
	return Other(prog, make, bind, func(s S) S { return s }, func(x B) B { return x })
}

// Other is a candidate whose shape and buffers have the fields of the first's under other type
// names: shape and buffers convert them.
func Other[S fmt.Stringer, B any, P Runner, T Shape, C any](prog *Program,
	make func(context.Context, *group.Group, T) (P, error), bind func(P, context.Context, C) error,
	shape func(S) T, buffers func(B) C) Candidate[S, B] {
	return Candidate[S, B]{
		Program: prog.Name,
		Check:   func(s S, ranks int) error { return shape(s).Check(ranks) },
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

// Tune makes a plan of an operation, which is named by the first candidate. It takes the
// candidate that t has measured as the fastest at s, or else at the nearest shape whose
// fastest candidate accepts s, or else the first candidate that accepts s. Choice says
// which and why. It is collective, as each candidate's New is: ranks that choose
// differently all get a *DisagreementError, and where no candidate takes the shape all get
// a *NoChoiceError.
func Tune[S fmt.Stringer, B any](ctx context.Context, g *group.Group, t *Tuning, s S,
	candidates []Candidate[S, B]) (*Tuned[S, B], error) {
	operation := candidates[0].Program
	key := Measured{Operation: operation, GPU: g.Driver().Properties().Name, Ranks: g.Size(), Shape: s.String()}
	c, choice, err := choose(t, key, s, candidates)
	if err != nil {
		return nil, refuse(ctx, g, &Program{Name: operation}, err)
	}
	p := &Tuned[S, B]{choice: choice}
	if p.Runner, p.bind, err = c.New(ctx, g, s); err != nil {
		return nil, fmt.Errorf("%w (chosen: %s)", err, p.choice)
	}
	p.Base().chosen = choice.String()
	return p, nil
}

// choose finds the candidate for a shape; key lacks only the program.
func choose[S fmt.Stringer, B any](t *Tuning, key Measured, s S,
	candidates []Candidate[S, B]) (c Candidate[S, B], choice Choice, err error) {
	refused := map[string]error{}
	for _, c := range candidates {
		refused[c.Program] = c.Check(s, key.Ranks)
	}
	named := func(program string) int {
		return slices.IndexFunc(candidates, func(c Candidate[S, B]) bool { return c.Program == program })
	}
	for _, m := range t.nearest(key) {
		i := named(m.Program)
		if i < 0 && m.same(key) {
			var known []string
			for _, c := range candidates {
				known = append(known, c.Program)
			}
			return c, choice, &UnknownChoiceError{key.Operation, m.Program, known}
		}
		if i >= 0 && refused[m.Program] == nil {
			return candidates[i], Choice{m.Program, m.Replayed, m.why(key)}, nil
		}
	}
	for _, c := range candidates {
		if refused[c.Program] == nil {
			why := unmeasured(key, candidates[0].Program, refused[candidates[0].Program])
			return c, Choice{c.Program, true, why}, nil
		}
	}
	none := &NoChoiceError{Operation: key.Operation, Shape: key.Shape, Ranks: key.Ranks}
	for _, c := range candidates {
		none.Refused = append(none.Refused, fmt.Errorf("%s: %w", c.Program, refused[c.Program]))
	}
	return c, choice, none
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

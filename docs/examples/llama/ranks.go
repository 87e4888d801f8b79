package main

import (
	"context"
	"errors"
	"log"
	"net/rpc"
	"time"

	"ovgen/runtime/group"
	"ovgen/runtime/launch"
)

// Crew is all ranks of the decoder.
type Crew struct {
	Model
	Ranks []Stepper
	Done  <-chan struct{}                 // closed when a rank has died
	Close func(ctx context.Context) error // ends the ranks, also after ctx has ended; it is bounded
}

// Stepper is a rank of this process or of another one, with the methods of Rank.
type Stepper interface {
	Launch(rows Batch, _ *bool) error
	Wait(_ bool, best *[]Best) error
}

// Launch begins a step on all ranks, while the one before runs, at most. It returns before the step has ended, and is
// bounded. Behind an error the crew can only be closed.
func (c *Crew) Launch(rows Batch) error {
	return c.each(func(r int) error { return c.Ranks[r].Launch(rows, nil) })
}

// Wait ends the first step that was launched and not waited for, and returns the next tokens of its rows, which all
// ranks know. It is bounded as Launch is.
func (c *Crew) Wait() ([]Best, error) {
	all := make([][]Best, len(c.Ranks))
	err := c.each(func(r int) error { return c.Ranks[r].Wait(true, &all[r]) })
	return all[0], err
}

// each is each, of all ranks and as long as a step takes at most.
func (c *Crew) each(f func(rank int) error) error {
	most, grace := c.bounds()
	ctx, done := context.WithTimeout(context.Background(), most+grace)
	defer done()
	return each(ctx, len(c.Ranks), grace, f)
}

// within bounds f by a time alone: it goes on when the caller's ctx ends.
func within(most time.Duration, f func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), most)
		defer done()
		return f(ctx)
	}
}

// errSilent is the error of a rank that is stopped or stuck.
var errSilent = errors.New("stopped or stuck: no answer in time")

// each runs f as every rank at once, and returns when all calls have returned. When ctx ends, or the grace has passed
// since a rank failed, it gives up the ranks that have not returned.
func each(ctx context.Context, ranks int, grace time.Duration, f func(rank int) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return group.Each(ranks, func(r int) error {
		ended := make(chan error, 1)
		go func() { ended <- f(r) }()
		select {
		case err := <-ended:
			if err != nil {
				time.AfterFunc(grace, stop)
			}
			return err
		case <-ctx.Done():
			return errSilent
		}
	})
}

// decorated returns a group's Config as it is. Tests replace it.
var decorated = func(c group.Config) group.Config { return c }

// group is the Config of a group of that many ranks. With 0 the launcher's variables give the number.
func (m Model) group(ranks int) group.Config {
	return decorated(group.Config{Size: ranks, Arena: m.Needs.Arena(), RunTimeout: m.Timeout})
}

// Start joins the ranks and loads the model.
func (s Spec) Start(ctx context.Context) (*Crew, error) {
	m, err := s.Open()
	if err != nil {
		return nil, err
	}
	log.Printf("each of %d ranks needs, in bytes, %v", s.Ranks, m.Needs)
	if s.Processes {
		return m.startProcesses(ctx)
	}
	groups, err := group.JoinAll(ctx, m.group(s.Ranks))
	if err != nil {
		return nil, err
	}
	crew := &Crew{Model: m, Ranks: make([]Stepper, s.Ranks), Done: groups[0].Done()}
	const most = 2 * group.DefaultTimeout // Group.Close takes at most half of it
	crew.Close = within(most, func(ctx context.Context) error {
		return each(ctx, s.Ranks, most, func(r int) error { return crew.Ranks[r].(*Rank).Close(ctx) })
	})
	if err := groups.Each(func(g *group.Group) (err error) {
		crew.Ranks[g.Rank()], err = m.load(ctx, g)
		return err
	}); err != nil {
		return nil, errors.Join(err, groups.Close(ctx))
	}
	return crew, nil
}

// startProcesses starts copies of this program, which call RankProcess, and has each load a rank.
func (m Model) startProcesses(ctx context.Context) (*Crew, error) {
	_, grace := m.bounds()
	job, err := (&launch.Command{Ranks: m.Ranks, Grace: grace}).Start()
	if err != nil {
		return nil, err
	}
	crew := &Crew{Model: m, Done: job.Done, Close: within(grace, job.Close)}
	for _, client := range job.Ranks {
		crew.Ranks = append(crew.Ranks, process{client})
	}
	if err := each(ctx, m.Ranks, grace, func(r int) error {
		return job.Ranks[r].Call("Rank.Join", m.Spec, nil)
	}); err != nil {
		return nil, errors.Join(err, crew.Close(ctx))
	}
	return crew, nil
}

// process is a rank of another process.
type process struct{ *rpc.Client }

// Launch and Wait call the other process.
func (p process) Launch(rows Batch, _ *bool) error { return p.Call("Rank.Launch", rows, nil) }
func (p process) Wait(_ bool, best *[]Best) error  { return p.Call("Rank.Wait", true, best) }

// Remote is a rank with the methods that the server's process calls.
type Remote struct {
	ctx context.Context
	*Rank
}

// RankProcess serves the server's calls in a process that startProcesses has started, and returns when they end. In any
// other process it returns at once, and mine is false.
func RankProcess(ctx context.Context) (mine bool, err error) {
	r := &Remote{ctx: ctx}
	if mine, err = launch.Serve(r); r.Rank != nil {
		err = errors.Join(err, r.Close(context.WithoutCancel(ctx)))
	}
	return mine, err
}

// Join joins the other processes' ranks and loads the model. Its reply is empty.
func (r *Remote) Join(s Spec, _ *bool) error {
	m, err := s.Open()
	if err != nil {
		return err
	}
	g, err := group.Join(r.ctx, m.group(0))
	if err != nil {
		return err
	}
	if r.Rank, err = m.load(r.ctx, g); err != nil {
		r.Rank = nil
		return errors.Join(err, g.Close(r.ctx))
	}
	return nil
}

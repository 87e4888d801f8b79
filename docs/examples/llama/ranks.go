package main

import (
	"context"
	"errors"
	"log"
	"net/rpc"

	"ovgen/runtime/group"
	"ovgen/runtime/launch"
)

// Crew is all ranks of the decoder.
type Crew struct {
	Model
	Ranks []Stepper
	Done  <-chan struct{} // closed when a rank has died
	Close func(ctx context.Context) error
}

// Stepper is a rank of this process or of another one.
type Stepper interface {
	Step(rows Batch, best *[]Best) error
}

// Step runs rows on all ranks and returns their next tokens: of equal logits the lowest. Behind an error the crew can
// only be closed.
func (c *Crew) Step(rows Batch) (next []Best, err error) {
	all := make([][]Best, len(c.Ranks))
	if err := group.Each(len(c.Ranks), func(r int) error { return c.Ranks[r].Step(rows, &all[r]) }); err != nil {
		return nil, err
	}
	for row, best := range all[0] {
		for _, other := range all[1:] {
			if x := other[row]; x.Logit > best.Logit || x.Logit == best.Logit && x.Token < best.Token {
				best = x
			}
		}
		next = append(next, best)
	}
	return next, nil
}

// decorated is a group's Config, which tests change.
var decorated = func(c group.Config) group.Config { return c }

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
	groups, err := group.JoinAll(ctx, decorated(group.Config{Size: s.Ranks, Arena: m.Needs.Arena()}))
	if err != nil {
		return nil, err
	}
	crew := &Crew{Model: m, Ranks: make([]Stepper, s.Ranks), Done: groups[0].Done()}
	crew.Close = func(ctx context.Context) error {
		return group.Each(s.Ranks, func(r int) error { return crew.Ranks[r].(*Rank).Close(ctx) })
	}
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
	job, err := (&launch.Command{Ranks: m.Ranks}).Start()
	if err != nil {
		return nil, err
	}
	crew := &Crew{Model: m, Done: job.Done, Close: func(context.Context) error { return job.Close() }}
	for _, client := range job.Ranks {
		crew.Ranks = append(crew.Ranks, process{client})
	}
	if err := group.Each(m.Ranks, func(r int) error {
		return job.Ranks[r].Call("Rank.Join", m.Spec, nil)
	}); err != nil {
		return nil, errors.Join(err, crew.Close(ctx))
	}
	return crew, nil
}

// process is a rank of another process.
type process struct{ *rpc.Client }

// Step is Rank.Step over there.
func (p process) Step(rows Batch, best *[]Best) error { return p.Call("Rank.Step", rows, best) }

// Remote is the rank of a process as the one that started it calls it.
type Remote struct {
	ctx context.Context
	*Rank
}

// RankProcess is the whole of a process that startProcesses has started; others return at once.
func RankProcess(ctx context.Context) (mine bool, err error) {
	r := &Remote{ctx: ctx}
	if mine, err = launch.Serve(r); r.Rank != nil {
		err = errors.Join(err, r.Close(context.WithoutCancel(ctx)))
	}
	return mine, err
}

// Join joins the other processes' ranks and loads the model. It has nothing to reply.
func (r *Remote) Join(s Spec, _ *bool) error {
	m, err := s.Open()
	if err != nil {
		return err
	}
	g, err := group.Join(r.ctx, decorated(group.Config{Arena: m.Needs.Arena()}))
	if err != nil {
		return err
	}
	if r.Rank, err = m.load(r.ctx, g); err != nil {
		r.Rank = nil
		return errors.Join(err, g.Close(r.ctx))
	}
	return nil
}

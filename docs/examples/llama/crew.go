package main

import (
	"context"
	"errors"
	"fmt"

	"ovgen/runtime/group"
)

// Crew is all ranks of the decoder.
type Crew struct {
	Ranks []Stepper
	Done  <-chan struct{} // closed when a rank has died
	Close func(ctx context.Context) error
}

// Stepper is a rank of this process or of another one.
type Stepper interface {
	Step(ctx context.Context, rows Batch) ([]Best, error)
}

// Step runs rows on all ranks and returns their next tokens: of equal logits the lowest. Behind an error the crew can
// only be closed.
func (c *Crew) Step(ctx context.Context, rows Batch) (next []int32, err error) {
	all := make([][]Best, len(c.Ranks))
	if err := group.Each(len(c.Ranks), func(r int) (err error) {
		all[r], err = c.Ranks[r].Step(ctx, rows)
		return err
	}); err != nil {
		return nil, err
	}
	for row, best := range all[0] {
		for _, other := range all[1:] {
			if x := other[row]; x.Logit > best.Logit || x.Logit == best.Logit && x.Token < best.Token {
				best = x
			}
		}
		next = append(next, best.Token)
	}
	return next, nil
}

// Spec is which model is decoded on how many ranks.
type Spec struct {
	Model string // the folder of its checkpoint
	Ranks int
	Options
}

// open reads the checkpoint's config and headers, and what each rank needs.
func (s Spec) open() (c Config, t *Tensors, needs Needs, err error) {
	if c, err = ReadConfig(s.Model); err != nil {
		return c, nil, needs, err
	}
	switch {
	case s.Sequences < 1 || s.Room < 2:
		err = fmt.Errorf("%d sequences with room for %d tokens: at least 1 with room for 2 is needed", s.Sequences,
			s.Room)
	case s.Room > c.Positions:
		err = fmt.Errorf("max_position_embeddings is %d, and a sequence has room for %d", c.Positions, s.Room)
	default:
		needs, err = s.Needs(c)
	}
	if err == nil {
		t, err = OpenTensors(s.Model)
	}
	return c, t, needs, err
}

// StartGoroutines joins ranks of this process and loads the model. Of the group's Config it sets Size and Arena.
func StartGoroutines(ctx context.Context, s Spec, g group.Config) (*Crew, error) {
	c, t, needs, err := s.open()
	if err != nil {
		return nil, err
	}
	defer t.Close()
	g.Size, g.Arena = s.Ranks, needs.Arena
	groups, err := group.JoinAll(ctx, g)
	if err != nil {
		return nil, err
	}
	ranks, crew := make([]*Rank, s.Ranks), &Crew{Ranks: make([]Stepper, s.Ranks), Done: groups[0].Done()}
	err = groups.Each(func(g *group.Group) (err error) {
		ranks[g.Rank()], err = NewRank(ctx, g, c, t, s.Options)
		crew.Ranks[g.Rank()] = ranks[g.Rank()]
		return err
	})
	if err != nil {
		return nil, errors.Join(err, groups.Close(ctx))
	}
	crew.Close = func(ctx context.Context) error {
		return group.Each(len(ranks), func(r int) error { return ranks[r].Close(ctx) })
	}
	return crew, nil
}

package main

import (
	"context"
	"errors"
	"fmt"

	"ovgen/runtime/group"
)

// Crew is all ranks of the decoder.
type Crew interface {
	// Step runs rows on all ranks and returns their next tokens. Behind an error the crew can only be
	// closed.
	Step(ctx context.Context, rows Batch) ([]int32, error)
	// Done is closed when a rank has died.
	Done() <-chan struct{}
	Close(ctx context.Context) error
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

// likeliest runs a step on all ranks. Of equal logits the lowest token wins.
func likeliest(ranks int, step func(rank int) ([]Best, error)) (next []int32, err error) {
	all := make([][]Best, ranks)
	if err := group.Each(ranks, func(r int) (err error) { all[r], err = step(r); return err }); err != nil {
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

// Goroutines are ranks of this process.
type Goroutines []*Rank

// StartGoroutines joins ranks of this process and loads the model. Of the group's Config it sets Size and Arena.
func StartGoroutines(ctx context.Context, s Spec, g group.Config) (Goroutines, error) {
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
	crew := make(Goroutines, len(groups))
	err = groups.Each(func(g *group.Group) (err error) {
		crew[g.Rank()], err = NewRank(ctx, g, c, t, s.Options)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, groups.Close(ctx))
	}
	return crew, nil
}

// Step runs the rows on all ranks.
func (all Goroutines) Step(ctx context.Context, rows Batch) ([]int32, error) {
	return likeliest(len(all), func(r int) ([]Best, error) { return all[r].Step(ctx, rows) })
}

// Done is closed when the group has been aborted.
func (all Goroutines) Done() <-chan struct{} { return all[0].group.Done() }

// Close closes all ranks.
func (all Goroutines) Close(ctx context.Context) error {
	return group.Each(len(all), func(r int) error { return all[r].Close(ctx) })
}

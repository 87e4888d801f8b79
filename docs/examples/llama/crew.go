package main

import (
	"context"
	"errors"

	"ovgen/runtime/group"
)

// Crew is all ranks of the decoder.
type Crew interface {
	// Step runs rows on all ranks and returns their next tokens (Rank.Step).
	Step(ctx context.Context, rows Batch) ([]int32, error)
	Close(ctx context.Context) error
}

// Goroutines are ranks of this process.
type Goroutines []*Rank

// Start joins ranks of this process and loads a checkpoint.
func Start(ctx context.Context, dir string, o Options, g group.Config) (Goroutines, error) {
	c, err := ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	t, err := OpenTensors(dir)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if g.Arena, err = Arena(c, o, g.Size); err != nil {
		return nil, err
	}
	groups, err := group.JoinAll(ctx, g)
	if err != nil {
		return nil, err
	}
	crew := make(Goroutines, len(groups))
	err = groups.Each(func(g *group.Group) (err error) {
		crew[g.Rank()], err = NewRank(ctx, g, c, t, o)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, groups.Close(ctx))
	}
	return crew, nil
}

// Step runs the rows on all ranks.
func (all Goroutines) Step(ctx context.Context, rows Batch) ([]int32, error) {
	next := make([][]int32, len(all))
	err := group.Each(len(all), func(r int) (err error) {
		next[r], err = all[r].Step(ctx, rows)
		return err
	})
	return next[0], err
}

// Close closes all ranks.
func (all Goroutines) Close(ctx context.Context) error {
	return group.Each(len(all), func(r int) error { return all[r].Close(ctx) })
}

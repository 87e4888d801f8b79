package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/allgatherlinearput"
	"ovgen/runtime/group"
)

// fiftyPlans share one arena and one set of streams, and their runs one sequence.
func fiftyPlans(e *env) error {
	return e.with("", func(g *group.Group, l *layer) (err error) {
		var all []*layer
		defer func() {
			for _, x := range all {
				err = errors.Join(err, x.free(e))
			}
		}()
		for i := range 50 {
			s := e.of.shape(g.Size())
			s.M, s.N = s.M*(1+i%3), 8*(1+i%4)
			x, err := newLayer(e, e.of, g, s)
			if err != nil {
				return fmt.Errorf("plan %d: %w", i, err)
			}
			all = append(all, x)
		}
		if c := g.Imports().Counters(); c.Opens > 52*(g.Size()-1) {
			return fmt.Errorf("%d handles were opened: the arena was not shared", c.Opens)
		}
		for i := range all {
			k := (i * 17) % len(all)
			if err := all[k].right(e, all[k].a.Ptr(), i); err != nil {
				return fmt.Errorf("plan %d: %w", k, err)
			}
		}
		return l.right(e, l.a.Ptr(), 1)
	})
}

// sideBySide runs two groups of two in a world of four, and then the world.
func sideBySide(e *env) error {
	half := []int{0, 1}
	if e.rank > 1 {
		half = []int{2, 3}
	}
	g, err := e.joinSome(fmt.Sprint("half", half[0]), half)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close(e)) }()
	world, err := e.join("world")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close(e)) }()
	small, err := newLayer(e, e.of, g, e.of.shape(2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, small.free(e)) }()
	big, err := newLayer(e, e.of, world, e.of.shape(4))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, big.free(e)) }()
	for i := range 4 + 4*(e.rank/2) { // one half runs more than the other
		if err := small.right(e, small.a.Ptr(), i); err != nil {
			return fmt.Errorf("half: %w", err)
		}
	}
	for i := range 3 {
		if err := errors.Join(small.right(e, small.a.Ptr(), i), big.right(e, big.a.Ptr(), i)); err != nil {
			return fmt.Errorf("half and world: %w", err)
		}
	}
	return err
}

// disagree makes plans that the ranks don't agree about; the group lives on.
func disagree(e *env) error {
	return e.with("", func(g *group.Group, l *layer) error {
		s := shape(g.Size())
		if e.rank == 0 {
			s.N += 8
		}
		ctx, cancel := context.WithTimeout(e, timeout)
		defer cancel()
		if p, err := allgatherlinear.New(ctx, g, s); err == nil {
			return errors.Join(errors.New("two shapes made a plan"), p.Close(e))
		}
		s = shape(g.Size())
		if e.rank == 0 {
			s.M++ // not a multiple of the ranks: rank 0 alone can see that
		}
		_, err := allgatherlinear.New(ctx, g, s)
		if err == nil || !strings.Contains(err.Error(), "must be a multiple of the ranks") {
			return fmt.Errorf("a shape that rank 0 refuses gave %v", err)
		}
		const advice = "run the same binary on all ranks"
		if err := otherProgram(ctx, e, g); err == nil || !strings.Contains(err.Error(), advice) {
			return fmt.Errorf("two programs gave %v", err)
		}
		return l.right(e, l.a.Ptr(), 1)
	})
}

// otherProgram makes a plan of another package on rank 0 than on the others, whose hashes differ.
func otherProgram(ctx context.Context, e *env, g *group.Group) error {
	s := shape(g.Size())
	if e.rank > 0 {
		_, err := allgatherlinear.New(ctx, g, s)
		return err
	}
	_, err := allgatherlinearput.New(ctx, g, allgatherlinearput.Shape(s))
	return err
}

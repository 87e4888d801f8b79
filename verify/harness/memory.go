//go:build !nosim

package harness

import (
	"context"
	"fmt"
	"sync/atomic"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// meter is a driver that counts the bytes that were allocated.
type meter struct {
	driver.Driver
	allocated atomic.Int64
}

func (m *meter) MemAlloc(bytes int64) (driver.Ptr, error) {
	m.allocated.Add(bytes)
	return m.Driver.MemAlloc(bytes)
}

// measured is a plan that knows what memory its Shape said it would need.
type measured interface {
	Memory() (plan.Memory, error)
	Base() *plan.Plan
}

// metered is the program with a New that holds what it takes, as the first of a group,
// against what Shape.Memory says.
func (m *meter) metered(p *Program) *Program {
	q := *p
	q.New = func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
		word, err := nextWord(g)
		if err != nil {
			return nil, err
		}
		m.allocated.Store(0)
		made, err := p.New(ctx, g, s)
		if err != nil {
			return nil, err
		}
		bytes := m.allocated.Load()
		if x, ok := made.(measured); ok {
			err = p.holds(x, g, s, bytes, word)
		}
		return made, err
	}
	return &q
}

// nextWord is where the arena's first free word lies.
func nextWord(g *group.Group) (offset int64, err error) {
	if offset, err = g.Arena().Words(1); err == nil {
		g.Arena().FreeWords(offset)
	}
	return offset, err
}

// holds compares what a plan took with what it was said to need.
func (p *Program) holds(x measured, g *group.Group, s Shape, bytes, word int64) error {
	need, err := x.Memory()
	if err != nil {
		return err
	}
	after, err := nextWord(g)
	if err != nil {
		return err
	}
	start, err := g.Arena().Stage(0)
	if err != nil {
		return err
	}
	first := g.Arena().Base(g.Rank()) + driver.Ptr(start[0])
	end := first
	for _, r := range x.Base().Layout() {
		if r.Rank == g.Rank() && r.Base >= first && r.Base < first+driver.Ptr(g.Arena().Bytes()-start[0]) {
			end = max(end, r.Base+driver.Ptr(group.StagingBytes(r.Bytes)))
		}
	}
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"bytes of workspaces", bytes, need.Workspace()},
		{"semaphore words", (after - word) / 4, need.Words},
		{"bytes of staging", int64(end - first), need.Staging},
	} {
		if c.got != c.want && !(p.uneven() && c.got < c.want) { // Bind's counts are not known yet
			return fmt.Errorf("New took %d %s, and Shape.Memory said %d", c.got, c.what, c.want)
		}
	}
	return p.holdsBuffers(need, g, s)
}

// holdsBuffers compares the caller's buffers with what the placements give a rank.
func (p *Program) holdsBuffers(need plan.Memory, g *group.Group, s Shape) error {
	x, err := p.problem(s, g.Size())
	if err != nil {
		return err
	}
	for _, b := range need.Buffers {
		part, err := x.Part(b.Name, 0)
		if err != nil {
			return err
		}
		if want := int64(part.Count) * s.Type.Size(); b.Bytes != want && !(p.uneven() && b.Bytes > want) {
			return fmt.Errorf("Shape.Memory gives %s %d bytes, and its placement %d", b.Name, b.Bytes, want)
		}
	}
	return nil
}

package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// Meter is a driver that counts the bytes that are allocated and not yet freed.
type Meter struct {
	driver.Decorator
	allocated atomic.Int64
	sizes     sync.Map // by address
}

// NewMeter makes a meter over a driver.
func NewMeter(d driver.Driver) *Meter { return &Meter{Decorator: driver.Decorator{Driver: d}} }

// MemAlloc counts the allocated bytes.
func (m *Meter) MemAlloc(bytes int64) (driver.Ptr, error) {
	p, err := m.Driver.MemAlloc(bytes)
	if err == nil {
		m.allocated.Add(bytes)
		m.sizes.Store(p, bytes)
	}
	return p, err
}

// MemFree stops counting the freed bytes.
func (m *Meter) MemFree(p driver.Ptr) error {
	if bytes, ok := m.sizes.LoadAndDelete(p); ok {
		m.allocated.Add(-bytes.(int64))
	}
	return m.Driver.MemFree(p)
}

// measured is a plan with the memory that its Shape predicted.
type measured interface {
	Memory() (plan.Memory, error)
	Base() *plan.Plan
}

// took is the memory that a plan's New took on one rank.
type took struct{ Workspaces, Words, Packets, Staging int64 }

// Metered is the program with a New that compares the memory of the first plan of a group with Shape.Memory.
func (m *Meter) Metered(p *Program) *Program {
	q := *p
	q.New = func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
		word, err := nextWord(g)
		if err != nil {
			return nil, err
		}
		m.allocated.Store(0)
		made, err := p.New(ctx, g, s)
		x, ok := made.(measured)
		if err != nil || !ok {
			return made, err
		}
		mine := took{Workspaces: m.allocated.Load()}
		after, err := nextWord(g)
		if err != nil {
			return nil, err
		}
		mine.Words = (after - word) / 4
		for _, r := range x.Base().Layout() {
			if r.Flags != "" && r.Rank == g.Rank() {
				mine.Packets += r.Bytes
			}
		}
		if mine.Staging, err = staging(g, x.Base()); err != nil {
			return nil, err
		}
		most, err := largest(ctx, g, mine)
		if err != nil {
			return nil, err
		}
		return made, p.holds(x, g, s, most)
	}
	return &q
}

// nextWord is the offset of the arena's first free word.
func nextWord(g *group.Group) (offset int64, err error) {
	if offset, err = g.Arena().Words(1); err == nil {
		g.Arena().FreeWords(offset)
	}
	return offset, err
}

// staging is the number of bytes of the arena's staging up to the end of a plan's buffers.
func staging(g *group.Group, p *plan.Plan) (bytes int64, err error) {
	start, err := g.Arena().Stage(0)
	if err != nil {
		return 0, err
	}
	first := g.Arena().Base(g.Rank()) + driver.Ptr(start[0])
	end := first
	for _, r := range p.Layout() {
		if r.Flags == "" && r.Rank == g.Rank() && r.Base >= first &&
			r.Base < first+driver.Ptr(g.Arena().Bytes()-start[0]) {
			end = max(end, r.Base+driver.Ptr(group.StagingBytes(r.Bytes)))
		}
	}
	return int64(end - first), nil
}

// largest is, for each kind of memory, the most that a rank took.
func largest(ctx context.Context, g *group.Group, mine took) (most took, err error) {
	blob, err := json.Marshal(mine)
	if err != nil {
		return most, err
	}
	all, err := g.Gather(ctx, "compare memory", blob)
	if err != nil {
		return most, err
	}
	for _, b := range all {
		var x took
		if err := json.Unmarshal(b, &x); err != nil {
			return most, err
		}
		most = took{max(most.Workspaces, x.Workspaces), max(most.Words, x.Words), max(most.Packets, x.Packets),
			max(most.Staging, x.Staging)}
	}
	return most, nil
}

// holds compares the memory that a plan took with the prediction.
func (p *Program) holds(x measured, g *group.Group, s Shape, most took) error {
	need, err := x.Memory()
	if err != nil {
		return err
	}
	want := took{need.Workspace(), need.Words, need.Packets, need.Staging}
	if p.uneven() && most.Staging < want.Staging {
		most.Staging = want.Staging // the counts of a Bind will determine it
	}
	if p.Schedule.OverHosts() && g.Hosts() < g.Size() { // Memory is enough for any number of hosts
		most.Words, most.Staging = max(most.Words, want.Words), max(most.Staging, want.Staging)
		most.Workspaces = max(most.Workspaces, want.Workspaces)
	}
	if most != want {
		return fmt.Errorf("New took %+v, and Shape.Memory is %+v", most, want)
	}
	return p.holdsBuffers(need, g, s)
}

// holdsBuffers compares the sizes of the caller's buffers with the sizes of a rank's parts by the placements.
func (p *Program) holdsBuffers(need plan.Memory, g *group.Group, s Shape) error {
	x, err := p.Problem(s, g.Size())
	if err != nil {
		return err
	}
	for _, b := range need.Buffers {
		part, err := x.Part(b.Name, 0)
		if err != nil {
			return err
		}
		want := x.TypeOf(b.Name).Bytes(part.Count)
		if bits := x.Tensor(b.Name).Type.Bits(); bits > 0 { // some types of a tensor are no driver's
			want = bits * int64(part.Count) / 8
		}
		if b.Bytes != want && !(p.uneven() && b.Bytes > want) {
			return fmt.Errorf("Shape.Memory gives %s %d bytes, and its placement %d", b.Name, b.Bytes, want)
		}
	}
	return nil
}

package group

import (
	"fmt"
	"sync"

	"ovgen/runtime/driver"
)

// Stream is a stream of the group's pool. Plans that ask for the same name,
// index and priority share it, which their one sequence of runs makes safe.
type Stream struct {
	Handle   driver.Stream
	Name     string
	Index    int
	Priority driver.Priority
	// Step is the address of the stream's step word: the batch of each wait
	// ends with a write of StepValue into it.
	Step driver.Ptr

	group     *Group
	slot      int
	workspace driver.Ptr
}

// String is the stream's name as host programs print it: "copy", "work[2]".
func (s *Stream) String() string {
	if s.Index == 0 {
		return s.Name
	}
	return fmt.Sprintf("%s[%d]", s.Name, s.Index)
}

// StepValue is what a wait writes into the step word of its stream.
func StepValue(plan, step int) uint32 { return uint32(plan)<<16 | uint32(step)&0xffff }

type pool struct {
	mu      sync.Mutex
	streams []*Stream
}

// Stream returns the pooled stream of that name, index and priority, and makes
// it at first. It may synchronise the device: call it before a plan runs.
func (g *Group) Stream(name string, index int, p driver.Priority) (*Stream, error) {
	g.pool.mu.Lock()
	defer g.pool.mu.Unlock()
	for _, s := range g.pool.streams {
		if s.Name == name && s.Index == index && s.Priority == p {
			return s, nil
		}
	}
	if len(g.pool.streams) == stepWords {
		return nil, fmt.Errorf("make stream %s[%d]: the group's pool has %d streams already", name, index, stepWords)
	}
	h, err := g.drv.StreamCreateWithPriority(p)
	if err != nil {
		return nil, fmt.Errorf("make stream %s[%d]: %w", name, index, err)
	}
	slot := len(g.pool.streams)
	s := &Stream{Handle: h, Name: name, Index: index, Priority: p, group: g, slot: slot,
		Step: g.arena.Base(g.Rank()) + driver.Ptr(4*slot)}
	g.pool.streams = append(g.pool.streams, s)
	return s, nil
}

// Workspace is driver.WorkspaceBytes of device memory for the matrix products of
// this stream, allocated at first: call it before a plan runs.
func (s *Stream) Workspace() (driver.Ptr, error) {
	s.group.pool.mu.Lock()
	defer s.group.pool.mu.Unlock()
	if s.workspace == 0 {
		p, err := s.group.drv.MemAlloc(driver.WorkspaceBytes)
		if err != nil {
			return 0, fmt.Errorf("allocate the workspace of stream %s: %w", s, err)
		}
		s.workspace = p
	}
	return s.workspace, nil
}

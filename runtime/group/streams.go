package group

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"ovgen/runtime/driver"
)

// Stream is a stream of the group's pool. Plans that ask for the same name,
// index and priority share it, which their one sequence of runs makes safe.
type Stream struct {
	Handle   driver.Stream
	Name     string
	Index    int
	Priority driver.Priority
	// Step is the address of the stream's step word: the batch of each wait ends with a write of StepValue into it.
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

// StepValue is the value that a wait writes into the step word of its stream.
func StepValue(plan, step int) uint32 { return uint32(plan)<<16 | uint32(step)&0xffff }

// CountWords is the number of count words of a stream, each StepBytes after the one before it: one for blocks, and one
// for each of 64 parts of a kernel's work.
const CountWords = 1 + 64

// CountWord is the address of a stream's first count word, given the address of its step word. A kernel counts its
// blocks in the first count word, and parts of its work in the others. Between kernels they are 0, also after an abort.
func CountWord(step driver.Ptr) driver.Ptr { return step + countAt }

// pool is the group's streams. making serialises calls that may block in the driver; the abort needs mu only.
type pool struct {
	making  chan struct{}
	mu      sync.Mutex
	streams []*Stream // by slot of their step words; grows under making
}

func (p *pool) find(name string, index int, prio driver.Priority) *Stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.streams {
		if s.Name == name && s.Index == index && s.Priority == prio {
			return s
		}
	}
	return nil
}

// Stream returns the pooled stream of the given name, index and priority. The first call makes the stream and tries the
// abort's release on it. Stream may synchronise the device: call it before a plan runs.
func (g *Group) Stream(name string, index int, p driver.Priority) (*Stream, error) {
	g.pool.making <- struct{}{}
	defer func() { <-g.pool.making }()
	if s := g.pool.find(name, index, p); s != nil {
		return s, nil
	}
	s := &Stream{Name: name, Index: index, Priority: p, group: g, slot: len(g.pool.streams)}
	if s.slot == stepWords {
		return nil, fmt.Errorf("make stream %s: the group's pool has %d streams already, "+
			"which no setting raises "+
			"(let plans use fewer compute streams)", s, stepWords)
	}
	if err := g.Alive(); err != nil {
		return nil, fmt.Errorf("make stream %s: %w", s, err)
	}
	h, err := g.drv.StreamCreateWithPriority(p)
	if err != nil {
		return nil, fmt.Errorf("make stream %s: %w", s, err)
	}
	if err := g.probe(h); err != nil {
		return nil, errors.Join(fmt.Errorf("make stream %s: %w", s, err), g.drv.StreamDestroy(h))
	}
	s.Handle = h
	s.Step = g.arena.Base(g.Rank()) + driver.Ptr(4*s.slot)
	g.pool.mu.Lock()
	defer g.pool.mu.Unlock()
	g.pool.streams = append(g.pool.streams, s)
	return s, nil
}

// Workspace is driver.WorkspaceBytes of device memory for the matrix products of this stream. The first call allocates
// it: call it before a plan runs.
func (s *Stream) Workspace() (driver.Ptr, error) {
	s.group.pool.making <- struct{}{}
	defer func() { <-s.group.pool.making }()
	if s.workspace == 0 {
		p, err := s.group.drv.MemAlloc(driver.WorkspaceBytes)
		if err != nil {
			return 0, fmt.Errorf("allocate the workspace of stream %s: %w", s, err)
		}
		s.workspace = p
	}
	return s.workspace, nil
}

// close destroys the streams and frees their workspaces.
func (p *pool) close(d driver.Driver) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, s := range p.streams {
		errs = append(errs, d.StreamDestroy(s.Handle))
		if s.workspace != 0 {
			errs = append(errs, d.MemFree(s.workspace))
		}
	}
	p.streams = nil
	return driver.Fold(nil, errs...)
}

// ProbeError reports that a blocked stream could not be released, so that an abort would hang.
type ProbeError struct{ After time.Duration }

// Error states the remedy.
func (e *ProbeError) Error() string {
	return fmt.Sprintf("a write on the abort stream did not get past a blocked stream within %v: "+
		"too few hardware queues "+
		"(set CUDA_DEVICE_MAX_CONNECTIONS=32 before the process starts)", e.After)
}

const probeTimeout = 2 * time.Second

// probe blocks a stream and releases it as an abort would. The word lies in the page, so that the host can release the
// stream where the device can't.
func (g *Group) probe(s driver.Stream) error {
	word := g.page.own(sectionProbe)
	at := g.page.device + driver.Ptr(section(g.Rank(), sectionProbe))
	word.Store(0)
	if err := g.drv.StreamBatchMemOp(s,
		[]driver.MemOp{{Kind: driver.WaitEqual, Value: 1, Address: at}}); err != nil {
		return fmt.Errorf("block a stream to try the release: %w", err)
	}
	err := g.drv.MemsetD32Async(at, 1, 1, g.abort.stream)
	if err == nil && g.drain(s, probeTimeout) == nil {
		return nil
	}
	word.Store(1)
	if drained := g.drain(s, probeTimeout); drained != nil {
		return errors.Join(&ProbeError{After: probeTimeout}, err, drained)
	}
	if err != nil {
		return fmt.Errorf("release a stream: %w", err)
	}
	return &ProbeError{After: probeTimeout}
}

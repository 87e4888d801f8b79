package device

import (
	"fmt"
	"runtime"

	"ovgen/runtime/driver"
)

// Stream is a non-blocking stream.
type Stream struct {
	driver driver.Driver
	handle driver.Stream
	resource
}

// NewStream makes a stream (cuStreamCreateWithPriority).
func NewStream(d driver.Driver, p Priority) (*Stream, error) {
	h, err := d.StreamCreateWithPriority(p)
	if err != nil {
		return nil, fmt.Errorf("make stream: %w", err)
	}
	s := &Stream{driver: d, handle: h}
	track(s, &s.resource, "stream")
	return s, nil
}

// Handle is the stream as a plan's Enqueue takes it (CUstream).
func (s *Stream) Handle() driver.Stream { return s.handle }

// Synchronize waits on the host for everything enqueued.
func (s *Stream) Synchronize() error { return s.driver.StreamSynchronize(s.handle) }

// Wait makes the stream wait for what e last recorded.
func (s *Stream) Wait(e *Event) error { return s.driver.StreamWaitEvent(s.handle, e.handle, 0) }

// Copy enqueues a copy of device memory.
func (s *Stream) Copy(dst, src Ptr, bytes int64) error {
	return s.driver.MemcpyDtoDAsync(dst, src, bytes, s.handle)
}

// Close destroys the stream; work enqueued on it still completes. A second call
// does nothing.
func (s *Stream) Close() error {
	return s.close(func() error { return s.driver.StreamDestroy(s.handle) })
}

// Event marks a point of a stream.
type Event struct {
	driver driver.Driver
	handle driver.Event
	resource
}

// NewEvent makes an event; timing makes Since possible and costs a little.
func NewEvent(d driver.Driver, timing bool) (*Event, error) {
	h, err := d.EventCreate(timing)
	if err != nil {
		return nil, fmt.Errorf("make event: %w", err)
	}
	e := &Event{driver: d, handle: h}
	track(e, &e.resource, "event")
	return e, nil
}

// Handle is the CUevent.
func (e *Event) Handle() driver.Event { return e.handle }

// Record marks where s is now.
func (e *Event) Record(s *Stream) error { return e.driver.EventRecordWithFlags(e.handle, s.handle, 0) }

// Synchronize waits on the host for what was last recorded.
func (e *Event) Synchronize() error { return e.driver.EventSynchronize(e.handle) }

// Since is the time from start to e in milliseconds.
func (e *Event) Since(start *Event) (float32, error) {
	return e.driver.EventElapsedTime(start.handle, e.handle)
}

// Close destroys the event. A second call does nothing.
func (e *Event) Close() error {
	return e.close(func() error { return e.driver.EventDestroy(e.handle) })
}

// Graph is captured work, ready to launch.
type Graph struct {
	driver driver.Driver
	exec   driver.GraphExec
	resource
}

// Capture records what work enqueues on s, and on streams that it makes wait for
// s, into a graph, and instantiates and uploads it. Nothing of it runs. work runs
// on the calling goroutine, locked to its thread.
func Capture(s *Stream, work func() error) (*Graph, error) {
	exec, err := capture(s.driver, s.handle, work)
	if err != nil {
		return nil, fmt.Errorf("capture graph: %w", err)
	}
	g := &Graph{driver: s.driver, exec: exec}
	track(g, &g.resource, "graph")
	return g, nil
}

func capture(d driver.Driver, s driver.Stream, work func() error) (driver.GraphExec, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.StreamBeginCapture(s); err != nil {
		return 0, err
	}
	failed := work()
	g, err := d.StreamEndCapture(s)
	if failed != nil {
		if err == nil {
			_ = d.GraphDestroy(g) // the work's error is the one to report
		}
		return 0, failed
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = d.GraphDestroy(g) }() // the instantiated graph does not need it
	exec, err := d.GraphInstantiate(g)
	if err != nil {
		return 0, err
	}
	if err := d.GraphUpload(exec, s); err != nil {
		_ = d.GraphExecDestroy(exec)
		return 0, err
	}
	return exec, nil
}

// Launch enqueues the graph on a stream.
func (g *Graph) Launch(s *Stream) error { return g.driver.GraphLaunch(g.exec, s.handle) }

// Close destroys the graph. A second call does nothing.
func (g *Graph) Close() error {
	return g.close(func() error { return g.driver.GraphExecDestroy(g.exec) })
}

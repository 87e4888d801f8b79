package device

import (
	"fmt"

	"ovgen/runtime/driver"
)

// Stream is a non-blocking stream.
type Stream struct {
	driver driver.Driver
	handle driver.Stream
	Resource
}

// NewStream makes a stream (cuStreamCreateWithPriority).
func NewStream(d driver.Driver, p Priority) (*Stream, error) {
	h, err := d.StreamCreateWithPriority(p)
	if err != nil {
		return nil, fmt.Errorf("make stream: %w", err)
	}
	s := &Stream{driver: d, handle: h}
	Track(s, &s.Resource, "stream")
	return s, nil
}

// Handle is the CUstream, for a plan's Enqueue.
func (s *Stream) Handle() driver.Stream { return s.handle }

// Synchronize waits on the host for everything enqueued.
func (s *Stream) Synchronize() error { return s.driver.StreamSynchronize(s.handle) }

// Wait makes the stream wait for e's last record.
func (s *Stream) Wait(e *Event) error { return s.driver.StreamWaitEvent(s.handle, e.handle, 0) }

// Copy enqueues a copy of device memory.
func (s *Stream) Copy(dst, src Ptr, bytes int64) error {
	return s.driver.MemcpyDtoDAsync(dst, src, bytes, s.handle)
}

// Close destroys the stream; work enqueued on it still completes. A second call does nothing.
func (s *Stream) Close() error {
	return s.Done(func() error { return s.driver.StreamDestroy(s.handle) })
}

// Event marks a point of a stream.
type Event struct {
	driver driver.Driver
	handle driver.Event
	Resource
}

// NewEvent makes an event; timing makes Since possible and costs a little.
func NewEvent(d driver.Driver, timing bool) (*Event, error) {
	h, err := d.EventCreate(timing)
	if err != nil {
		return nil, fmt.Errorf("make event: %w", err)
	}
	e := &Event{driver: d, handle: h}
	Track(e, &e.Resource, "event")
	return e, nil
}

// Handle is the CUevent.
func (e *Event) Handle() driver.Event { return e.handle }

// Record marks the present end of the work of s.
func (e *Event) Record(s *Stream) error { return e.driver.EventRecordWithFlags(e.handle, s.handle, 0) }

// Synchronize waits on the host for the event's last record.
func (e *Event) Synchronize() error { return e.driver.EventSynchronize(e.handle) }

// Since is the time from start to e in milliseconds.
func (e *Event) Since(start *Event) (float32, error) {
	return e.driver.EventElapsedTime(start.handle, e.handle)
}

// Close destroys the event. A second call does nothing.
func (e *Event) Close() error {
	return e.Done(func() error { return e.driver.EventDestroy(e.handle) })
}

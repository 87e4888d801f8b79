package trace

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/around"
	"ovgen/verify/timeline"
)

// Driver passes every call on and, between Start and Stop, times the operations that are enqueued. One goroutine uses
// it while it times.
type Driver struct {
	driver.Decorator
	on     bool
	origin driver.Event
	timed  []operation
	made   []driver.Event
	err    error
}

// operation is an enqueued operation, with the events around it.
type operation struct {
	stream        driver.Stream
	kind          timeline.Kind
	name          string
	before, after driver.Event
}

// New wraps a driver.
func New(d driver.Driver) *Driver {
	t := &Driver{}
	t.Driver = around.New(d, t.each)
	return t
}

// Start begins to time. The moment when s comes to this point is time zero of the spans.
func (d *Driver) Start(s driver.Stream) error {
	d.timed, d.err = nil, nil
	var err error
	if d.origin, err = d.mark(s); err != nil {
		return fmt.Errorf("start a trace: %w", err)
	}
	d.on = true
	return nil
}

// Stop returns the timed operations, in enqueue order; all of them must have completed. name gives the streams their
// names; the spans have no rank yet.
func (d *Driver) Stop(name func(driver.Stream) string) ([]timeline.Span, error) {
	d.on = false
	defer d.free()
	if d.err != nil {
		return nil, fmt.Errorf("trace a run: %w", d.err)
	}
	var spans []timeline.Span
	for _, o := range d.timed {
		from, err := d.EventElapsedTime(d.origin, o.before)
		to, more := d.EventElapsedTime(d.origin, o.after)
		if err := errors.Join(err, more); err != nil {
			return nil, fmt.Errorf("trace a run: %s: %w", o.name, err)
		}
		spans = append(spans, timeline.Span{Stream: name(o.stream), Name: o.name, Kind: o.kind,
			Start: 1000 * float64(from), End: 1000 * float64(to)})
	}
	return spans, nil
}

func (d *Driver) free() {
	for _, e := range d.made {
		_ = d.EventDestroy(e) // it has completed
	}
	d.made = nil
}

// mark records a new event.
func (d *Driver) mark(s driver.Stream) (driver.Event, error) {
	e, err := d.EventCreate(true)
	if err != nil {
		return 0, err
	}
	d.made = append(d.made, e)
	return e, d.EventRecordWithFlags(e, s, 0)
}

// time enqueues an operation between two events.
func (d *Driver) time(s driver.Stream, kind timeline.Kind, name string, enqueue func() error) error {
	if !d.on {
		return enqueue()
	}
	before, err := d.mark(s)
	if err := enqueue(); err != nil {
		return err
	}
	after, more := d.mark(s)
	d.err = errors.Join(d.err, err, more)
	d.timed = append(d.timed, operation{s, kind, name, before, after})
	return nil
}

// each times an operation.
func (d *Driver) each(c *around.Call) error {
	kind, name := timeline.Other, "kernel" // Name finds the kernel's kind
	switch c.Name {
	case "StreamBatchMemOp":
		kind = timeline.Post
		for _, m := range c.Items {
			if m.Kind == driver.WaitEqual {
				kind = timeline.Wait
			}
		}
		name = string(kind)
	case "MemcpyDtoDAsync":
		kind, name = timeline.Copy, fmt.Sprintf("copy %d bytes", c.Copy.Width)
	case "Memcpy2DAsync":
		kind, name = timeline.Copy, fmt.Sprintf("copy %d rows of %d bytes", c.Copy.Height, c.Copy.Width)
	case "Matmul":
		kind, name = timeline.Product, "product"
	case "Collective":
		return d.time(c.Stream, timeline.Copy, string(c.Collective.Kind), func() error { return d.settled(c) })
	case "LaunchKernel":
	default:
		return c.Pass()
	}
	return d.time(c.Stream, kind, name, c.Pass)
}

// settled makes a collective, and returns once NCCL has enqueued all of it, so that the event recorded next marks its
// end.
func (d *Driver) settled(c *around.Call) error {
	library, err := d.Collectives()
	if err != nil {
		return err
	}
	err = c.Pass()
	for errors.Is(err, driver.ErrInProgress) {
		err = library.CommGetAsyncError(c.Comm)
	}
	return err
}

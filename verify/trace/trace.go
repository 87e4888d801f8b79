package trace

import (
	"errors"
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/timeline"
)

// Driver passes every call on and times, between Start and Stop, the operations
// enqueued. It is used by one goroutine while it times.
type Driver struct {
	driver.Driver
	on     bool
	origin driver.Event
	timed  []operation
	made   []driver.Event
	err    error
}

// operation is one that was enqueued, between its events.
type operation struct {
	stream        driver.Stream
	kind          timeline.Kind
	name          string
	before, after driver.Event
}

// New wraps a driver.
func New(d driver.Driver) *Driver { return &Driver{Driver: d} }

// Captures are the driver's; they enqueue nothing to time.
func (d *Driver) Captures() (driver.Captures, bool) { return driver.CapturesOf(d.Driver) }

// Start begins to time, from the moment that s comes to: time zero of the spans.
func (d *Driver) Start(s driver.Stream) error {
	d.timed, d.err = nil, nil
	var err error
	if d.origin, err = d.mark(s); err != nil {
		return fmt.Errorf("start a trace: %w", err)
	}
	d.on = true
	return nil
}

// Stop returns the timed operations, in enqueue order; all of it must have completed. The
// streams are called as name says; the spans are of no rank yet.
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

// StreamBatchMemOp is a wait where it waits for a word, else a post.
func (d *Driver) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	kind := timeline.Post
	for _, m := range items {
		if m.Kind == driver.WaitEqual {
			kind = timeline.Wait
		}
	}
	return d.time(s, kind, string(kind), func() error { return d.Driver.StreamBatchMemOp(s, items) })
}

// MemcpyDtoDAsync is a copy.
func (d *Driver) MemcpyDtoDAsync(dst, src driver.Ptr, bytes int64, s driver.Stream) error {
	return d.time(s, timeline.Copy, fmt.Sprintf("copy %d bytes", bytes),
		func() error { return d.Driver.MemcpyDtoDAsync(dst, src, bytes, s) })
}

// Memcpy2DAsync is a copy of rows.
func (d *Driver) Memcpy2DAsync(c driver.Memcpy2D, s driver.Stream) error {
	return d.time(s, timeline.Copy, fmt.Sprintf("copy %d rows of %d bytes", c.Height, c.Width),
		func() error { return d.Driver.Memcpy2DAsync(c, s) })
}

// Matmul is a product.
func (d *Driver) Matmul(m driver.Product, c, a, b, bias, workspace driver.Ptr, s driver.Stream) error {
	return d.time(s, timeline.Product, "product",
		func() error { return d.Driver.Matmul(m, c, a, b, bias, workspace, s) })
}

// LaunchKernel is an emitted kernel: whether it waits or copies is for Name to say.
func (d *Driver) LaunchKernel(f driver.Function, grid, block driver.Dim3, s driver.Stream,
	params unsafe.Pointer) error {
	return d.time(s, timeline.Other, "kernel",
		func() error { return d.Driver.LaunchKernel(f, grid, block, s, params) })
}

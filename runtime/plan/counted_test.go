package plan

import "ovgen/runtime/driver"

// counted counts the calls that a Bind could make of a driver. No rank of a test shares one.
type counted struct {
	driver.Driver
	asked        int // about addresses
	instantiated int
	waited       int // for events and streams
	enqueued     int
}

func (c *counted) PointerGetAttributes(p driver.Ptr) (driver.PointerAttributes, error) {
	c.asked++
	return c.Driver.PointerGetAttributes(p)
}

func (c *counted) MemGetAddressRange(p driver.Ptr) (driver.Ptr, int64, error) {
	c.asked++
	return c.Driver.MemGetAddressRange(p)
}

func (c *counted) GraphInstantiate(g driver.Graph) (driver.GraphExec, error) {
	c.instantiated++
	return c.Driver.GraphInstantiate(g)
}

func (c *counted) EventSynchronize(e driver.Event) error {
	c.waited++
	return c.Driver.EventSynchronize(e)
}

func (c *counted) StreamSynchronize(s driver.Stream) error {
	c.waited++
	return c.Driver.StreamSynchronize(s)
}

func (c *counted) EventRecordWithFlags(e driver.Event, s driver.Stream, f driver.EventFlags) error {
	c.enqueued++
	return c.Driver.EventRecordWithFlags(e, s, f)
}

func (c *counted) StreamWaitEvent(s driver.Stream, e driver.Event, f driver.EventFlags) error {
	c.enqueued++
	return c.Driver.StreamWaitEvent(s, e, f)
}

func (c *counted) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	c.enqueued++
	return c.Driver.StreamBatchMemOp(s, items)
}

func (c *counted) StreamIsCapturing(s driver.Stream) (bool, error) {
	c.enqueued++
	return c.Driver.StreamIsCapturing(s)
}

// calls is the number of calls that it has counted.
func (c *counted) calls() int { return c.asked + c.instantiated + c.waited + c.enqueued }

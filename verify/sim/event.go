package sim

import (
	"time"

	"ovgen/runtime/driver"
)

// event is a place for records; a wait is for the last record at the time when the wait was enqueued.
type event struct {
	timing  bool
	last    *eventRecord
	capture *capture // of the last record, where it was captured
	tail    []*node  // the nodes before that record
}

// eventRecord is one record of an event. Its holders are counted.
type eventRecord struct {
	holders int
	done    bool
	at      time.Duration
	clock   clock
	by      Op
}

func (w *World) newRecord(by Op) *eventRecord {
	if len(w.records) == 0 {
		many := make([]eventRecord, slab)
		for i := range many {
			w.records = append(w.records, &many[i])
		}
	}
	r := w.records[len(w.records)-1]
	w.records = w.records[:len(w.records)-1]
	*r = eventRecord{holders: 1, clock: r.clock[:0], by: by}
	return r
}

func (w *World) releaseRecord(r *eventRecord) {
	if r == nil {
		return
	}
	if r.holders--; r.holders == 0 {
		w.records = append(w.records, r)
	}
}

// renew makes r the event's last record.
func (w *World) renew(e *event, r *eventRecord) {
	w.releaseRecord(e.last)
	r.holders++
	e.last = r
}

// hold counts one more holder of the event's last record.
func (e *event) hold() *eventRecord {
	if e.last != nil {
		e.last.holders++
	}
	return e.last
}

// EventCreate makes an event.
func (c *Context) EventCreate(timing bool) (driver.Event, error) {
	if err := c.enter("cuEventCreate"); err != nil {
		return 0, err
	}
	defer c.leave()
	h := driver.Event(c.world.handle())
	c.events[h] = &event{timing: timing}
	return h, nil
}

// EventDestroy forgets an event; waits for its records go on.
func (c *Context) EventDestroy(h driver.Event) error {
	const call = "cuEventDestroy"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	e := c.events[h]
	if e == nil {
		return fail(call, invalidHandle)
	}
	c.world.releaseRecord(e.last)
	e.last = nil
	delete(c.events, h)
	return nil
}

// eventOn finds the event and the stream of a call. External is for streams in capture only.
func (c *Context) eventOn(call string, h driver.Event, sh driver.Stream, f driver.EventFlags) (*event, *stream,
	error) {
	e, s := c.events[h], c.streams[sh]
	switch {
	case e == nil || s == nil:
		return nil, nil, fail(call, invalidHandle)
	case f > driver.External || f == driver.External && s.capture == nil:
		return nil, nil, fail(call, invalidValue)
	}
	return e, s, nil
}

// EventRecordWithFlags marks the work on the stream; External only in a capture.
func (c *Context) EventRecordWithFlags(h driver.Event, sh driver.Stream, f driver.EventFlags) error {
	const call = "cuEventRecordWithFlags"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	e, s, err := c.eventOn(call, h, sh, f)
	switch {
	case err != nil:
		return err
	case f == driver.External:
		return s.capture.add(call, s, &task{kind: record, event: e})
	case s.capture != nil:
		return s.capture.record(call, s, e)
	}
	o, err := c.enqueue(call, sh, &task{kind: record}, 1)
	if err != nil {
		return err
	}
	e.capture, e.tail = nil, nil
	o.rec = c.world.newRecord(o.who())
	c.world.renew(e, o.rec)
	return nil
}

// StreamWaitEvent makes the stream wait for the event's last record, if there is one.
func (c *Context) StreamWaitEvent(sh driver.Stream, h driver.Event, f driver.EventFlags) error {
	const call = "cuStreamWaitEvent"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	e, s, err := c.eventOn(call, h, sh, f)
	switch {
	case err != nil:
		return err
	case f == driver.External:
		return s.capture.add(call, s, &task{kind: waitEvent, event: e})
	case s.capture != nil || e.capture != nil:
		return waitCaptured(call, s, e)
	case e.last == nil:
		return nil
	}
	r := e.hold()
	o, err := c.enqueue(call, sh, &task{kind: waitEvent}, 1)
	if err != nil {
		c.world.releaseRecord(r)
		return err
	}
	o.rec = r
	return nil
}

// settled finds an event for a call that a captured record forbids.
func (c *Context) settled(call string, h driver.Event) (*event, error) {
	e := c.events[h]
	switch {
	case e == nil:
		return nil, fail(call, invalidHandle)
	case e.capture != nil:
		e.capture.invalid = true
		return nil, fail(call, capturedEvent)
	}
	return e, nil
}

// EventQuery reports whether the last record has completed.
func (c *Context) EventQuery(h driver.Event) (bool, error) {
	const call = "cuEventQuery"
	if err := c.enter(call); err != nil {
		return false, err
	}
	defer c.leave()
	e, err := c.settled(call, h)
	if err != nil || e.last != nil && !e.last.done {
		return false, err
	}
	if e.last != nil {
		c.world.learn(e.last.clock)
	}
	return true, nil
}

// EventSynchronize waits for the last record.
func (c *Context) EventSynchronize(h driver.Event) error {
	const call = "cuEventSynchronize"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	e, err := c.settled(call, h)
	if err != nil || e.last == nil {
		return err
	}
	r := e.hold()
	defer c.world.releaseRecord(r)
	for !r.done {
		c.world.changed.Wait()
		if err := c.usable(call); err != nil {
			return err
		}
	}
	c.world.learn(r.clock)
	return nil
}

// EventElapsedTime is the time between two records.
func (c *Context) EventElapsedTime(ha, hb driver.Event) (float32, error) {
	const call = "cuEventElapsedTime"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	a, err := c.settled(call, ha)
	if err != nil {
		return 0, err
	}
	b, err := c.settled(call, hb)
	switch {
	case err != nil:
		return 0, err
	case !a.timing || !b.timing || a.last == nil || b.last == nil:
		return 0, fail(call, invalidHandle)
	case !a.last.done || !b.last.done:
		return 0, fail(call, notReady)
	}
	return float32((b.last.at - a.last.at).Seconds() * 1e3), nil
}

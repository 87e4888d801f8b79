package sim

import (
	"ovgen/runtime/driver"
)

// stream is a queue of operations that run one after the other.
type stream struct {
	ctx       *Context
	number    int // on its device
	handle    driver.Stream
	strand    int
	clock     clock
	rate      int
	queue     []*op
	first     int // of queue
	depth     int // weight of the queued operations
	enqueued  int
	completed int
	destroyed bool
	capture   *capture
	tail      []*node // the nodes before the next captured operation
}

func (s *stream) head() *op {
	if s.first == len(s.queue) {
		return nil
	}
	return s.queue[s.first]
}

func (s *stream) push(o *op) {
	if s.first > 256 && s.first*2 > len(s.queue) {
		s.queue = append(s.queue[:0], s.queue[s.first:]...)
		s.first = 0
	}
	s.queue = append(s.queue, o)
	s.depth += o.weight
}

func (s *stream) pop() {
	s.depth -= s.queue[s.first].weight
	s.queue[s.first] = nil
	if s.first++; s.first == len(s.queue) {
		s.queue, s.first = s.queue[:0], 0
	}
	s.completed++
}

func (c *Context) addStream(h driver.Stream) *stream {
	s := &stream{ctx: c, number: c.streamsMade, handle: h, strand: c.world.strand()}
	s.rate = c.rate(s.number)
	c.streamsMade++
	c.streams[h] = s
	c.order = append(c.order, s)
	return s
}

// rate draws how often the scheduler takes a stream or a chain of graph nodes: with equal rates no seed would let one
// stream overtake another by far.
func (c *Context) rate(number int) int {
	mix := (c.world.cfg.Seed + 1) * 0x9e3779b97f4a7c15
	mix ^= uint64(c.ordinal*131+number+1) * 0xbf58476d1ce4e5b9
	mix ^= mix >> 29
	return 1 << (mix * 0x94d049bb133111eb >> 61)
}

// StreamCreateWithPriority makes a stream; the scheduler doesn't look at priorities.
func (c *Context) StreamCreateWithPriority(p driver.Priority) (driver.Stream, error) {
	const call = "cuStreamCreateWithPriority"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	if p < driver.Low || p > driver.High {
		return 0, fail(call, invalidValue)
	}
	return c.addStream(driver.Stream(c.world.handle())).handle, nil
}

// StreamDestroy forgets a stream; enqueued work still runs.
func (c *Context) StreamDestroy(h driver.Stream) error {
	const call = "cuStreamDestroy"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	s := c.streams[h]
	switch {
	case s == nil || h == 0:
		return fail(call, invalidHandle)
	case s.capture != nil:
		s.capture.invalid = true
		return fail(call, captureUnsupported)
	}
	delete(c.streams, h)
	s.destroyed = true
	c.forgetStream(s)
	return nil
}

// forgetStream takes a destroyed stream that has drained off the scheduler's list.
func (c *Context) forgetStream(s *stream) {
	if !s.destroyed || s.head() != nil {
		return
	}
	for i, o := range c.order {
		if o == s {
			c.order = append(c.order[:i:i], c.order[i+1:]...)
			return
		}
	}
}

// openStream finds a stream for a call that a capture forbids.
func (c *Context) openStream(call string, h driver.Stream) (*stream, error) {
	s := c.streams[h]
	switch {
	case s == nil:
		return nil, fail(call, invalidHandle)
	case s.capture != nil:
		s.capture.invalid = true
		return nil, fail(call, captureUnsupported)
	}
	return s, nil
}

// StreamSynchronize waits for all work enqueued so far.
func (c *Context) StreamSynchronize(h driver.Stream) error {
	const call = "cuStreamSynchronize"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	s, err := c.openStream(call, h)
	if err != nil {
		return err
	}
	return c.drain(call, s, s.enqueued)
}

// drain waits until a stream has completed n operations.
func (c *Context) drain(call string, s *stream, n int) error {
	for s.completed < n {
		c.world.changed.Wait()
		if err := c.usable(call); err != nil {
			return err
		}
	}
	c.world.learn(s.clock)
	return nil
}

// StreamQuery reports whether the stream is empty.
func (c *Context) StreamQuery(h driver.Stream) (bool, error) {
	const call = "cuStreamQuery"
	if err := c.enter(call); err != nil {
		return false, err
	}
	defer c.leave()
	s, err := c.openStream(call, h)
	if err != nil || s.head() != nil {
		return false, err
	}
	c.world.learn(s.clock)
	return true, nil
}

// StreamIsCapturing reports whether the stream is part of a capture.
func (c *Context) StreamIsCapturing(h driver.Stream) (bool, error) {
	const call = "cuStreamIsCapturing"
	if err := c.enter(call); err != nil {
		return false, err
	}
	defer c.leave()
	s := c.streams[h]
	if s == nil {
		return false, fail(call, invalidHandle)
	}
	return s.capture != nil, nil
}

// enqueue puts a task at the end of a stream, or into its capture. The caller blocks while the stream is full. The
// world is locked.
func (c *Context) enqueue(call string, h driver.Stream, t *task, weight int) (*op, error) {
	s := c.streams[h]
	if s == nil {
		return nil, fail(call, invalidHandle)
	}
	if s.capture != nil {
		return nil, s.capture.add(call, s, t)
	}
	for s.depth > 0 && s.depth+weight > c.world.cfg.QueueDepth {
		c.world.changed.Wait()
		if err := c.usable(call); err != nil {
			return nil, err
		}
		if s.destroyed || s.capture != nil {
			return nil, fail(call, illegalState)
		}
	}
	return c.append(s, t, weight), nil
}

func (c *Context) append(s *stream, t *task, weight int) *op {
	o := c.world.newOp()
	items, params := append(o.items[:0], t.items...), append(o.params[:0], t.params...)
	o.task = *t
	o.items, o.params = items, params
	s.enqueued++
	c.issued++
	o.ctx, o.stream, o.number, o.weight, o.issue = c, s, s.enqueued, weight, c.issued
	o.clock, o.strand = &s.clock, s.strand
	o.known = c.world.hostClock()
	s.push(o)
	c.world.wake()
	return o
}

package sim

import (
	"slices"

	"ovgen/runtime/driver"
)

// capture is a graph in the making: the streams that take part append nodes to it.
type capture struct {
	graph   driver.Graph // its handle
	origin  *stream
	nodes   []*node
	streams []*stream
	invalid bool
	ended   bool
}

// node is a captured operation and the operations it comes after.
type node struct {
	task
	index int
	deps  []*node
	left  bool // no stream follows it: it need not be joined
}

// work is the work of the node.
func (n *node) work() *task { return &n.task }

// graph is captured work.
type graph struct{ nodes []*node }

// StreamBeginCapture starts a capture in relaxed mode.
func (c *Context) StreamBeginCapture(h driver.Stream) error {
	const call = "cuStreamBeginCapture"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	s := c.streams[h]
	switch {
	case s == nil:
		return fail(call, invalidHandle)
	case h == 0:
		return fail(call, captureUnsupported)
	case s.capture != nil:
		return fail(call, illegalState)
	}
	(&capture{graph: driver.Graph(c.world.handle()), origin: s}).enter(s, nil)
	return nil
}

// enter makes a stream part of the capture.
func (p *capture) enter(s *stream, tail []*node) {
	s.capture, s.tail = p, slices.Clone(tail)
	p.streams = append(p.streams, s)
}

// add appends an operation of a stream as a node.
func (p *capture) add(call string, s *stream, t *task) error {
	if p.invalid {
		return fail(call, captureInvalidated)
	}
	n := &node{task: *t, index: len(p.nodes), deps: s.tail}
	n.items, n.params = slices.Clone(t.items), slices.Clone(t.params)
	p.nodes = append(p.nodes, n)
	s.tail = []*node{n}
	return nil
}

// record makes the event mark the stream's work in the capture.
func (p *capture) record(call string, s *stream, e *event) error {
	if p.invalid {
		return fail(call, captureInvalidated)
	}
	e.capture, e.tail = p, slices.Clone(s.tail)
	return nil
}

// waitCaptured makes a stream wait where the stream or the event is captured. A stream outside joins the capture of the
// event.
func waitCaptured(call string, s *stream, e *event) error {
	switch {
	case e.capture == nil: // recorded outside, or never
		s.capture.invalid = true
		return fail(call, captureIsolation)
	case e.capture.ended:
		if s.capture != nil {
			s.capture.invalid = true
		}
		return fail(call, capturedEvent)
	case e.capture.invalid:
		return fail(call, captureInvalidated)
	case s.handle == 0:
		return fail(call, captureUnsupported)
	case s.capture == nil:
		e.capture.enter(s, e.tail)
	case s.capture != e.capture:
		s.capture.invalid, e.capture.invalid = true, true
		return fail(call, captureMerge)
	}
	for _, n := range e.tail {
		if !slices.Contains(s.tail, n) {
			s.tail = append(slices.Clip(s.tail), n)
		}
	}
	return nil
}

// StreamEndCapture ends a capture on the stream where it began. All streams
// that take part must have been joined to it.
func (c *Context) StreamEndCapture(h driver.Stream) (driver.Graph, error) {
	const call = "cuStreamEndCapture"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	s := c.streams[h]
	switch {
	case s == nil:
		return 0, fail(call, invalidHandle)
	case s.capture == nil:
		return 0, fail(call, illegalState)
	case s.capture.origin != s:
		s.capture.invalid = true
		return 0, fail(call, captureUnmatched)
	}
	p, joined := s.capture, s.capture.joined()
	p.ended = true
	for _, o := range p.streams {
		o.capture, o.tail = nil, nil
	}
	switch {
	case p.invalid:
		return 0, fail(call, captureInvalidated)
	case !joined:
		return 0, fail(call, captureUnjoined)
	}
	nodes := p.sorted()
	c.graphs[p.graph] = &graph{nodes}
	holdComms(nodes, (*node).work, 1)
	return p.graph, nil
}

// leads reports whether another node follows this one.
func (p *capture) leads(n *node) bool {
	return slices.ContainsFunc(p.nodes, func(o *node) bool { return slices.Contains(o.deps, n) })
}

// joined reports whether the origin comes after every node, except nodes that no stream has to
// follow.
func (p *capture) joined() bool {
	seen := make([]bool, len(p.nodes))
	left := len(p.nodes)
	todo := slices.Clone(p.origin.tail)
	for _, n := range p.nodes {
		if n.left && !p.leads(n) {
			todo = append(todo, n)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[n.index] {
			seen[n.index] = true
			left--
			todo = append(todo, n.deps...)
		}
	}
	return left == 0
}

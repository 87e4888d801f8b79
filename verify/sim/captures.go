package sim

import (
	"slices"

	"ovgen/runtime/driver"
)

// StreamGetCaptureInfo returns the capture that the stream is part of. A node's handle is its
// place in the capture, from 1.
func (c *Context) StreamGetCaptureInfo(h driver.Stream) (driver.CaptureInfo, error) {
	const call = "cuStreamGetCaptureInfo"
	if err := c.enter(call); err != nil {
		return driver.CaptureInfo{}, err
	}
	defer c.leave()
	s := c.streams[h]
	switch {
	case s == nil:
		return driver.CaptureInfo{}, fail(call, invalidHandle)
	case s.capture == nil:
		return driver.CaptureInfo{}, nil
	case s.capture.invalid:
		return driver.CaptureInfo{}, fail(call, captureInvalidated)
	}
	info := driver.CaptureInfo{ID: uint64(s.capture.graph), Graph: s.capture.graph}
	for _, n := range s.tail {
		info.Nodes = append(info.Nodes, driver.GraphNode(n.index+1))
	}
	return info, nil
}

// StreamUpdateCaptureDependencies sets the nodes that come before the stream's next operation.
func (c *Context) StreamUpdateCaptureDependencies(h driver.Stream, nodes []driver.GraphNode) error {
	const call = "cuStreamUpdateCaptureDependencies"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	s := c.streams[h]
	if s == nil {
		return fail(call, invalidHandle)
	}
	if s.capture == nil {
		return fail(call, illegalState)
	}
	tail, ok := s.capture.find(nodes)
	if !ok || s.capture.invalid {
		return fail(call, invalidValue)
	}
	for _, n := range s.tail {
		n.left = n.left || !slices.Contains(tail, n)
	}
	s.tail = tail
	return nil
}

// find lists the nodes of a capture that have these handles.
func (p *capture) find(nodes []driver.GraphNode) (list []*node, ok bool) {
	for _, n := range nodes {
		if n < 1 || int(n) > len(p.nodes) {
			return nil, false
		}
		list = append(list, p.nodes[n-1])
	}
	return list, true
}

// GraphAddDependencies lets one node of a graph in the making follow others.
func (c *Context) GraphAddDependencies(g driver.Graph, from []driver.GraphNode, to driver.GraphNode) error {
	return c.edges("cuGraphAddDependencies", g, from, to, func(n *node, before []*node) bool {
		if follow(before, n) || slices.ContainsFunc(before, func(b *node) bool { return slices.Contains(n.deps, b) }) {
			return false
		}
		n.deps = append(slices.Clone(n.deps), before...)
		return true
	})
}

// GraphRemoveDependencies lets one node of a graph in the making follow others no longer.
func (c *Context) GraphRemoveDependencies(g driver.Graph, from []driver.GraphNode, to driver.GraphNode) error {
	return c.edges("cuGraphRemoveDependencies", g, from, to, func(n *node, before []*node) bool {
		for _, b := range before {
			if !slices.Contains(n.deps, b) {
				return false
			}
		}
		n.deps = slices.DeleteFunc(slices.Clone(n.deps), func(d *node) bool { return slices.Contains(before, d) })
		return true
	})
}

// edges changes the nodes that a node follows.
func (c *Context) edges(call string, g driver.Graph, from []driver.GraphNode, to driver.GraphNode,
	change func(n *node, before []*node) bool) error {
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	for _, s := range c.streams {
		if s.capture == nil || s.capture.graph != g {
			continue
		}
		before, ok := s.capture.find(from)
		n, found := s.capture.find([]driver.GraphNode{to})
		if !ok || !found || !change(n[0], before) {
			return fail(call, invalidValue)
		}
		return nil
	}
	return fail(call, invalidValue)
}

// follow reports whether one of the nodes is, or comes after, another. It sees each node once, however many
// ways lead to it.
func follow(nodes []*node, other *node) bool {
	seen := map[*node]bool{}
	for next := slices.Clone(nodes); len(next) > 0; {
		n := next[len(next)-1]
		if n == other {
			return true
		}
		next = next[:len(next)-1]
		if !seen[n] {
			seen[n] = true
			next = append(next, n.deps...)
		}
	}
	return false
}

// sorted numbers the nodes anew, each after the nodes that it follows, else in the order of the calls.
func (p *capture) sorted() []*node {
	placed := make([]bool, len(p.nodes))
	var list []*node
	var place func(n *node)
	place = func(n *node) {
		if placed[n.index] {
			return
		}
		placed[n.index] = true
		for _, d := range n.deps {
			place(d)
		}
		list = append(list, n)
	}
	for _, n := range p.nodes {
		place(n)
	}
	for i, n := range list {
		n.index = i
	}
	return list
}

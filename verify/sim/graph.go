package sim

import "ovgen/runtime/driver"

// exec is an instantiated graph. Its launches run one after the other, and within a launch each node runs as soon as
// the nodes before it are done.
type exec struct {
	nodes  []*execNode
	issued uint64 // launches enqueued
	turn   uint64 // of the launch that may run
	left   int    // nodes of the running launch that are not done
	clock  clock  // of the launches done
	events int    // external records and waits
	chains int    // strands of its nodes
}

// execNode is a node with its operation, which all launches use in turn.
type execNode struct {
	op      *op
	clock   clock
	before  []*execNode
	after   []*execNode
	missing int // nodes before it that are not done
	chained bool
	rate    int
}

// work is the work of the node.
func (e *execNode) work() *task { return &e.op.task }

// GraphInstantiate makes a graph that can be launched.
func (c *Context) GraphInstantiate(h driver.Graph) (driver.GraphExec, error) {
	const call = "cuGraphInstantiate"
	if err := c.enterIdle(call); err != nil {
		return 0, err
	}
	defer c.leave()
	g := c.graphs[h]
	if g == nil {
		return 0, fail(call, invalidValue)
	}
	x := &exec{nodes: make([]*execNode, len(g.nodes))}
	for i, n := range g.nodes {
		x.nodes[i] = c.node(x, n)
		if n.event != nil {
			x.events++
		}
	}
	hx := driver.GraphExec(c.world.handle())
	c.execs[hx] = x
	holdComms(g.nodes, (*node).work, 1)
	return hx, nil
}

// node makes a node after its predecessors. It continues the strand of the first predecessor that has no successor yet.
func (c *Context) node(x *exec, n *node) *execNode {
	e := &execNode{op: &op{task: n.task, ctx: c, node: n.index + 1}}
	e.op.clock, e.op.at, e.op.strand = &e.clock, e, -1
	for _, d := range n.deps {
		before := x.nodes[d.index]
		e.before = append(e.before, before)
		before.after = append(before.after, e)
		if e.op.strand < 0 && !before.chained {
			before.chained = true
			e.op.strand, e.rate = before.op.strand, before.rate
		}
	}
	if e.op.strand < 0 {
		e.op.strand = c.world.strand()
		x.chains++
		e.rate = c.rate(1000 * x.chains)
	}
	return e
}

// GraphUpload prepares a launch; here it only takes its place in the stream.
func (c *Context) GraphUpload(h driver.GraphExec, s driver.Stream) error {
	const call = "cuGraphUpload"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	if c.execs[h] == nil {
		return fail(call, invalidHandle)
	}
	if _, err := c.openStream(call, s); err != nil {
		return err
	}
	_, err := c.enqueue(call, s, &task{kind: upload}, 1)
	return err
}

// GraphLaunch enqueues a replay. External events are bound now, in the order in
// which they were captured: a wait to the last record, a record as the last one.
func (c *Context) GraphLaunch(h driver.GraphExec, s driver.Stream) error {
	const call = "cuGraphLaunch"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	x := c.execs[h]
	if x == nil {
		return fail(call, invalidHandle)
	}
	if _, err := c.openStream(call, s); err != nil {
		return err
	}
	o, err := c.enqueue(call, s, &task{kind: launchGraph, exec: x}, max(1, len(x.nodes)))
	if err != nil {
		return err
	}
	o.turn = x.issued
	x.issued++
	holdComms(x.nodes, (*execNode).work, 1)
	if x.events == 0 {
		return nil
	}
	for _, n := range x.nodes {
		switch {
		case n.op.event == nil:
		case n.op.kind == waitEvent:
			o.binds = append(o.binds, n.op.event.hold())
		default:
			who := n.op.named(o)
			r := c.world.newRecord(who)
			o.binds = append(o.binds, r)
			c.world.renew(n.op.event, r)
		}
	}
	return nil
}

// named is the name of a node in a launch.
func (o *op) named(launch *op) Op {
	o.stream, o.number = launch.stream, launch.number
	return o.who()
}

// GraphExecDestroy forgets an executable graph; launches go on.
func (c *Context) GraphExecDestroy(h driver.GraphExec) error {
	const call = "cuGraphExecDestroy"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	x := c.execs[h]
	if x == nil {
		return fail(call, invalidHandle)
	}
	delete(c.execs, h)
	holdComms(x.nodes, (*execNode).work, -1)
	c.world.changed.Broadcast()
	return nil
}

// GraphDestroy forgets a graph.
func (c *Context) GraphDestroy(h driver.Graph) error {
	const call = "cuGraphDestroy"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	g := c.graphs[h]
	if g == nil {
		return fail(call, invalidHandle)
	}
	delete(c.graphs, h)
	holdComms(g.nodes, (*node).work, -1)
	c.world.changed.Broadcast()
	return nil
}

// beginGraph lets the nodes of a launch run.
func (w *World) beginGraph(o *op) {
	x := o.exec
	x.left = len(x.nodes)
	if !w.cfg.NoRaces {
		o.clock.join(x.clock)
	}
	bound := 0
	for _, n := range x.nodes {
		n.missing = len(n.before)
		p := n.op
		p.stream, p.number, p.parent = o.stream, o.number, o
		p.started, p.done, p.step, p.due = false, false, 0, 0
		if p.event != nil {
			p.rec = o.binds[bound]
			bound++
		}
	}
}

func (w *World) finishNode(o *op) {
	o.parent.exec.left--
	for _, n := range o.at.after {
		n.missing--
	}
	if o.kind == record {
		w.changed.Broadcast() // a host may wait for an external event
	}
}

func (w *World) finishGraph(o *op) {
	x := o.exec
	x.turn++
	holdComms(x.nodes, (*execNode).work, -1)
	if w.cfg.NoRaces {
		return
	}
	for _, n := range x.nodes {
		o.clock.join(n.clock)
	}
	x.clock.set(*o.clock)
}

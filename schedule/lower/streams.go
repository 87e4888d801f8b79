package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// streams gives each node its stream and makes the streams wait for each other.
// Apart, the copies run one after another on a stream, of top priority where the copy
// engine copies, and each product on a low-priority one, started by its copy. With the
// step, exchange and product share a stream, and steps take the streams in turn.
func streams(d *draft) error {
	if d.placed {
		return nil
	}
	a := assignment{work: poolRef(d), copy: hostir.StreamRef{Set: mainName}}
	d.program.Streams = []hostir.StreamSet{{Name: mainName}}
	if d.schedule.Streams.Copy == schedule.Apart {
		a.copy = hostir.StreamRef{Set: copyName}
		a.forked = append(a.forked, a.copy)
		// Pulls by kernels get multiprocessors in their turn: ahead of the products, they held
		// up the small ones that they are for.
		d.program.Streams = append(d.program.Streams, hostir.StreamSet{Name: copyName, High: d.schedule.Transport.Copy == schedule.CopyEngine})
	}
	set := workStreams(d)
	d.program.Streams = append(d.program.Streams, set)
	a.forked = append(a.forked, hostir.StreamRef{Set: set.Name, From: set.First, To: set.Count})
	if d.schedule.Streams.Copy == schedule.Apart {
		a.apart(d)
	} else {
		a.withStep(d)
	}
	return nil
}

// assignment names the streams of a program.
type assignment struct {
	copy, work hostir.StreamRef
	forked     []hostir.StreamRef // all but main
}

var (
	mainRef = hostir.StreamRef{Set: mainName}
	forkAt  = hostir.Origin{Field: "Streams.Start"}
	joinAt  = hostir.Origin{Remark: "join", Field: "Streams"}
)

// workStreams are the compute streams: one a step, or a number taken in turn.
func workStreams(d *draft) hostir.StreamSet {
	set := hostir.StreamSet{Name: workName, First: hostir.Const(0), Count: hostir.Size}
	if d.schedule.Streams.Copy == schedule.WithStep {
		set.Name = poolName
	}
	set.Falling = d.schedule.Streams.Priority == schedule.Falling
	if n := d.schedule.Streams.Compute; n > 0 {
		d.program.Constants[poolName] = int64(n)
		set.Count = hostir.Var(poolName)
	} else if d.schedule.Pipeline.OwnShard == schedule.InPlace {
		set.First = hostir.Const(1)
	}
	return set
}

// poolRef is the compute stream of step i.
func poolRef(d *draft) hostir.StreamRef {
	return hostir.StreamRef{Set: workStreams(d).Name, Index: poolIndex(d, hostir.Var(stepIndex))}
}

// poolIndex is the number of a step's compute stream.
func poolIndex(d *draft, step hostir.Expr) hostir.Expr {
	if d.schedule.Streams.Compute > 0 {
		return hostir.Mod(step, hostir.Var(poolName))
	}
	return step
}

// apart forks copy and work streams off main ahead of the first product and joins
// them at the end. In the loop, work streams are forked and joined in each step.
func (a assignment) apart(d *draft) {
	inLoop := d.schedule.Streams.Start == schedule.InLoop
	if inLoop {
		a.forked = a.forked[:1]
	}
	var body []hostir.Node
	forked, looped := false, false
	for _, n := range d.program.Body {
		switch l := n.(type) {
		case hostir.GetCurrentStream:
			continue
		case hostir.For:
			looped = true
			body = append(body, a.fork(&forked)...)
			l.Body = a.inStep(l.Body)
			if inLoop {
				l.Body = append([]hostir.Node{hostir.Synchronize{Origin: forkAt, Streams: []hostir.StreamRef{a.copy, a.work}, On: []hostir.StreamRef{mainRef}}}, l.Body...)
				l.Body = append(l.Body, hostir.Synchronize{Origin: joinAt, Streams: []hostir.StreamRef{mainRef}, On: []hostir.StreamRef{a.work}})
			}
			n = l
		case hostir.Matmul, hostir.Linear:
			body = append(body, a.fork(&forked)...)
			n = hostir.On(n, mainRef)
		default:
			if looped {
				n = hostir.On(n, a.copy)
			} else {
				n = hostir.On(n, mainRef)
			}
		}
		body = append(body, n)
	}
	d.program.Body = append(body, hostir.Synchronize{Origin: joinAt, Streams: []hostir.StreamRef{mainRef}, On: a.forked})
}

// fork returns the start synchronisation, once.
func (a assignment) fork(done *bool) []hostir.Node {
	if *done {
		return nil
	}
	*done = true
	return []hostir.Node{hostir.Synchronize{Origin: forkAt, Streams: a.forked, On: []hostir.StreamRef{mainRef}}}
}

// inStep places the nodes of the loop: products on the step's stream, the first of
// them behind the step's copy.
func (a assignment) inStep(nodes []hostir.Node) []hostir.Node {
	var placed []hostir.Node
	started := false
	for _, n := range nodes {
		if !isProduct(n) {
			placed = append(placed, hostir.On(n, a.copy))
			continue
		}
		if !started {
			placed = append(placed, hostir.Synchronize{Origin: hostir.Origin{Field: "Streams.Copy"}, Streams: []hostir.StreamRef{a.work}, On: []hostir.StreamRef{a.copy}})
		}
		started = true
		placed = append(placed, hostir.On(n, a.work))
	}
	return placed
}

// withStep puts all of a step on one stream, forks ahead of the first product in a
// loop of its own (or, slow, in the loop) and joins at the end of each step.
func (a assignment) withStep(d *draft) {
	start := hostir.Synchronize{Origin: forkAt, Streams: []hostir.StreamRef{a.work}, On: []hostir.StreamRef{mainRef}}
	forked := d.schedule.Streams.Start == schedule.InLoop
	var body []hostir.Node
	for i, n := range d.program.Body {
		l, isLoop := n.(hostir.For)
		if (isLoop || isProduct(n)) && !forked {
			forked = true
			body = append(body, a.forks(d.program.Body[i:], start))
		}
		if !isLoop {
			body = append(body, hostir.On(n, mainRef))
			continue
		}
		for j := range l.Body {
			l.Body[j] = hostir.On(l.Body[j], a.work)
		}
		l.Body = append(l.Body, hostir.Synchronize{Origin: hostir.Origin{Field: "Streams"}, Streams: []hostir.StreamRef{mainRef}, On: []hostir.StreamRef{a.work}})
		if d.schedule.Streams.Start == schedule.InLoop {
			l.Body = append([]hostir.Node{start}, l.Body...)
		}
		body = append(body, l)
	}
	d.program.Body = body
}

// forks is the loop over the steps with their start only.
func (a assignment) forks(nodes []hostir.Node, start hostir.Node) hostir.Node {
	for _, n := range nodes {
		if l, ok := n.(hostir.For); ok {
			return hostir.For{Index: l.Index, From: l.From, To: l.To, Body: []hostir.Node{start}}
		}
	}
	return start
}

func isProduct(n hostir.Node) bool {
	switch n.(type) {
	case hostir.Matmul, hostir.Linear, hostir.Gradient:
		return true
	}
	return false
}

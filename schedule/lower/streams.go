package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// streams gives each node its stream and makes the streams wait for each other.
// Apart, the copies run one after another on a top-priority stream and each product
// on a low-priority one, started by its copy. With the step, exchange and product
// share a stream, and steps take the streams in turn.
func streams(d *draft) error {
	if d.placed() {
		return nil
	}
	a := assignment{work: poolRef(d), copy: hostir.StreamRef{Set: mainName}}
	d.program.Streams = []hostir.StreamSet{{Name: mainName}}
	if d.schedule.Streams.Copy == schedule.Apart {
		a.copy = hostir.StreamRef{Set: copyName}
		a.forked = append(a.forked, a.copy)
		d.program.Streams = append(d.program.Streams, hostir.StreamSet{Name: copyName, High: true})
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
	index := hostir.Var(stepIndex)
	if d.schedule.Streams.Compute > 0 {
		index = hostir.Mod(index, hostir.Var(poolName))
	}
	return hostir.StreamRef{Set: workStreams(d).Name, Index: index}
}

// apart forks copy and work streams off main ahead of the first product and joins
// them at the end.
func (a assignment) apart(d *draft) {
	inLoop := d.schedule.Streams.Start == schedule.InLoop
	var body []hostir.Node
	forked, looped := inLoop, false
	for _, n := range d.program.Body {
		switch l := n.(type) {
		case hostir.GetCurrentStream:
			continue
		case hostir.For:
			looped = true
			body = append(body, a.fork(&forked)...)
			l.Body = hostir.Map(l.Body, a.inStep)
			if inLoop {
				l.Body = append([]hostir.Node{hostir.Synchronize{Origin: forkAt, Streams: []hostir.StreamRef{a.copy, a.work}, On: []hostir.StreamRef{mainRef}}}, l.Body...)
				l.Body = append(l.Body, hostir.Synchronize{Origin: joinAt, Streams: []hostir.StreamRef{mainRef}, On: []hostir.StreamRef{a.work}})
			}
			n = l
		case hostir.Matmul, hostir.Linear:
			body = append(body, a.fork(&forked)...)
			n = on(n, mainRef)
		default:
			if looped {
				n = on(n, a.copy)
			} else {
				n = on(n, mainRef)
			}
		}
		body = append(body, n)
	}
	last := a.forked
	if inLoop {
		last = []hostir.StreamRef{a.copy}
	}
	d.program.Body = append(body, hostir.Synchronize{Origin: joinAt, Streams: []hostir.StreamRef{mainRef}, On: last})
}

// fork returns the start synchronisation, once.
func (a assignment) fork(done *bool) []hostir.Node {
	if *done {
		return nil
	}
	*done = true
	return []hostir.Node{hostir.Synchronize{Origin: forkAt, Streams: a.forked, On: []hostir.StreamRef{mainRef}}}
}

// inStep places a node of the loop: products on the step's stream behind its copy.
func (a assignment) inStep(n hostir.Node) []hostir.Node {
	switch n.(type) {
	case hostir.Matmul, hostir.Linear:
		return []hostir.Node{hostir.Synchronize{Origin: hostir.Origin{Field: "Streams.Copy"}, Streams: []hostir.StreamRef{a.work}, On: []hostir.StreamRef{a.copy}}, on(n, a.work)}
	}
	return []hostir.Node{on(n, a.copy)}
}

// withStep puts all of a step on one stream, forks in a loop of its own (or, slow,
// in the loop) and joins at the end of each step.
func (a assignment) withStep(d *draft) {
	for i, n := range d.program.Body {
		if _, ok := n.(hostir.For); !ok {
			d.program.Body[i] = on(n, mainRef)
		}
	}
	d.loop(func(l hostir.For) []hostir.Node {
		start := hostir.Synchronize{Origin: forkAt, Streams: []hostir.StreamRef{a.work}, On: []hostir.StreamRef{mainRef}}
		l.Body = hostir.Map(l.Body, func(n hostir.Node) []hostir.Node { return []hostir.Node{on(n, a.work)} })
		l.Body = append(l.Body, hostir.Synchronize{Origin: hostir.Origin{Field: "Streams"}, Streams: []hostir.StreamRef{mainRef}, On: []hostir.StreamRef{a.work}})
		if d.schedule.Streams.Start == schedule.InLoop {
			l.Body = append([]hostir.Node{start}, l.Body...)
			return []hostir.Node{l}
		}
		first := hostir.For{Index: l.Index, From: l.From, To: l.To, Body: []hostir.Node{start}}
		return []hostir.Node{first, l}
	})
}

// on puts a node on a stream.
func on(n hostir.Node, s hostir.StreamRef) hostir.Node {
	switch n := n.(type) {
	case hostir.Post:
		n.Stream = s
		return n
	case hostir.Wait:
		n.Stream = s
		return n
	case hostir.Set:
		n.Stream = s
		return n
	case hostir.Matmul:
		n.Stream = s
		return n
	case hostir.Linear:
		n.Stream = s
		return n
	}
	return n
}

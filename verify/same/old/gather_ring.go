package old

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// lane is one direction round the ring: a rank passes on to its neighbour the shard of
// the step before.
type lane struct {
	next, prev hostir.Expr   // the neighbours
	to, from   hostir.Expr   // their names in the loop
	got, had   hostir.Expr   // the shard that arrives in a step, and in the one before
	lets       []hostir.Node // of the names
	parts                    // that shards travel in, one a lane
	mine       int64         // the number of this lane's
}

// lanes are one, or two with half of each shard.
func (d *draft) lanes() []lane {
	next, prev, one := hostir.Ahead(hostir.Const(1)), hostir.Behind(hostir.Const(1)), hostir.Const(1)
	forward := lane{next: next, prev: prev, to: hostir.Var("to"), from: hostir.Var("from"), got: hostir.Var("got"),
		had: hostir.Var("had"), parts: parts{n: 1}}
	backward := forward
	backward.next, backward.prev = prev, next
	forward.lets = []hostir.Node{hostir.Bind("to", next), hostir.Bind("from", prev),
		hostir.Bind("got", hostir.Behind(step)), hostir.Bind("had", hostir.Behind(hostir.Sub(step, one)))}
	ahead := func(got, had string) []hostir.Node {
		return []hostir.Node{hostir.Bind(got, hostir.Ahead(step)),
			hostir.Bind(had, hostir.Ahead(hostir.Sub(step, one)))}
	}
	switch d.with.direction {
	case schedule.Backward:
		backward.lets = append([]hostir.Node{hostir.Bind("to", prev), hostir.Bind("from", next)},
			ahead("got", "had")...)
		return []lane{backward}
	case schedule.Both:
		backward.to, backward.from = forward.from, forward.to
		backward.got, backward.had = hostir.Var("gotBack"), hostir.Var("hadBack")
		backward.lets = ahead("gotBack", "hadBack")
		forward.n, backward.n, backward.mine = 2, 2, 1
		return []lane{forward, backward}
	}
	return []lane{forward}
}

// chunk is the index of this lane's part of a shard.
func (l lane) chunk(shard hostir.Expr) hostir.Expr { return l.chunkOf(shard, hostir.Const(l.mine)) }

// of is this lane's part of A, or of a peer's.
func (l lane) of(peer hostir.Expr) hostir.View { return hostir.Remote("A", peer, l.member()) }

// member of a semaphore with one for each lane.
func (l lane) member() hostir.Expr { return l.numbered(hostir.Const(l.mine)) }

// ring is the common part of both protocols.
type ring struct {
	*draft
	lanes []lane
	g     string // the gathered tensor
	set   hostir.StreamSet
	work  hostir.StreamRef
}

func (d *draft) ring(signals, once string) (ring, error) {
	g, err := d.gatherTensors()
	r := ring{draft: d, lanes: d.lanes(), g: g, set: workStreams(d), work: poolRef(d)}
	n := int64(len(r.lanes))
	members := hostir.Size
	if n > 1 {
		members = hostir.Mul(hostir.Const(n), hostir.Size)
	}
	d.semaphore(signals, members)
	d.semaphore(once, count(n))
	return r, err
}

// every lane's nodes, one lane after the other.
func (r ring) each(f func(l lane) []hostir.Node) (nodes []hostir.Node) {
	for _, l := range r.lanes {
		nodes = append(nodes, f(l)...)
	}
	return nodes
}

// first chooses between the first exchange, which takes A, and the others.
func first(then, others []hostir.Node) hostir.If {
	return hostir.If{X: step, Y: hostir.Const(1), Then: then, Else: others}
}

// multiply are the products of the shard that has arrived.
func (r ring) multiply() []hostir.Node {
	return r.each(func(l lane) []hostir.Node {
		return r.multiplied(r.work, hostir.Chunk("C", l.chunk(l.got)), hostir.Chunk(r.g, l.chunk(l.got)))
	})
}

// steps is the loop over the hops.
func (r ring) steps(body ...hostir.Node) hostir.For {
	return steps(append(r.each(func(l lane) []hostir.Node { return l.lets }), body...)...)
}

// rows are the rows of this rank's shard in C.
func (r ring) rows() hostir.View {
	return r.lanes[0].parts.rows("C", hostir.Rank)
}

// gatherRingPut pushes the shard that has arrived on to the next rank, from the slots of
// one gathered tensor into the other's: over the buffer of this step and that of the one before.
func gatherRingPut(d *draft) error {
	r, err := d.ring(arrived, free)
	if err != nil {
		return err
	}
	push := func(l lane, shard hostir.Expr, src hostir.View) []hostir.Node {
		return []hostir.Node{hostir.Set(copyRef, hostir.Remote(r.g, l.to, l.chunk(shard)), src),
			hostir.Post(copyRef, arrived, l.to).Member(l.chunk(step))}
	}
	d.add(withPeers(r.each(func(l lane) []hostir.Node {
		return []hostir.Node{hostir.Post(mainRef, free, l.prev).Member(l.member())}
	})...), d.fork(copySet, r.set))
	d.add(d.ownShard(r.rows())...)
	hop := []hostir.Node{first(
		r.each(func(l lane) []hostir.Node {
			return append([]hostir.Node{hostir.Wait(copyRef, free, l.to).Member(l.member())},
				push(l, hostir.Rank, l.of(hostir.Expr{}))...)
		}),
		r.each(func(l lane) []hostir.Node { return push(l, l.had, hostir.Chunk(r.g, l.chunk(l.had))) }))}
	hop = append(hop, r.each(func(l lane) []hostir.Node {
		return []hostir.Node{hostir.Wait(copyRef, arrived, l.from).Member(l.chunk(step))}
	})...)
	d.add(r.steps(append(hop, hostir.After(r.work, copyRef))...), r.steps(r.multiply()...), join(copySet, r.set))
	return nil
}

// gatherRing pulls from the rank before the shard that this rank got a step ago, and tells
// the next rank when it is there. Copies have one stream, or share the streams of the
// steps. Either way a step posts before it waits, so the ring can't hold itself.
func gatherRing(d *draft) error {
	r, err := d.ring(ready, read)
	if err != nil {
		return err
	}
	d.share("A")
	d.add(withPeers(r.each(func(l lane) []hostir.Node {
		return []hostir.Node{hostir.Post(mainRef, ready, l.next).Member(l.chunk(hostir.Const(1)))}
	})...))
	if !d.with.withStep {
		d.add(d.fork(copySet, r.set))
		d.add(d.ownShard(r.rows())...)
		d.add(r.steps(r.pull(copyRef, copyRef), hostir.After(r.work, copyRef)), r.steps(r.multiply()...),
			r.acknowledge(copyRef), join(copySet, r.set))
		return nil
	}
	d.fork(r.set)
	last := hostir.StreamAt(workName, poolIndex(d, hostir.Sub(step, one)))
	d.add(steps(hostir.Synchronize{Origin: forkAt, Streams: []hostir.StreamRef{r.work},
		On: []hostir.StreamRef{mainRef}}))
	d.add(d.ownShard(r.rows())...)
	d.add(r.steps(r.pull(r.work, last)), r.steps(append(r.multiply(), hostir.After(mainRef, r.work))...),
		r.acknowledge(mainRef))
	return nil
}

// pull is a step's exchange on a stream; last is that of the step before.
func (r ring) pull(s, last hostir.StreamRef) hostir.Node {
	get := func(src func(l lane) hostir.View) []hostir.Node {
		return r.each(func(l lane) []hostir.Node {
			return []hostir.Node{hostir.Wait(s, ready, l.from).Member(l.chunk(step)),
				hostir.Set(s, hostir.Chunk(r.g, l.chunk(l.got)), src(l))}
		})
	}
	others := r.each(func(l lane) []hostir.Node {
		return []hostir.Node{hostir.Post(last, ready, l.to).Member(l.chunk(step))}
	})
	if !s.Index.IsZero() {
		others = append(others, hostir.After(s, last))
	}
	return first(get(func(l lane) hostir.View { return l.of(l.from) }),
		append(others, get(func(l lane) hostir.View { return hostir.Remote(r.g, l.from, l.chunk(l.got)) })...))
}

// acknowledge says that the rank before has been read, and waits for the next.
func (r ring) acknowledge(s hostir.StreamRef) hostir.Node {
	return withPeers(append(
		r.each(func(l lane) []hostir.Node { return []hostir.Node{hostir.Post(s, read, l.prev).Member(l.member())} }),
		r.each(func(l lane) []hostir.Node {
			return []hostir.Node{hostir.Wait(s, read, l.next).Member(l.member())}
		})...)...)
}

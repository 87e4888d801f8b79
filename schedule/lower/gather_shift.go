package lower

import (
	"slices"

	"ovgen/schedule/hostir"
)

// gathering is a loop over the ranks' shards, in parts where they are cut: step i pulls a part
// of the shard of rank r+i and multiplies it. Each part has its own member of the semaphore
// that says it is ready. A rank's own shard is multiplied in place, all ranks meet once before
// the loop and once after it, copies have a stream of their own and all of them are enqueued
// before the products. Each of these can be left out, to measure its worth: nvFuser's
// program leaves out all.
type gathering struct {
	*draft
	shards
	g                                string // where shards are gathered
	batched, inPlace, apart, hoisted bool
	copies, work                     hostir.StreamRef
	set                              hostir.StreamSet
	first                            int64 // shard of the loop, counted from this rank's
}

func gatherShift(d *draft) error {
	g, err := d.gatherTensors()
	if err != nil {
		return err
	}
	d.share("A")
	c := d.with
	x := gathering{draft: d, shards: d.shards(), g: g, inPlace: !c.copied,
		batched: !c.inStep, apart: !c.withStep, hoisted: !c.startInLoop}
	if x.inPlace {
		x.first = 1
	}
	x.set, x.work = x.streams(d, x.first)
	x.copies = x.work
	if x.apart {
		x.copies = copyRef
	}
	d.semaphore(ready, count(x.n))
	d.semaphore(read, count(1))
	if x.batched {
		d.add(x.each(func(p hostir.Expr) hostir.Node {
			return hostir.Post(mainRef, ready, every).Member(p).
				Described("one batch, before the forks")
		})...)
	}
	d.add(x.start()...)
	if x.inPlace {
		d.add(d.ownShard(x.rows("C", hostir.Rank))...)
	}
	d.add(x.steps()...)
	x.end()
	return nil
}

// start declares the streams and forks the ones that work side by side from the beginning.
func (x gathering) start() []hostir.Node {
	d := x.draft
	if !x.apart {
		d.fork(x.set)
		if !x.hoisted {
			return nil
		}
		return []hostir.Node{x.loop(x.first, x.forked())}
	}
	fork := d.fork(copySet, x.set)
	if !x.hoisted {
		fork.Streams = fork.Streams[:1]
	}
	return []hostir.Node{fork}
}

// forked starts the streams of a step.
func (x gathering) forked() hostir.Synchronize {
	streams := []hostir.StreamRef{x.work}
	if x.apart {
		streams = []hostir.StreamRef{x.copies, x.work}
	}
	return hostir.Synchronize{Origin: forkAt, Streams: streams, On: []hostir.StreamRef{mainRef}}
}

// steps is the loop, or one of the exchanges and one of the products.
func (x gathering) steps() []hostir.Node {
	from := hostir.Var("from")
	exchange := x.exchange(from, hostir.Var("to"))
	products := x.multiplied(x.work, hostir.Chunk("C", x.chunk(from)), hostir.Chunk(x.g, x.chunk(from)))
	if x.apart {
		exchange = append(exchange, hostir.After(x.work, copyRef))
	}
	if !x.hoisted {
		exchange = append([]hostir.Node{x.forked()}, exchange...)
	}
	switch join := hostir.After(mainRef, x.work); {
	case x.apart && !x.hoisted:
		join.Origin = joinAt
		products = append(products, join)
	case !x.apart:
		join.Field = movesField
		products = append(products, join)
	}
	if x.hoisted && (x.apart || x.batched) {
		return []hostir.Node{x.loop(x.first, exchange...), x.loop(x.first, products...)}
	}
	return []hostir.Node{x.loop(x.first, append(exchange, products...)...)}
}

// exchange pulls a part of a shard, or copies this rank's where it goes with the others.
func (x gathering) exchange(from, to hostir.Expr) []hostir.Node {
	nodes := []hostir.Node{
		hostir.Wait(x.copies, ready, from).Member(x.part()),
		hostir.Set(x.copies, hostir.Chunk(x.g, x.chunk(from)), hostir.View{Buffer: "A", Peer: from, Index: x.part()}),
	}
	if !x.batched {
		first := hostir.Post(x.copies, ready, to).Described("get: send first, then recv")
		nodes = slices.Insert(nodes, 0, hostir.Node(first))
		nodes = append(nodes, hostir.Post(x.copies, read, from), hostir.Wait(x.copies, read, to))
	}
	if x.with.handlesInLoop {
		nodes = slices.Insert(nodes, 0, hostir.Node(hostir.Share{Buffers: []string{"A"}, To: to, From: from,
			Origin: hostir.Origin{Remark: "a cache hit after the first run", Field: "HandlesInLoop"}}))
	}
	if x.inPlace {
		return nodes
	}
	own := hostir.Set(x.copies, hostir.Chunk(x.g, from), hostir.Chunk("A", hostir.Const(0))).
		Described("i = 0: the own shard")
	return []hostir.Node{hostir.If{X: to, Y: hostir.Rank, Then: []hostir.Node{own}, Else: nodes}}
}

// end copies this rank's shard beside the others where the caller wants all, says that the
// peers' were read, and joins.
func (x gathering) end() {
	s := mainRef
	if x.apart {
		s = copyRef
	}
	if _, ok := x.draft.schedule.Tensor("Gathered"); ok && x.inPlace {
		x.add(hostir.Set(s, x.shards.rows("Gathered", hostir.Rank), hostir.Whole("A")).
			Described("the caller gets all shards").AskedBy("Tensors"))
	}
	if x.batched {
		x.add(hostir.Post(s, read, every).Described("A may be overwritten afterwards"),
			hostir.Wait(s, read, every))
	}
	if x.apart {
		end := join(copySet, x.set)
		if !x.hoisted {
			end = join(copySet)
		}
		x.add(end)
	}
}

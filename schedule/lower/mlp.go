package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Names of two layers in one program.
const (
	hidden  = "H"   // the first layer's result
	putName = "put" // the stream of partial results on their way, and of sums
)

// mlp is a gather with the first layer and a reduce-scatter with the second, in steps
// that share a stream: the rows of rank r+i are multiplied by the second weight as soon
// as the first is done with them, while other shards are still coming and other partial
// results already leaving. The own rows wait for nobody and fill the gaps.
func mlp(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	m := d.inBatches()
	d.share("A")
	a, c := d.buffer("A"), d.buffer("C")
	d.mlpBuffer(gathered, a.Tensor.Axes[1])
	d.mlpBuffer(hidden, d.buffer("B").Tensor.Axes[0])
	d.mlpBuffer(partial, c.Tensor.Axes[1])
	d.mlpBuffer(slots, c.Tensor.Axes[1])
	d.program.Semaphores = []hostir.Semaphore{{Name: ready}, {Name: free}, m.semaphore(arrived), {Name: read}}
	putRef := hostir.Stream(putName)
	putSet := hostir.StreamSet{Name: putName, High: true}
	set, work := workStreams(d), poolRef(d)
	peer := hostir.Var("peer")
	peerIs := hostir.Bind("peer", hostir.Ahead(step))
	q := hostir.Var(hostir.RankIndex)

	gather := []hostir.Node{peerIs}
	puts := []hostir.Node{peerIs, hostir.After(putRef, work)}
	var start []hostir.Node
	if m.n == 1 {
		gather = append(gather, hostir.Wait(copyRef, ready, peer))
		puts = append(puts, hostir.Wait(putRef, free, peer))
	} else {
		start = []hostir.Node{hostir.Wait(copyRef, ready, every), hostir.Wait(putRef, free, every)}
	}
	gather = append(gather,
		hostir.Set(copyRef, m.rows(gathered, peer), hostir.Remote("A", peer, m.part())),
		hostir.After(work, copyRef))
	puts = append(puts,
		hostir.Set(putRef, hostir.Remote(slots, peer, m.chunk(hostir.Rank)), m.rows(partial, peer)),
		hostir.Post(putRef, arrived, peer).Member(m.part()))

	all := []hostir.StreamSet{set}
	d.add(d.fork(copySet, putSet, set),
		hostir.Post(copyRef, ready, every).Described("beside the first product"),
		hostir.Post(copyRef, free, every).Described("the slots may be written"),
		hostir.After(putRef, copyRef))
	d.add(start...)
	d.add(m.inTurn(
		d.firstLayer(mainRef, m.rows(hidden, hostir.Rank), hostir.Chunk("A", m.part())).Described("own rows, in place"),
		steps(gather...),
		steps(peerIs,
			d.firstLayer(work, m.rows(hidden, peer), m.rows(gathered, peer)),
			secondLayer(work, m.rows(partial, peer), m.rows(hidden, peer))),
		hostir.Synchronize{Origin: hostir.Origin{Field: "Moves"}, Streams: []hostir.StreamRef{mainRef}, On: refs(all)},
		secondLayer(mainRef, m.rows(slots, hostir.Rank), m.rows(hidden, hostir.Rank)).
			Described("own rows last, straight into their slot"),
		steps(puts...),
		hostir.After(putRef, mainRef),
		hostir.Wait(putRef, arrived, every).Member(m.part()),
		hostir.Reduce(putRef, hostir.Chunk("C", m.part()), m.rows(slots, q).EachRank()).
			Described("once, in the order of ranks"))...)
	d.add(hostir.Post(copyRef, read, every).Described("A may be overwritten afterwards"),
		hostir.After(putRef, copyRef),
		hostir.Wait(putRef, read, every),
		join(putSet, set))
	return nil
}

// firstLayer is the product with B, its bias added, and then the function of each element.
func (d *draft) firstLayer(s hostir.StreamRef, dst, a hostir.View) hostir.Step {
	n := d.product(s, dst, a, "")
	n.Func = string(d.form.then)
	return n
}

// secondLayer is the product with B2.
func secondLayer(s hostir.StreamRef, dst, a hostir.View) hostir.Step {
	return hostir.Multiply(s, hostir.Linear, dst, a, hostir.Whole("B2"))
}

// mlpBuffer declares memory with all ranks' rows of A, and the given columns.
func (d *draft) mlpBuffer(name string, columns schedule.Axis) {
	rows := d.buffer("A").Tensor.Axes[0]
	rows.Outer = append([]schedule.Split{}, rows.Outer...)
	for i, s := range rows.Outer {
		if s.Kind == schedule.DeviceX {
			rows.Outer[i] = schedule.Split{Kind: schedule.Plain, Count: s.Count}
		}
	}
	t := schedule.Tensor{Name: name, Axes: []schedule.Axis{rows, columns}}
	d.memory(name, chunk(t), t.Axes...)
}

// inBatches is the batches that the rows of all ranks come in, one after the other.
type inBatches struct{ parts }

func (d *draft) inBatches() inBatches {
	return inBatches{parts{int64(max(d.chunks, 1)), "s"}}
}

// chunk indexes what has all ranks' rows of each batch, batch by batch.
func (m inBatches) chunk(rank hostir.Expr) hostir.Expr {
	if m.n == 1 {
		return rank
	}
	return hostir.Add(hostir.Mul(m.part(), hostir.Size), rank)
}

// rows are a rank's of the step's batch.
func (m inBatches) rows(buffer string, rank hostir.Expr) hostir.View {
	return hostir.Chunk(buffer, m.chunk(rank))
}

package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Names of two layers in one program.
const (
	hidden     = "H"   // the first layer's result
	putName    = "put" // the stream of partial results on their way, and of sums
	batchIndex = "s"
)

// mlp is a gather with the first layer and a reduce-scatter with the second, in steps
// that share a stream: the rows of rank r+i are multiplied by the second weight as soon
// as the first is done with them, while other shards are still coming and other partial
// results already leaving. The own rows wait for nobody and fill the gaps.
func mlp(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	m := d.mlpRows()
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
	if m.batches == 1 {
		gather = append(gather, hostir.Wait(copyRef, ready, peer))
		puts = append(puts, hostir.Wait(putRef, free, peer))
	} else {
		start = []hostir.Node{hostir.Wait(copyRef, ready, every), hostir.Wait(putRef, free, every)}
	}
	gather = append(gather, hostir.Set(copyRef, m.rows(gathered, peer), hostir.View{Buffer: "A", Peer: peer, Index: m.batch()}), hostir.After(work, copyRef))
	puts = append(puts,
		hostir.Set(putRef, hostir.View{Buffer: slots, Peer: peer, Index: m.chunk(hostir.Rank)}, m.rows(partial, peer)),
		m.member(hostir.Post(putRef, arrived, peer)))

	body := m.loop(
		d.firstLayer(mainRef, m.rows(hidden, hostir.Rank), hostir.View{Buffer: "A", Index: m.batch()}).Described("own rows, in place"),
		steps(gather...),
		steps(peerIs,
			d.firstLayer(work, m.rows(hidden, peer), m.rows(gathered, peer)),
			secondLayer(work, m.rows(partial, peer), m.rows(hidden, peer))),
		hostir.Synchronize{Origin: hostir.Origin{Field: "Pipeline.Own"}, Streams: []hostir.StreamRef{mainRef}, On: refs([]hostir.StreamSet{set})},
		secondLayer(mainRef, m.rows(slots, hostir.Rank), m.rows(hidden, hostir.Rank)).Described("own rows last, straight into their slot"),
		steps(puts...),
		hostir.After(putRef, mainRef),
		m.member(hostir.Wait(putRef, arrived, every)),
		hostir.Reduce(putRef, hostir.View{Buffer: "C", Index: m.batch()}, m.rows(slots, q).EachRank()).Described("once, in the order of ranks"))
	d.program.Body = append(append([]hostir.Node{d.fork(copySet, putSet, set), hostir.Post(copyRef, ready, every).Described("beside the first product"), hostir.Post(copyRef, free, every).Described("the slots may be written"), hostir.After(putRef, copyRef)}, start...), append(body,
		hostir.Post(copyRef, read, every).Described("A may be overwritten afterwards"),
		hostir.After(putRef, copyRef),
		hostir.Wait(putRef, read, every),
		join(putSet, set))...)
	return nil
}

// firstLayer is GELU of the product with B, its bias added.
func (d *draft) firstLayer(s hostir.StreamRef, dst, a hostir.View) hostir.Step {
	n := product(d.schedule, s, dst, a, "")
	n.Gelu = true
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

// mlpRows numbers the rows of batches and ranks. One batch has no index.
type mlpRows struct{ batches int }

func (d *draft) mlpRows() mlpRows { return mlpRows{max(d.schedule.Pipeline.Chunks, 1)} }

// batch indexes what holds this rank's rows of each.
func (m mlpRows) batch() hostir.Expr {
	if m.batches == 1 {
		return hostir.Expr{}
	}
	return hostir.Var(batchIndex)
}

// chunk indexes what holds all ranks' rows of each batch.
func (m mlpRows) chunk(rank hostir.Expr) hostir.Expr {
	if m.batches == 1 {
		return rank
	}
	return hostir.Add(hostir.Mul(m.batch(), hostir.Size), rank)
}

func (m mlpRows) rows(buffer string, rank hostir.Expr) hostir.View {
	return hostir.Chunk(buffer, m.chunk(rank))
}

func (m mlpRows) semaphore(name string) hostir.Semaphore {
	return parted{m.batches}.semaphore(name)
}

func (m mlpRows) member(n hostir.Step) hostir.Step {
	if m.batches == 1 {
		return n
	}
	return n.Member(m.batch())
}

// loop takes the batches in turn.
func (m mlpRows) loop(body ...hostir.Node) []hostir.Node {
	if m.batches == 1 {
		return body
	}
	return []hostir.Node{hostir.Loop(batchIndex, hostir.Const(0), hostir.Const(int64(m.batches)), body...)}
}

package ops

import (
	"slices"

	"ovgen/schedule/hostir"
)

// packets adds work with packets. The data for each peer are copied to this rank's part of the peer's landing, and the
// flags are posted and awaited. Then the sum, or the copies of a gather, read the parts that landed here and this
// rank's view. Tensors that are added to the sum come behind, and operands of its formulas last. Packets are their own
// flags, so the kernel takes them back to 0 once it has read them.
func (u *unroller) packets(at Op, n hostir.Step, x hostir.Sent, result hostir.View, of hostir.Packets) {
	u.sends(at, n, x)
	u.receives(at, n, x, result, of)
}

// spread adds a sum of packets that is spread. The sum is sent before formulas of it are made, and what these make
// behind that; then the kernel receives what it sent, each result in turn.
func (u *unroller) spread(at Op, n hostir.Step, x hostir.PacketSpread) {
	sum, spread := x.Steps(n)
	u.packets(at, sum, x.Sum.Sent, x.Sum.To, x.Sum)
	sends := func(sums bool) {
		for i, one := range spread {
			if x.OfSum(x.Spread[i]) == sums {
				u.sends(at, one, x.Spread[i].Sent)
			}
		}
	}
	sends(true)
	u.makes(at, n, x.Sum.Then)
	sends(false)
	for i, one := range spread {
		u.receives(at, one, x.Spread[i].Sent, x.Spread[i].To, hostir.Packets{})
	}
}

// rows adds formulas of rows whose results are sent as they are made. Then own rows are put in their places, and the
// formulas behind are applied to them; then the kernel receives what it sent, each result in turn, and applies these
// formulas to the rows of each other rank. An element of scales stands for a row, which a block has as a whole.
func (u *unroller) rows(at Op, n hostir.Step, x hostir.PacketRows) {
	u.makes(at, n, x.Make)
	steps := x.Steps(n)
	each := func(add func(i int)) {
		for i := range steps {
			from := len(u.list)
			add(i)
			for k, o := range u.list[from:] {
				if x.SendsScales(x.Spread[i]) && (o.Kind == Copy || o.Kind == Take) {
					u.list[from+k].Scaled = u.eval(x.Make.Columns)
				}
			}
		}
	}
	each(func(i int) { u.sends(at, steps[i], x.Spread[i].Sent) })
	each(func(i int) { // own rows
		own := x.Spread[i].Each
		own.Each = hostir.Range{}
		from, bytes := u.view(own)
		to, _ := u.view(hostir.Chunk(x.Spread[i].To.Buffer, hostir.Rank))
		one := at
		one.Kind = Copy
		one.use(Use{At: from, Bytes: bytes}, Use{Write: true, At: to, Bytes: bytes})
		u.add(one)
	})
	u.makes(at, n, x.Each(hostir.Rank))
	each(func(i int) {
		g := x.Spread[i]
		g.Each = hostir.Chunk(g.To.Buffer, hostir.Rank).EachRank() // in place already
		u.receives(at, steps[i], g.Sent, g.To, hostir.Packets{})
	})
	for ahead := range u.c.Ranks - 1 {
		u.makes(at, n, x.Each(hostir.Const(int64((u.c.Rank+1+ahead)%u.c.Ranks))))
	}
}

// sends copies the data for each peer to this rank's part of the peer's landing, and posts the flags.
func (u *unroller) sends(at Op, n hostir.Step, x hostir.Sent) {
	for _, p := range u.peers(hostir.Every) {
		var src Loc
		var bytes int64
		u.forRank(x.Each, p, func(l Loc, n int64) { src, bytes = l, n })
		dst, _ := u.view(hostir.Remote(x.Landing.Buffer, hostir.Const(int64(p)), hostir.Rank))
		send := at
		send.Kind = Copy
		send.use(Use{At: src, Bytes: bytes}, Use{Write: true, At: dst, Bytes: bytes})
		u.add(send)
	}
	for _, w := range n.Pre {
		if !w.Wait {
			u.signal(at, n, w)
		}
	}
}

// receives awaits the flags, and adds up or gathers the parts that landed.
func (u *unroller) receives(at Op, n hostir.Step, x hostir.Sent, result hostir.View, of hostir.Packets) {
	_, sums := n.Do.(hostir.Packets)
	var others []int // the other ranks, in the order in which they are awaited
	for q := range u.c.Ranks {
		if q != u.c.Rank {
			others = append(others, q)
		}
	}
	for _, w := range n.Pre {
		if w.Wait {
			u.signals(at, n, w, others)
		}
	}
	sum, take := at, at
	sum.Kind, take.Kind = Sum, Take
	dst, bytes := u.view(result)
	for q := range u.c.Ranks {
		var from Use
		from.At, from.Bytes = u.view(hostir.Chunk(x.Landing.Buffer, hostir.Const(int64(q))))
		if q == u.c.Rank {
			u.forRank(x.Each, q, func(l Loc, bytes int64) { from = Use{At: l, Bytes: bytes} })
		} else {
			take.use(Use{Write: true, At: from.At, Bytes: from.Bytes})
		}
		if sums {
			sum.use(from)
			continue
		}
		one := at
		one.Kind = Copy
		one.use(from, Use{Write: true, At: dst, Bytes: from.Bytes})
		if from.At != dst { // a sum's part is in place already
			u.add(one)
		}
		dst.Offset += from.Bytes
	}
	if sums {
		u.finish(&sum, of.Finish)
		for _, v := range slices.Concat(of.Added, of.Finish.Operands) {
			from, bytes := u.view(v)
			sum.use(Use{At: from, Bytes: bytes})
		}
		sum.use(Use{Write: true, At: dst, Bytes: bytes})
		u.add(sum)
	}
	if hostir.Takes(at.Kernel) && len(take.Uses) > 0 {
		u.add(take)
	}
	for _, w := range n.Post {
		u.signal(at, n, w)
	}
}

// forRank calls f with the view for one rank, where there is one view for each rank.
func (u *unroller) forRank(v hostir.View, rank int, f func(Loc, int64)) {
	u.each(v.Each.Index, hostir.Const(int64(rank)), hostir.Const(int64(rank+1)), func() { f(u.view(v)) })
}

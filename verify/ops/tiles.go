package ops

import (
	"slices"

	"ovgen/schedule/hostir"
)

// tiles adds a launch of a kernel of tiles: its post, a part for the tiles of each shard, and its last wait. The part
// of a peer's shard waits for the peer's post, pulls the shard, posts that it was read, and multiplies.
func (u *unroller) tiles(n hostir.Step, x hostir.Tiles) {
	at, counted := u.tiled(n)
	u.tileWords(counted, n, n.Pre, false)
	c, result := u.shardOf(x.To)
	gathered, shard := u.shardOf(x.Gathered)
	own, _ := u.view(x.Own)
	part := at
	part.Part = 1
	u.shardProduct(part, x.InOrder, c(u.c.Rank), Use{At: own, Bytes: shard}, result, x.B, x.Bias)
	u.each(x.Shards.Each.Index, x.Shards.Each.From, x.Shards.Each.To, func() {
		from, bytes := u.view(x.Shards)
		part.Part++
		to := gathered(from.Rank)
		u.shardWords(part, n.Pre, true, from.Rank)
		pull := part
		pull.Kind = Copy
		pull.use(Use{At: from, Bytes: bytes}, Use{Write: true, At: to, Bytes: shard})
		u.add(pull)
		u.shardWords(part, n.Post, false, from.Rank)
		u.shardProduct(part, x.InOrder, c(from.Rank), Use{At: to, Bytes: shard}, result, x.B, x.Bias)
	})
	u.tileWords(counted, n, n.Post, true)
}

// scatter adds a launch of a kernel that scatters: its post, a part for each peer's rows, and a part for this rank's
// rows. The part of a peer's rows waits for the peer's post, multiplies into the slot at the peer, and posts that the
// slot was written. The part of this rank's rows multiplies into the slot here, waits for all peers, and adds up the
// slots.
func (u *unroller) scatter(n hostir.Step, x hostir.Scatter) {
	at, counted := u.tiled(n)
	at.AtOnce, counted.AtOnce = true, true
	u.tileWords(counted, n, n.Pre, false)
	a, rows := u.shardOf(x.A)
	part := at
	u.each(x.Peers.Each.Index, x.Peers.Each.From, x.Peers.Each.To, func() {
		to, bytes := u.view(x.Peers)
		part.Part++
		u.shardWords(part, n.Pre, true, to.Rank)
		u.shardProduct(part, x.InOrder, to, Use{At: a(to.Rank), Bytes: rows}, bytes, x.B)
		u.shardWords(part, n.Post, false, to.Rank)
	})
	part.Part++
	own, bytes := u.view(x.Own)
	u.shardProduct(part, x.InOrder, own, Use{At: a(u.c.Rank), Bytes: rows}, bytes, x.B)
	counted.Part = part.Part
	u.tileWords(counted, n, n.Post, true)
	slot, _ := u.shardOf(x.Slots)
	part.Kind = Sum
	for rank := range u.c.Ranks {
		part.use(Use{At: slot(rank), Bytes: bytes})
	}
	u.finish(&part, x.Finish)
	for _, v := range slices.Concat(x.Added, x.Finish.Operands) {
		at, size := u.view(v)
		part.use(Use{At: at, Bytes: size})
	}
	c, _ := u.view(x.To)
	part.use(Use{Write: true, At: c, Bytes: bytes})
	u.add(part)
}

// tiled is an operation of a launch of tiles, first without and then with the word in which blocks count themselves.
func (u *unroller) tiled(n hostir.Step) (at, counted Op) {
	at = Op{Node: n, Step: u.step, Stream: u.stream(n.Stream), Kernel: n.By, ByBlocks: n.ByBlocks}
	counted = at
	counted.Count = Loc{Rank: u.c.Rank, Buffer: CountWord(at.Stream)}
	return at, counted
}

// tileWords adds the waits among words, or the posts.
func (u *unroller) tileWords(o Op, n hostir.Step, words []hostir.Word, wait bool) {
	for _, w := range words {
		if w.Wait == wait {
			u.signal(o, n, w)
		}
	}
}

// shardWords adds the waits for the owner of a shard, or the posts to it.
func (u *unroller) shardWords(o Op, words []hostir.Word, wait bool, owner int) {
	o.Kind = Signal
	for _, w := range words {
		if w.Wait != wait {
			continue
		}
		if own := u.word(u.c.Rank, w, owner); wait {
			o.Words = []Word{{At: own, Value: 1}, {Write: true, At: own, Value: 0}}
		} else {
			o.Words = []Word{{Write: true, Value: 1, At: u.word(owner, w, u.c.Rank)}}
		}
		u.add(o)
	}
}

// shardOf returns the place of each rank's part of a view that has one part for every rank, and the bytes of a part.
func (u *unroller) shardOf(v hostir.View) (at func(rank int) Loc, bytes int64) {
	all, whole := u.view(v)
	bytes = whole / int64(u.c.Ranks)
	return func(rank int) Loc {
		l := all
		l.Offset += int64(rank) * bytes
		return l
	}, bytes
}

// shardProduct adds the linear of a shard, perhaps in order, with a second operand and perhaps a bias.
func (u *unroller) shardProduct(o Op, inOrder bool, to Loc, a Use, bytes int64, others ...hostir.View) {
	o.Kind, o.Form, o.InOrder = Product, form(hostir.Linear, ""), inOrder
	o.Uses = []Use{a}
	for _, v := range some(others...) {
		at, size := u.view(v)
		o.Uses = append(o.Uses, Use{At: at, Bytes: size})
	}
	o.Uses = append(o.Uses, Use{Write: true, At: to, Bytes: bytes})
	u.add(o)
}

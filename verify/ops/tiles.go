package ops

import "ovgen/schedule/hostir"

// tiles adds a launch of a kernel of tiles: its post, a part for the tiles of each shard, and its last wait. The part
// of a peer's shard waits for the peer's post, pulls the shard, posts that it was read, and multiplies.
func (u *unroller) tiles(n hostir.Step) {
	at := Op{Node: n, Step: u.step, Stream: u.stream(n.Stream), Kernel: n.By}
	counted := at
	counted.Count = Loc{Rank: u.c.Rank, Buffer: "count[" + at.Stream + "]"}
	for _, w := range n.Pre {
		if !w.Wait {
			u.signal(counted, n, w)
		}
	}
	c, result := u.shardOf(n.Writes[0])
	gathered, shard := u.shardOf(n.Writes[1])
	own, _ := u.view(n.Reads[0])
	part := at
	part.Part = 1
	u.shardProduct(part, n, c(u.c.Rank), Use{At: own, Bytes: shard}, result)
	shards := n.Shards()
	u.each(shards.Each.Index, shards.Each.From, shards.Each.To, func() {
		from, bytes := u.view(shards)
		part.Part++
		to := gathered(from.Rank)
		u.shardWords(part, n.Pre, true, from.Rank)
		pull := part
		pull.Kind = Copy
		pull.use(Use{At: from, Bytes: bytes}, Use{Write: true, At: to, Bytes: shard})
		u.add(pull)
		u.shardWords(part, n.Post, false, from.Rank)
		u.shardProduct(part, n, c(from.Rank), Use{At: to, Bytes: shard}, result)
	})
	for _, w := range n.Post {
		if w.Wait {
			u.signal(counted, n, w)
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

// shardOf is where each rank's part of a view lies that has one for every rank, and its bytes.
func (u *unroller) shardOf(v hostir.View) (at func(rank int) Loc, bytes int64) {
	all, whole := u.view(v)
	bytes = whole / int64(u.c.Ranks)
	return func(rank int) Loc {
		l := all
		l.Offset += int64(rank) * bytes
		return l
	}, bytes
}

// shardProduct adds the product of a shard.
func (u *unroller) shardProduct(o Op, n hostir.Step, to Loc, a Use, bytes int64) {
	o.Kind, o.Form = Product, form(n)
	o.Uses = []Use{a}
	for _, v := range n.Reads[2:] {
		at, size := u.view(v)
		o.Uses = append(o.Uses, Use{At: at, Bytes: size})
	}
	o.Uses = append(o.Uses, Use{Write: true, At: to, Bytes: bytes})
	u.add(o)
}

package tables

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

// mapped is the address at the beginning of a tensor map.
func (x *launched) mapped(which int) uint64 {
	return x.p[x.At.Tiled.Maps+which*len(driver.TensorMap{})]
}

// tiles lists the touches of a launch, part by part: its beginning, the tiles of each shard, and its end.
func (x *launched) tiles() {
	t, p := x.At.Tiled, x.p
	if p[x.At.Block] == 0 {
		return
	}
	m := x.memory()
	ranks, rank := p[t.Ranks], p[t.Rank]
	x.begins(ranks)
	for ahead := range ranks {
		x.number++
		of := (rank + ahead) % ranks
		a := x.mapped(kernels.OwnMap)
		if ahead > 0 {
			i := int(ahead) - 1
			a = p[t.Gathered] + of*uint64(m.shard)
			x.word(touch.Wait, p[x.At.Lists[kernels.PreWait].At+i], 1)
			m.use(touch.Read, p[t.Shards+i], m.shard)
			m.use(touch.Write, a, m.shard)
			x.word(touch.Write, p[x.At.Lists[kernels.PreWait].At+i], 0)
			x.word(touch.Post, p[x.At.Lists[kernels.PostPost].At+i], 1)
		}
		m.operands(a)
		m.bias()
		m.use(touch.Write, x.mapped(kernels.ResultMap)+of*uint64(m.result), m.result)
	}
	x.number++
	if ranks > 1 {
		x.word(touch.Write, p[x.At.Block], 0)
		x.each(touch.Wait, 1, kernels.PostWait)
		x.each(touch.Write, 0, kernels.PostWait)
		x.noted()
	}
}

// begins adds the beginning of a launch of tiles: each block counts itself, and the first block posts.
func (x *launched) begins(ranks uint64) {
	if ranks > 1 {
		x.word(touch.Write, x.p[x.At.Block], 0)
		x.each(touch.Post, 1, kernels.PrePost)
	}
}

// tiledMemory adds the memory that tiles touch. A shard is the rows of one rank, and a result is the result of these
// rows.
type tiledMemory struct {
	*launched
	shard, result int64 // bytes
}

func (x *launched) memory() tiledMemory {
	t, p := x.At.Tiled, x.p
	return tiledMemory{x, int64(p[t.Rows]*p[t.K]) * x.Type.Size(), int64(p[t.Rows]*p[t.N]) * x.Type.Size()}
}

func (m tiledMemory) use(kind touch.Kind, at uint64, bytes int64) {
	m.add(touch.Touch{Kind: kind, At: driver.Ptr(at), Bytes: bytes, Type: m.Type})
}

// operands adds the reads of a shard and of the weights.
func (m tiledMemory) operands(a uint64) {
	t, p := m.At.Tiled, m.p
	m.use(touch.Read, a, m.shard)
	m.use(touch.Read, m.mapped(kernels.WeightsMap), int64(p[t.N]*p[t.K])*m.Type.Size())
}

func (m tiledMemory) bias() {
	if m.Bias {
		m.use(touch.Read, m.p[m.At.Tiled.Bias], int64(m.p[m.At.Tiled.N])*m.Type.Size())
	}
}

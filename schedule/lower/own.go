package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// own takes step 0 out of the loop: the own shard is multiplied first, straight
// from A, and the loop keeps the exchanges.
func own(d *draft) error {
	if d.placed || d.schedule.Pipeline.OwnShard != schedule.InPlace {
		return nil
	}
	d.loop(func(l hostir.For) []hostir.Node {
		first := products(d.schedule, hostir.Origin{Remark: "own shard, in place", Field: "Pipeline.OwnShard"}, slice("C", hostir.Rank), whole("A"))
		l.From = hostir.Const(1)
		l.Body = hostir.Map(l.Body, func(n hostir.Node) []hostir.Node {
			if branch, ok := n.(hostir.If); ok {
				return branch.Else
			}
			return []hostir.Node{n}
		})
		return append(append(first, l), gatheredOwn(d)...)
	})
	return nil
}

// gatheredOwn copies the own shard beside the others, behind them, where the caller
// wants all.
func gatheredOwn(d *draft) []hostir.Node {
	if _, ok := d.schedule.Tensor("Gathered"); !ok {
		return nil
	}
	return list[hostir.Node](hostir.Set{Origin: hostir.Origin{Remark: "the caller gets all shards", Field: "Tensors"}, Dst: slice("Gathered", hostir.Rank), Src: whole("A")})
}

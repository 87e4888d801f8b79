package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// own takes step 0 out of the loop: the own shard is multiplied first, straight
// from A, and the loop keeps the exchanges.
func own(d *draft) error {
	if d.schedule.Pipeline.OwnShard != schedule.InPlace {
		return nil
	}
	d.loop(func(l hostir.For) []hostir.Node {
		first := product(d.schedule, slice("C", hostir.Rank), whole("A"))
		first = remark(first, hostir.Origin{Remark: "own shard, in place", Field: "Pipeline.OwnShard"})
		l.From = hostir.Const(1)
		l.Body = hostir.Map(l.Body, func(n hostir.Node) []hostir.Node {
			if branch, ok := n.(hostir.If); ok {
				return branch.Else
			}
			return []hostir.Node{n}
		})
		return []hostir.Node{first, l}
	})
	return nil
}

// remark gives a product an origin.
func remark(n hostir.Node, o hostir.Origin) hostir.Node {
	switch n := n.(type) {
	case hostir.Matmul:
		n.Origin = o
		return n
	case hostir.Linear:
		n.Origin = o
		return n
	}
	return n
}

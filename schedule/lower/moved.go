package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// What an exchange, a broadcast or a permutation brings in a chain, columns that are gathered, and a gradient lie in
// memory of the plan, of which an operation of their own makes functions.

// comesOtherwise says that an operation is functions of what an edge brings otherwise than all rows from their owners.
func (d *draft) comesOtherwise(o schedule.Op) bool {
	list, err := edges.All(d.original)
	return err == nil && len(d.original.Ops) > 1 && slices.ContainsFunc(list, func(e edges.Edge) bool {
		return e.User >= 0 && d.original.Ops[e.User].Out == o.Out && (e.Kind != edges.AllGather || e.From.Columns())
	})
}

// comesFirst declares the memory in which an operation has its result without functions.
func (d *draft) comesFirst(o schedule.Op, name string) {
	t := d.tensor(o.Out)
	from := d.tensor(o.In[0])
	t.Name, t.Type, t.Scale, t.Within = name, from.Type, from.Scale, ""
	d.schedule.Tensors = append(slices.Clone(d.schedule.Tensors), t)
}

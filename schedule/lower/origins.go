package lower

import (
	"cmp"

	"ovgen/schedule/hostir"
)

// origins names the schedule's field for each node without one.
func origins(d *draft) error {
	d.program.Body = hostir.Map(d.program.Body, func(n hostir.Node) []hostir.Node {
		switch x := n.(type) {
		case hostir.Step:
			field := map[hostir.Work]string{hostir.Product: "Ops", hostir.Sum: "Moves"}[x.Do]
			x.Field = cmp.Or(x.Field, field, "Moves")
			n = x
		case hostir.Synchronize:
			x.Field = cmp.Or(x.Field, "WithStep")
			n = x
		}
		return []hostir.Node{n}
	})
	return nil
}

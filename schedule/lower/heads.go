package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// heads asks of the shape that heads are whole on each rank.
func (w *writer) heads() {
	for _, o := range w.schedule.Ops {
		for _, f := range o.Then {
			nodes := schedule.Nodes(w.schedule.Tree(f))
			turns := slices.ContainsFunc(nodes, func(n schedule.Node) bool {
				return n.Do == schedule.DoTurn || n.Do == schedule.DoPairs
			})
			for _, width := range schedule.Heads(nodes) {
				check := hostir.Divide{Extent: w.columnsOf(o.Out).Extent, Heads: width}
				if w.chain.at[o.Out].Columns() {
					check.By = schedule.D
				}
				if width == schedule.W && turns {
					w.asks(hostir.Divide{Extent: width, By: "2"})
				}
				w.asks(check)
			}
		}
	}
}

// asks has the program check a shape, once.
func (w *writer) asks(c hostir.Divide) {
	if !slices.Contains(w.program.Checks, c) {
		w.program.Checks = append(w.program.Checks, c)
	}
}

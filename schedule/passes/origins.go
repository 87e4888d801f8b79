package passes

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// origins names the schedule's field for each node without one, and the way of each option that a writer named.
func origins(p *hostir.Program) error {
	named := func(n hostir.Node) []hostir.Node {
		switch x := n.(type) {
		case hostir.Step:
			x.Field = optionAt(p, x.MoveOf, cmp.Or(x.Field, x.Asks()))
			n = x
		case hostir.Synchronize:
			x.Field = optionAt(p, "", cmp.Or(x.Field, hostir.MovesField))
			n = x
		case hostir.Share:
			x.Field = optionAt(p, "", x.Field)
			n = x
		}
		return []hostir.Node{n}
	}
	p.Setup = hostir.Map(p.Setup, named)
	p.Body = hostir.Map(p.Body, named)
	return nil
}

// optionAt returns the path of an option, or of the option that decides something. If several ways have the option, it
// is the path in that of the node's move, or in the one that sets it; if none or several do, it is the path of the
// moves.
func optionAt(p *hostir.Program, move, option string) string {
	if slices.Contains([]string{hostir.OpsField, hostir.MovesField, hostir.MeshField}, option) {
		return option
	}
	var has, own, sets []string
	for i, e := range p.Edges {
		for _, o := range schedule.Options(e.Way) {
			if o.Field != option && o.Decides != option {
				continue
			}
			has = append(has, optionOf(p, i, o.Field))
			if move != "" && e.Steps == move {
				own = append(own, has[len(has)-1])
			}
			if !o.Zero {
				sets = append(sets, has[len(has)-1])
			}
		}
	}
	for _, list := range [][]string{has, own, sets} {
		if len(list) == 1 {
			return list[0]
		}
	}
	return hostir.MovesField
}

// optionOf is the path of an option of an edge's way. A schedule that names no ways has those of the program; of one
// that names some, the others are left to its moves.
func optionOf(p *hostir.Program, i int, option string) string {
	named := func(e hostir.Edge) bool { return e.Path != "" }
	switch path := p.Edges[i].Path; {
	case path != "":
		return path + "." + option
	case slices.ContainsFunc(p.Edges, named):
		return hostir.MovesField
	}
	return fmt.Sprintf("Moves[%d].Way.%s", i, option)
}

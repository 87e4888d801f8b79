package passes

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// asking has the field that asks for each work where its writer names none.
var asking = map[hostir.Kind]string{
	hostir.ProductKind: "Ops",
	hostir.ApplyKind:   "Ops",
	hostir.CallKind:    "Ops",

	hostir.Step{}.Kind():         hostir.MovesField,
	hostir.CopyKind:              hostir.MovesField,
	hostir.GatherKind:            hostir.MovesField,
	hostir.Tiles{}.Kind():        hostir.MovesField,
	hostir.Scatter{}.Kind():      hostir.MovesField,
	hostir.Packets{}.Kind():      hostir.MovesField,
	hostir.PacketGather{}.Kind(): hostir.MovesField,
	hostir.PacketSpread{}.Kind(): hostir.MovesField,
	hostir.PacketRows{}.Kind():   hostir.MovesField,
	hostir.SumKind:               hostir.MovesField,
	hostir.AllGather:             hostir.MovesField,
	hostir.ReduceScatter:         hostir.MovesField,
	hostir.AllReduce:             hostir.MovesField,
	hostir.AllToAll:              hostir.MovesField,
	hostir.Exchange:              "Mesh",
}

// origins names the schedule's field for each node without one, and the way of each option that a writer named.
func origins(p *hostir.Program) (err error) {
	named := func(n hostir.Node) []hostir.Node {
		switch x := n.(type) {
		case hostir.Step:
			field, known := asking[x.Kind()]
			if !known {
				err = fmt.Errorf("name the field that asks for %s: no field is known", x.Kind())
			}
			x.Field = optionAt(p, cmp.Or(x.Field, field))
			n = x
		case hostir.Synchronize:
			x.Field = optionAt(p, cmp.Or(x.Field, hostir.MovesField))
			n = x
		case hostir.Share:
			x.Field = optionAt(p, x.Field)
			n = x
		}
		return []hostir.Node{n}
	}
	p.Setup = hostir.Map(p.Setup, named)
	p.Body = hostir.Map(p.Body, named)
	return err
}

// optionAt returns the path of an option. If several ways have the option, it is the path in the one that sets it; if
// none or several do, it is the path of the moves.
func optionAt(p *hostir.Program, option string) string {
	if option == "Ops" || option == hostir.MovesField || option == "Mesh" {
		return option
	}
	var has, sets []string
	for i, e := range p.Edges {
		for _, o := range schedule.Options(e.Way) {
			if o.Field != option {
				continue
			}
			has = append(has, optionOf(p, i, option))
			if !o.Zero {
				sets = append(sets, has[len(has)-1])
			}
		}
	}
	for _, list := range [][]string{has, sets} {
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

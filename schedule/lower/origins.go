package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Fields of the schedule that ask for work.
const (
	opsField   = "Ops"
	movesField = "Moves"
	meshField  = "Mesh"
)

// asking has the field that asks for each work where its writer names none.
var asking = map[hostir.Kind]string{
	hostir.ProductKind: opsField,
	hostir.ApplyKind:   opsField,
	hostir.CallKind:    opsField,

	hostir.Step{}.Kind():         movesField,
	hostir.CopyKind:              movesField,
	hostir.GatherKind:            movesField,
	hostir.Tiles{}.Kind():        movesField,
	hostir.Scatter{}.Kind():      movesField,
	hostir.Packets{}.Kind():      movesField,
	hostir.PacketGather{}.Kind(): movesField,
	hostir.PacketSpread{}.Kind(): movesField,
	hostir.SumKind:               movesField,
	hostir.AllGather:             movesField,
	hostir.ReduceScatter:         movesField,
	hostir.AllReduce:             movesField,
	hostir.AllToAll:              movesField,
	hostir.Exchange:              meshField,
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
			x.Field = optionAt(p, cmp.Or(x.Field, "WithStep"))
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

// optionAt is the path of an option: of the one way that has it or, of several, of the one that sets it; else the
// moves.
func optionAt(p *hostir.Program, option string) string {
	if option == opsField || option == movesField || option == meshField {
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
	return movesField
}

// optionOf is the path of an option of an edge's way. A schedule that names no ways has those of the program; of one
// that names some, the others are left to its moves.
func optionOf(p *hostir.Program, i int, option string) string {
	named := func(e hostir.Edge) bool { return e.Path != "" }
	switch path := p.Edges[i].Path; {
	case path != "":
		return path + "." + option
	case slices.ContainsFunc(p.Edges, named):
		return movesField
	}
	return fmt.Sprintf("Moves[%d].Way.%s", i, option)
}

package old

import (
	"cmp"
	"fmt"

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
	hostir.SumKind:               movesField,
	hostir.AllGather:             movesField,
	hostir.ReduceScatter:         movesField,
	hostir.AllReduce:             movesField,
	hostir.AllToAll:              movesField,
	hostir.Exchange:              meshField,
}

// origins names the schedule's field for each node without one, and the move of each option that a writer named.
func origins(d *draft) (err error) {
	named := func(n hostir.Node) []hostir.Node {
		switch x := n.(type) {
		case hostir.Step:
			field, known := asking[x.Kind()]
			if !known {
				err = fmt.Errorf("name the field that asks for %s: no field is known", x.Kind())
			}
			x.Field = d.field(cmp.Or(x.Field, field))
			n = x
		case hostir.Synchronize:
			x.Field = d.field(cmp.Or(x.Field, "WithStep"))
			n = x
		case hostir.Share:
			x.Field = d.field(x.Field)
			n = x
		}
		return []hostir.Node{n}
	}
	d.program.Setup = hostir.Map(d.program.Setup, named)
	d.program.Body = hostir.Map(d.program.Body, named)
	return err
}

// field is the path of an option: of the one way that has it or, of several, of the one that sets it; else the moves.
func (d *draft) field(option string) string {
	if option == opsField || option == movesField || option == meshField {
		return option
	}
	var has, sets []string
	for i, m := range d.original.Moves {
		for _, o := range schedule.Options(m.Way) {
			if o.Field != option {
				continue
			}
			has = append(has, fmt.Sprintf("Moves[%d].Way.%s", i, option))
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

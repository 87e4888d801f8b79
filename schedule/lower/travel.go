package lower

import (
	"slices"

	"ovgen/schedule"
)

// leg is one of the communications that a program does.
type leg struct {
	need
	stage   *stage
	operand string
	move    string // that its steps have; a sum that is gathered as it is has two
	beside  []schedule.Op
	by      *lowering // that writes it
}

// travel finds the communications between the stages, and whether some way does each of them.
func travel(d *writer) error {
	d.legs = d.travels()
	if i := slices.IndexFunc(d.Original.Ops, schedule.Op.Batched); i >= 0 && d.Batches == 0 && len(d.legs) > 0 {
		return d.ApartFrom(i, d.legs[0].String()) // they do not travel one by one
	}
	switch {
	case !d.Original.OverHosts():
		return nil
	case len(d.legs) == 0:
		return refused("Mesh", oneHost, "nothing travels, between hosts or on one: %s", d.Schedule.Ops[0])
	}
	for _, l := range d.legs {
		if !l.need.served() {
			way := betweenHosts()
			why := whyNot(l.need, way)
			l.need.hosts = false
			return refused("Mesh", oneHost, "no pass does the %s of %s over hosts by %s: %s", l.need, l.operand,
				schedule.WayName(way), why)
		}
	}
	return nil
}

const oneHost = "leave the mesh out, for ranks of one host"

func (d *writer) travelling() (names []string) {
	for _, l := range d.legs {
		names = append(names, d.DeclaredAs(l.operand))
	}
	return names
}

// travels are the communications of a chain, one for each time that a stage communicates.
func (d *writer) travels() (list []leg) {
	for _, s := range d.stages {
		add := func(n need, operand, move string) {
			beside := s.Ops
			if s.GathersColumns() {
				beside = d.Schedule.Ops[s.Moved.Maker : s.Moved.Maker+1]
			}
			n.hosts = d.Original.OverHosts()
			list = append(list, leg{need: n, stage: s, operand: operand, move: move, beside: beside})
		}
		if s.Gathers {
			add(d.arrives(s), s.Of(), s.here())
		}
		if s.Sums != "" {
			add(d.leavesBy(s), s.Sums, s.Sums)
		}
	}
	return list
}

// productTexts are the products among operations, as they are declared.
func (d *writer) productTexts(ops []schedule.Op) (list []string) {
	for _, o := range ops {
		if declared, _ := d.Original.Maker(d.DeclaredAs(o.Out)); len(o.In) == 2 {
			list = append(list, declared.String())
		}
	}
	return list
}

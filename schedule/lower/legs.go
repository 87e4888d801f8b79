package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/stages"
)

// need is a communication, and the names below are those by which rows of ways call some.
type need = stages.Need

var gather, reduce, reduceAll = stages.Gather, stages.Reduce, stages.ReduceAll

const (
	ofRows     = stages.OfRows
	ofColumns  = stages.OfColumns
	ofBalanced = stages.OfBalanced
	ofCounted  = stages.OfCounted
	ofBatches  = stages.OfBatches
	ofSteps    = stages.OfSteps
	ofOperand  = stages.OfOperand
	ofGradient = stages.OfGradient
)

// leg is one of the communications that a program does.
type leg struct {
	need
	stage   *stage
	operand string
	move    string    // that its steps have; a sum that is gathered as it is has two
	name    string    // with which those of its memory and words begin beside others: the operand, or the move
	chosen  int       // the number of the move whose way it takes; -1: the schedule leaves it open
	by      *lowering // that writes it
}

// travel finds the communications between the stages, and whether some way does each of them.
func travel(w *writer) error {
	w.legs = w.travels()
	if i := slices.IndexFunc(w.Original.Ops, schedule.Op.Batched); i >= 0 && w.Batches == 0 && len(w.legs) > 0 {
		return w.ApartFrom(i, w.legs[0].String()) // they do not travel one by one
	}
	switch {
	case !w.Original.OverHosts():
		return nil
	case len(w.legs) == 0:
		return refused("Mesh", oneHost, "nothing travels, between hosts or on one: %s", w.Schedule.Ops[0])
	}
	for _, l := range w.legs {
		if !served(l.need) {
			way := betweenHosts()
			why := whyNot(l.need, way)
			l.Hosts = false
			return refused("Mesh", oneHost, "no pass does the %s of %s over hosts by %s: %s", l.need, l.operand,
				schedule.WayName(way), why)
		}
	}
	return nil
}

const oneHost = "leave the mesh out, for ranks of one host"

func (w *writer) travelling() (names []string) {
	for _, l := range w.legs {
		names = append(names, w.DeclaredAs(l.operand))
	}
	return names
}

// travels are the communications of a chain, one for each time that a stage communicates.
func (w *writer) travels() (list []leg) {
	for _, s := range w.stages {
		if s.Gathers {
			list = append(list, leg{need: w.Comes(s.Stage), stage: s, operand: s.Of(), move: s.here()})
		}
		if s.Sums != "" {
			list = append(list, leg{need: w.Leaves(s.Stage), stage: s, operand: s.Sums, move: s.Sums})
		}
	}
	for i := range list {
		l := &list[i]
		l.name = l.operand
		if slices.ContainsFunc(list, func(x leg) bool { // the tensor travels twice, or another name begins with it
			return x.operand == l.operand && x.move != l.move ||
				x.move == l.operand && x.move != x.operand && x.name == x.move
		}) {
			l.name = l.move
		}
	}
	return list
}

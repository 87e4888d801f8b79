package lower

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// choose takes the schedule's way for each tensor that travels, or the usual one.
func choose(w *writer) error {
	of, instead := w.travelling(), "leave it out: nothing travels"
	if len(of) > 0 {
		instead = "move " + strings.Join(of, " or ")
	}
	for i, m := range w.Original.Moves {
		if !slices.Contains(of, m.Of) {
			return refused(fmt.Sprintf("Moves[%d].Of", i), instead+w.Besides(m.Of), "%s does not travel", m.Of)
		}
	}
	var moves []schedule.Move
	taken := map[int]bool{}
	w.program.Edges = make([]hostir.Edge, len(w.legs))
	for i, l := range w.legs {
		open := w.usual(l)
		w.edge = &w.program.Edges[i]
		*w.edge = hostir.Edge{Of: of[i], Kind: l.need.String(), Data: l.Data(), Way: open, Default: open, Steps: l.move,
			Products: w.ProductTexts(w.Beside(l.stage.Stage))}
		l.chosen = w.move(l, of[i])
		if l.chosen >= 0 {
			taken[l.chosen] = true
			w.edge.Path = fmt.Sprintf("Moves[%d].Way", l.chosen)
			w.edge.Way = cmp.Or(w.Original.Moves[l.chosen].Way, w.edge.Way)
		}
		w.edge.Carrier = hostir.CarrierOf(w.edge.Way)
		x, err := w.lowering(l, w.edge.Way)
		if err != nil {
			return err
		}
		l.by = x
		w.legs[i] = l
		if err := x.write(w, l.stage, w.edge.Way); err != nil {
			return err
		}
		moves = append(moves, schedule.Move{Of: of[i], Way: w.edge.Way})
	}
	if err := cmp.Or(w.CountedProducts(), w.padsAll()); err != nil {
		return err
	}
	for i, m := range w.Original.Moves {
		if !taken[i] {
			return refused(fmt.Sprintf("Moves[%d].Of", i), "leave one out", "%s is moved twice in one direction", m.Of)
		}
	}
	w.program.Schedule.Moves = moves
	return nil
}

// usual is the way of a leg where the schedule leaves it open: not one that takes some rows before others where their
// scales do not lie together.
func (w *writer) usual(l leg) schedule.Way {
	list, apart := doing(l.need), w.ScalesApart(l.stage.Stage, l.Of)
	x := list[max(0, slices.IndexFunc(list, func(x lowering) bool { return !apart || !x.is(ofSomeRows) }))]
	if x.usual != nil {
		return x.usual(w, l)
	}
	return x.way
}

// move is the number of the move whose way a leg takes; -1: the schedule leaves it open. Of a sum that is gathered as
// it is, each of two moves is of one leg; one move is of the leg that takes its way. Where functions are between, the
// gather has a move whose way is not for sums, or the second one that is.
func (w *writer) move(l leg, of string) int {
	open, taken := -1, false
	legs := slices.DeleteFunc(slices.Clone(w.legs), func(x leg) bool { return w.DeclaredAs(x.operand) != of })
	apart := legs[0].operand != legs[len(legs)-1].operand
	for i, m := range w.Original.Moves {
		sums := m.Of == of && (m.Way == nil || schedule.Sums(m.Way)) &&
			(!taken || m.Way != nil && !schedule.Travels(m.Way))
		taken = taken || sums
		switch {
		case m.Of != of, apart && sums != (l.operand == legs[0].operand):
		case m.Way == nil || l.doneBy(m.Way):
			return i
		case !slices.ContainsFunc(legs, func(x leg) bool { return x.doneBy(m.Way) }):
			open = i // its way is refused here
		}
	}
	return open
}

// doneBy says that some lowering of the communication is by a way of that type. A sum that is gathered as it is has two
// communications of one name.
func (l leg) doneBy(way schedule.Way) bool {
	return slices.ContainsFunc(doing(l.need), func(x lowering) bool { return x.takes(way) })
}

// lowering finds the lowering of a communication by a way.
func (w *writer) lowering(of leg, way schedule.Way) (*lowering, error) {
	why := whyNot(of.need, way)
	for _, l := range doing(of.need) {
		switch {
		case !l.takes(way):
		case l.not == nil || !l.not(of.stage):
			return &l, l.lacking(w, of)
		default:
			why = l.why
		}
	}
	if err := w.sumsCodes(of, way); err != nil {
		return nil, err
	}
	hint := leaveOut
	if names := w.others(of, w.path()); len(names) > 0 {
		hint = "use " + strings.Join(names, ", ") + ", or " + leaveOut
	}
	hint += w.orOneHost()
	if i := slices.IndexFunc(w.Original.Ops, func(o schedule.Op) bool {
		return o.Name() == schedule.CopyWord && o.In[0] == of.operand
	}); i >= 0 {
		hint += fmt.Sprintf("; or place %s otherwise", w.Original.Ops[i].Out)
	}
	return nil, refused(w.path(), hint, "no pass does the %s of %s%s by %s: %s", of.need, of.operand,
		w.LiesAs(of.operand), schedule.WayName(way), why)
}

// refuse refuses a field for a leg, with the ways that serve instead in its hint.
func (w *writer) refuse(of leg, at, hint, format string, args ...any) error {
	return refused(at, w.orUse(hint, of, at), format, args...)
}

// refusal refuses an option of the way that is being lowered.
func (w *writer) refusal(field, hint, format string, args ...any) error {
	return refused(w.path()+"."+field, hint, format, args...)
}

// lacking refuses what the schedule asks for and the lowering has not: the caller's buffer for the gathered operand, a
// tensor within another, a sum of codes or in fp32, a gather of rows that were moved on, or an option.
func (l *lowering) lacking(w *writer, of leg) (err error) {
	s, name := of.stage, schedule.WayName(l.way)
	fetched := l.Kind == edges.AllGather && w.Fetched(s.Input)
	ofRanks := l.Kind == edges.AllGather && l.Of != ofOperand && !l.Bare || l.Kind == edges.AllToAll
	within := slices.IndexFunc(w.Schedule.Tensors, func(t schedule.Tensor) bool {
		return t.Within != "" && !w.EndsWithin(t)
	})
	_, callers := w.Original.Tensor(s.Into)
	if callers && (fetched || ofRanks && !l.is(intoCallers)) {
		err = refused(w.PathOf(s.Into), w.orUse(leaveOut, of, w.PathOf(s.Into))+w.orOneHost(),
			"%s gathers into memory of the plan only", name)
	}
	if apart := overwrites | copiesOwn; within >= 0 && l.is(apart) {
		path, why := fmt.Sprintf("Tensors[%d].Within", within), "ranks write where others still read"
		if l.is(copiesOwn) {
			why = "a kernel copies own rows to their place, too"
		}
		err = errors.Join(err, w.refuse(of, path, leaveOut, "by %s %s", name, why))
	}
	if !l.is(ofCodes) {
		err = errors.Join(err, w.sumsCodes(of, l.way))
	}
	if s.Moved.Kind == edges.AllGather && s.Moved.From.Shift != 0 && !l.is(ofMoved) {
		err = errors.Join(err, w.refuse(of, w.path(), "leave out the shift of "+s.Input+w.orOneHost(),
			"%s puts the rows of each rank at the place of its number, and those of %s were moved on", name, s.Input))
	}
	if t := w.Tensor(s.Input); l.is(ofRowScales) && t.Scale != "" && !w.Tensor(t.Scale).OfRows() {
		err = errors.Join(err, w.refuse(of, w.path(), "give each row of "+t.Name+" a scale",
			"%s brings rows with their scales, and %s has others", name, t.Name))
	}
	sumsFP32 := of.move == s.Sums && w.Widens(s.Stage)
	if sumsFP32 && l.is(rounds) && !w.Schedule.HasFinish(s.Last()) { // else functions are made of the rounded sums
		err = cmp.Or(err, w.refuse(of, w.path(), leaveOut,
			"%s rounds the sums of %s to the type of the plan", name, s.Sums))
	}
	w.edge.Carrier.Fused = w.edge.Carrier.Fused && !sumsFP32 // a kernel of its own makes them, between posts and waits
	for i, o := range schedule.Options(w.edge.Way) {
		x, lacks := l.lacked(o)
		asked := !o.Zero && (x.ofFP32 || o.Value != schedule.Options(l.way)[i].Value)
		if lacks && asked && x.why != "" && (sumsFP32 || !x.ofFP32) {
			why := strings.ReplaceAll(x.why, "%s", w.edge.Of)
			err = cmp.Or(err, w.refusal(o.Field, cmp.Or(x.hint, leaveOut), "%s", why))
		}
	}
	return err
}

// sumsCodes refuses a sum of codes by a way that adds as terms travel, or whose kernels read no scales.
func (w *writer) sumsCodes(of leg, way schedule.Way) error {
	if of.move != of.stage.Sums || !w.Coded(of.stage.Stage) {
		return nil
	}
	hint := w.orUse(leaveOut, of, w.path())
	if w.Original.OverHosts() {
		hint = oneHost
	}
	return refused(w.path(), hint, "no kernel of %s reads the scales of %s", schedule.WayName(way), of.stage.Given)
}

func (w *writer) orOneHost() string {
	if w.Original.OverHosts() {
		return "; or leave out Mesh, for ranks of one host"
	}
	return ""
}

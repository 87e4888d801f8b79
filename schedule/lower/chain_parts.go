package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Own rows that functions make, such as codes of eight bits, may be pulled in parts. Then they are made in these parts:
// one travels while the next one is made, and while what came before goes through the stage.

// makerOf is the stage that makes the own rows of another one in the parts that travel; nil: they are there already.
func (w *writer) makerOf(s *stage) *stage {
	i := slices.Index(w.chain.stages, s) - 1
	if i < 0 || s.cut < 2 || !s.asMade || !s.pulls() {
		return nil
	}
	from := w.chain.stages[i]
	functions := !slices.ContainsFunc(from.ops, func(o schedule.Op) bool { return kind(o.Name()) != copied })
	if !from.own || from.calls || !functions || w.through[from] || from.ops[len(from.ops)-1].Out != s.input {
		return nil
	}
	return from
}

// cutMade cuts the memory of own rows that are made in parts.
func (w *writer) cutMade(s *stage) {
	from := w.makerOf(s)
	if from == nil {
		return
	}
	for _, name := range append(w.eachRows(from), from.input) {
		if w.fine[name] == 0 {
			w.finer(name, s.input, int64(s.cut))
		}
	}
}

// shiftEach takes a part of the rows of rank r+i in round i, and has streams as if all parts were in one loop.
func (w *writer) shiftEach(n parts) turns {
	t := w.shift(1)
	t.pieces[0].part, t.set = n.part(), w.shift(n.n).set
	t.work = hostir.StreamAt(workName, poolIndex(w.draft, n.chunk(step)))
	return t
}

// partsMade are rounds that make a part of own rows and post that peers may read it. Then the parts of all peers come,
// on a stream that waits for the post: peers may wait for it in the same place.
func (w *writer) partsMade(from, s *stage, n parts, post hostir.Node, each turns, on hostir.StreamRef) turns {
	w.through[from] = true
	t := turns{index: n.index, first: hostir.Const(0), end: hostir.Const(n.n), set: each.set}
	for _, made := range w.operations(mainRef, from, from.ops, piece{}, hostir.Whole(from.here())) {
		t.names = append(t.names, w.ofPart(made, n.part()))
	}
	t.names = append(t.names, hostir.MovesOf(s.here(),
		post.(hostir.Step).Member(n.part()).Described("peers may read a part of "+s.input))...)
	behind := hostir.MovesOf(s.here(), hostir.After(on, mainRef))
	if on.Set == workName {
		each.bring = append(behind, each.bring...)
	} else {
		t.names = append(t.names, behind...)
	}
	t.then = []turns{each}
	return t
}

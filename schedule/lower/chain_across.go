package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// Across a sum: a rank's own rows go in parts from a sum of partial results through the functions behind it, such as a
// norm, into the next products. While kernels sum and norm one part, two kinds of products run: the next products of
// the part before, and the partial results of the part after. Rows of peers travel whole, as they do without parts.

// junction is a sum whose own rows go on in parts.
type junction struct {
	sum  *stage // the one that ends with it
	own  *stage // the stage that follows on own rows alone; nil: none does
	next *stage // the stage that gathers its result
}

// junctionAt is the one at the end of a stage, if its rows can go on in parts.
func (w *writer) junctionAt(i int) (j junction, ok bool) {
	j.sum = w.stages[i]
	if i+1 == len(w.stages) {
		return j, false
	}
	j.next = w.stages[i+1]
	if j.next.MakesOwn() && i+2 < len(w.stages) {
		j.own, j.next = j.next, w.stages[i+2]
	}
	from := j.sum.Sums
	if j.own != nil {
		from = j.own.Last().Out
	}
	return j, j.next.pulls() && j.next.Input == from && (j.own == nil || j.own.Input == j.sum.Sums)
}

// junctions finds by stage the junctions whose parts a schedule asks for, and cuts the memory of own rows there.
func (w *writer) junctions() error {
	parts := int64(0)
	for i, s := range w.stages {
		if s.parts.n < 2 || w.partsOf(s).n > 1 {
			continue
		}
		j, ok := w.junctionAt(i)
		switch {
		case !ok && j.next != nil && j.next.Gathers && !j.next.pulls():
			return refused(s.parts.at, "leave it out, or gather "+j.next.Input+" by "+usually(w.Comes(j.next.Stage)),
				"%s comes at once, and rows go on in parts where they come one rank's after another's", j.next.Input)
		case !ok:
			return refused(s.parts.at, leaveOut, "no stage gathers what the own rows of %s lead to", s.Sums)
		case j.next.AddsShares():
			return refused(s.parts.at, leaveOut, "a gradient takes all own rows of %s at once", j.next.Input)
		case j.next.summing != nil:
			return refused(s.parts.at, "leave it out, or sum "+j.next.Sums+" by "+usually(w.Leaves(j.next.Stage)),
				"the partial results of %s meet at once, and those of its own rows are made part by part", j.next.Sums)
		case parts > 0 && parts != s.parts.n:
			return refused(s.parts.at, "write the same for each of its sums",
				"all sums of a chain go on in as many parts")
		}
		parts = s.parts.n
		s.across, j.next.through = &j, true
		e := w.edgeOf(s.Sums)
		e.Parts = int(parts)
		for _, o := range j.across() {
			e.Across = append(e.Across, o.String())
		}
		if j.own != nil {
			j.own.through = true
		}
		const problem = "%s goes on in %d parts, and other rows of its stage are in %d"
		if err := w.cutAlike(s.Sums, s.parts, problem, w.memoryOf(j)); err != nil {
			return err
		}
	}
	return nil
}

// across are the operations that take own rows from a sum on before another communication.
func (j junction) across() []schedule.Op {
	if j.own == nil {
		return j.next.BeforeSum()
	}
	return slices.Concat(j.own.Ops, j.next.BeforeSum())
}

// memoryOf is the memory of own rows that steps of a junction work on, a part at a time.
func (w *writer) memoryOf(j junction) []string {
	last := j.sum.Last()
	names := []string{w.MadeIn(last.In[0]), w.named(slots, j.sum.Sums), j.sum.Sums}
	for _, t := range j.sum.Terms {
		names = append(names, t.In[0])
	}
	return slices.Concat(names, stages.InRows(last.Then), w.InRowsOf(j.across()...))
}

// ofPart cuts steps to one part of their own rows.
func (w *writer) ofPart(part hostir.Expr, steps []hostir.Node) (nodes []hostir.Node) {
	for _, n := range steps {
		nodes = append(nodes, n.With(hostir.Parts{View: func(_ string, v hostir.View) hostir.View {
			if w.fine[v.Buffer] == 0 {
				return v
			}
			index := part
			if !v.Index.IsZero() {
				index = hostir.Add(v.Index, index)
			}
			v.Index, v.Count = index, hostir.Expr{}
			return v
		}}))
	}
	return nodes
}

// goOn takes the rank's rows of a sum, in parts, to the products of the next stage. last is the product that makes
// their partial results, and taken takes partial results of peers' rows away.
func (w *writer) goOn(j junction, last, taken []hostir.Node, leaves departure) []hostir.Node {
	of := j.sum.Sums
	behind := w.operations(mainRef, j.next, j.next.BeforeSum(), w.own(j.next))
	nodes := append(w.ofPart(zero, last), hostir.MovesOf(of, taken...)...)
	for i := range j.sum.parts.n {
		part := hostir.Const(i)
		if i > 0 { // main waits for the part before, ahead of the next puts
			nodes = append(append(nodes, w.ofPart(part, last)...), hostir.After(mainRef, putRef))
		}
		added := []hostir.Node{hostir.After(putRef, mainRef)}
		if i == 0 {
			added = append(added, leaves.came...)
		}
		added = append(added, w.ofPart(part, []hostir.Node{leaves.sum})...)
		if nodes = append(nodes, hostir.MovesOf(of, added...)...); j.own != nil {
			nodes = append(nodes, w.ofPart(part, w.operations(putRef, j.own, j.own.Ops, piece{}))...)
		}
		if i > 0 {
			nodes = append(nodes, w.ofPart(hostir.Const(i-1), behind)...)
		}
	}
	nodes = append(nodes, hostir.MovesOf(j.next.here(), w.begin(j.next, putRef)...)...)
	return append(append(nodes, hostir.After(mainRef, putRef)), w.ofPart(hostir.Const(j.sum.parts.n-1), behind)...)
}

// Own rows that functions make, such as codes of eight bits, may be pulled in parts. Then they are made in these parts:
// one travels while the next one is made, and while what came before goes through the stage.

// makerOf is the stage that makes the own rows of another one in the parts that travel; nil: they are there already.
func (w *writer) makerOf(s *stage) *stage {
	i := slices.Index(w.stages, s) - 1
	if i < 0 || s.cut.n < 2 || !s.asMade {
		return nil
	}
	from := w.stages[i]
	if !from.MakesOwn() || from.through || from.Last().Out != s.Input {
		return nil
	}
	return from
}

// partsMade are rounds that make a part of own rows and post that peers may read it. Then the parts of all peers come,
// on a stream that waits for the post: peers may wait for it in the same place.
func (w *writer) partsMade(from, s *stage, word string, each turns, on hostir.StreamRef) turns {
	from.through = true
	n := s.cut
	t := turns{index: n.index, first: zero, end: hostir.Const(n.n), set: each.set,
		names: w.ofPart(n.part(), w.operations(mainRef, from, from.Ops, piece{}))}
	t.names = append(t.names, hostir.MovesOf(s.here(),
		hostir.Post(mainRef, word, every).Member(n.part()).Described("peers may read a part of "+s.Input))...)
	behind := hostir.MovesOf(s.here(), hostir.After(on, mainRef))
	if on.Set == workName {
		each.bring = append(behind, each.bring...)
	} else {
		t.names = append(t.names, behind...)
	}
	t.then = []turns{each}
	return t
}

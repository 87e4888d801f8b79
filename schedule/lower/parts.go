package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// within takes nodes of a round for each batch, if they take some of one.
func (w *writer) within(nodes ...hostir.Node) []hostir.Node {
	some := false
	hostir.Steps(nodes, func(s hostir.Step) {
		from, to := s.Views()
		for _, v := range append(from, to...) {
			v.Index.Vars(func(name string) { some = some || name == w.batches.index })
		}
	})
	if some && w.Order == stages.BatchesInRound {
		return w.batches.inTurn(nodes...)
	}
	return nodes
}

// batchesIf are the batches where something holds, else none.
func (w *writer) batchesIf(so bool) parts {
	if so {
		return w.batches
	}
	return parts{}
}

// inRound are the batches of a stage's sums that each round makes, one after the other.
func (w *writer) inRound(s *stage) parts {
	return w.batchesIf(w.Order == stages.BatchesInRound && w.InBatches(w.RowExtent(s.Sums)))
}

// leaveIn are the batches that a stage's sums leave in: all ranks get the sums of all at once.
func (w *writer) leaveIn(s *stage) parts {
	return w.batchesIf(!s.ToAll && w.InBatches(w.RowExtent(s.Sums)))
}

// batchesOf are the batches that a number of rows is in.
func (w *writer) batchesOf(rows schedule.Extent) parts { return w.batchesIf(w.InBatches(rows)) }

// apart are the batches that come one after the other, each in rounds of its own, with words of its own.
func (w *writer) apart() parts { return w.batchesIf(w.batches.n > 1 && w.Order == stages.BatchByBatch) }

// opened waits for words that peers post once a run: ahead of all batches that come one after the other, or each where
// it is needed.
func (w *writer) opened(a *arrival, ahead []hostir.Node, each ...hostir.Node) []hostir.Node {
	if w.apart().n == 0 {
		return each
	}
	a.begin = ahead
	return nil
}

// shard is this rank's piece of what comes to a stage, of the step's batch.
func (w *writer) shard(s *stage, part hostir.Expr) hostir.View {
	if batches := w.comeIn(s); batches.n > 1 {
		part = batches.part()
	}
	return hostir.Chunk(s.Input, part)
}

// comeIn are the batches of what comes to a stage. A rank's columns are of all rows.
func (w *writer) comeIn(s *stage) parts {
	return w.batchesIf(!s.Moved.From.Columns() && w.InBatches(w.RowExtent(s.Input)))
}

// comesWhole says that no operation takes a part of what comes to a stage alone.
func (w *writer) comesWhole(s *stage) bool {
	_, counted := w.Multiplied(s.Stage)
	return len(s.Ops) == 0 || s.AddsShares() || counted || s.Moved.From.Columns()
}

// comesTo is where a piece of what comes to a stage is put: columns that all ranks get lie apart there.
func (w *writer) comesTo(s *stage, p piece) hostir.View {
	if s.ColumnsCome() {
		return hostir.Columns(s.here(), p.rank)
	}
	return w.at(s.here(), p)
}

// parts counts the parts of a rank's rows, 0 and 1 for one, names their index, and says which field asks for them.
type parts struct {
	n         int64
	index, at string
}

// inParts are the parts that an option of the way that is being lowered asks for.
func (w *writer) inParts(n int, index, option string) parts {
	if n < 2 {
		return parts{}
	}
	return parts{int64(n), index, w.path() + "." + option}
}

// wholeParts is the fact of ways that bring balanced rows.
const wholeParts = "parts of %s differ by rows, and parts of these would again"

// inBatches is the fact of ways that bring rows of batches, and sumsInBatches that of ways that sum these.
const (
	inBatches     = "the rows of %s come in batches"
	sumsInBatches = "the terms of %s are made in batches"
)

// part is the one that a step takes, absent where there is one only.
func (p parts) part() hostir.Expr { return p.numbered(hostir.Var(p.index)) }

// numbered is a part by its number, absent where there is one only.
func (p parts) numbered(part hostir.Expr) hostir.Expr {
	if p.n < 2 {
		return hostir.Expr{}
	}
	return part
}

// chunk is the index of the step's part of a rank where all ranks' parts are, rank by rank.
func (p parts) chunk(rank hostir.Expr) hostir.Expr { return p.chunkOf(rank, hostir.Var(p.index)) }

// chunkOf is the index of a part of a rank.
func (p parts) chunkOf(rank, part hostir.Expr) hostir.Expr {
	if p.n < 2 {
		return rank
	}
	return hostir.Add(hostir.Mul(rank, hostir.Const(p.n)), part)
}

// all counts the parts of a number of ranks or hosts.
func (p parts) all(n hostir.Expr) hostir.Expr { return hostir.Times(n, hostir.Const(max(p.n, 1))) }

// turn is the round of a step that takes a part.
func (p parts) turn() hostir.Expr {
	if p.n < 2 {
		return step
	}
	return hostir.Div(step, hostir.Const(p.n))
}

// ofStep binds the index of the part that a step takes.
func (p parts) ofStep() []hostir.Node {
	if p.n < 2 {
		return nil
	}
	return []hostir.Node{hostir.Bind(p.index, hostir.Mod(step, hostir.Const(p.n)))}
}

// members are those of a word with one for each part.
func (p parts) members() hostir.Expr { return p.numbered(hostir.Const(p.n)) }

// posts tell every peer a word of each part.
func (p parts) posts(word string) (nodes []hostir.Node) {
	for i := range max(p.n, 1) {
		nodes = append(nodes, hostir.Post(mainRef, word, every).Member(p.numbered(hostir.Const(i))))
	}
	return nodes
}

// partByPart are rounds in which the parts take their turns.
func (p parts) partByPart(t turns) turns {
	if p.n < 2 {
		return t
	}
	each := t
	each.index, each.first, each.end = p.index, zero, hostir.Const(p.n)
	return turns{index: t.index, first: t.first, end: t.end, then: []turns{each}}
}

// inTurn takes the parts one after the other.
func (p parts) inTurn(body ...hostir.Node) []hostir.Node {
	if p.n < 2 {
		return body
	}
	return []hostir.Node{hostir.Loop(p.index, zero, hostir.Const(p.n), body...)}
}

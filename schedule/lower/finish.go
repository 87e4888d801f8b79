package lower

import (
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// finish is what a stage's sum takes beside partial results: tensors that are further terms, and the formulas behind
// them. rows is the view of the result that the sum belongs to.
func (w *writer) finish(s *stage, rows hostir.View) (terms []hostir.View, finish hostir.Finish) {
	at := func(tensor string) hostir.View {
		v := rows
		if n := w.fine[tensor]; n > 0 && w.fine[rows.Buffer] == 0 && !rows.Index.IsZero() { // a rank's, in parts
			v.Index, v.Count = hostir.Mul(rows.Index, hostir.Const(n)), hostir.Const(n)
		}
		v.Buffer = tensor
		return v
	}
	o := s.last()
	added, behind := w.schedule.Summed(o)
	for _, tensor := range added {
		terms = append(terms, at(tensor))
	}
	list, word := w.trees(behind)
	var operands []hostir.View
	for _, x := range schedule.Operands(schedule.Nodes(list...)) {
		v := hostir.Whole(x.Tensor)
		if x.Lies != schedule.ByColumn {
			v = at(x.Tensor)
		}
		operands = append(operands, v)
	}
	return terms, hostir.FinishBy(word, list, w.columns(o), operands...)
}

func (s *stage) last() schedule.Op { return s.ops[len(s.ops)-1] }

// columns is the number of columns of a row of an operation's result.
func (w *writer) columns(o schedule.Op) hostir.Expr {
	columns := hostir.Extent(w.columnsOf(o.Out).Extent)
	declared, _ := w.original.Maker(o.Out)
	if block := w.original.Block(declared); block > 0 {
		return hostir.Const(block)
	} else if w.chain.at[o.Out].Columns() {
		return hostir.Div(columns, hostir.Size)
	}
	return columns
}

// trees are functions as trees, and their words.
func (d *draft) trees(functions []schedule.Func) (list []schedule.Expr, word string) {
	var words []string
	for _, f := range functions {
		list, words = append(list, d.original.Tree(f)), append(words, f.Name())
	}
	return list, strings.Join(words, " and ")
}

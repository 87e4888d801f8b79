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
	o := s.Last()
	added, behind := w.Schedule.Summed(o)
	for _, tensor := range added {
		terms = append(terms, at(tensor))
	}
	list, word := w.trees(behind)
	return terms, hostir.FinishBy(word, list, w.columns(o), beside(list, at)...)
}

// beside are the operands of functions: those by rows as at has them, and all of others.
func beside(list []schedule.Expr, at func(tensor string) hostir.View) (operands []hostir.View) {
	for _, x := range schedule.Operands(schedule.Nodes(list...)) {
		if x.Lies == schedule.ByColumn || x.Lies == schedule.ByHead {
			operands = append(operands, hostir.Whole(x.Tensor))
		} else {
			operands = append(operands, at(x.Tensor))
		}
	}
	return operands
}

// columns is the number of columns of a row of an operation's result.
func (w *writer) columns(o schedule.Op) hostir.Expr {
	columns := hostir.Extent(w.ColumnsOf(o.Out).Extent)
	declared, _ := w.Original.Maker(o.Out)
	if block := w.Original.Block(declared); block > 0 {
		return hostir.Const(block)
	} else if w.At[o.Out].Columns() {
		return hostir.Div(columns, hostir.Size)
	}
	return columns
}

// trees are functions as trees, and their words.
func (w *writer) trees(functions []schedule.Func) (list []schedule.Expr, word string) {
	var words []string
	for _, f := range functions {
		list, words = append(list, w.Original.Tree(f)), append(words, f.Name())
	}
	return list, strings.Join(words, " and ")
}

// make is what the formulas behind an operation make of x, on a piece of the rows, if there are any.
func (w *writer) make(on hostir.StreamRef, o schedule.Op, p piece, x hostir.View) []hostir.Node {
	own := w.Schedule.Own(o)
	if len(own) == 0 {
		return nil
	}
	list, word := w.trees(own)
	at := func(tensor string) hostir.View { return w.at(tensor, p) }
	return []hostir.Node{hostir.MakeOf(on, word, list, w.columns(o), w.at(o.Out, p), x, beside(list, at)...).
		Applying(w.functionsOf(o, true))}
}

// functionsOf lists the functions of an operation that its own kernel makes, if own, or else the functions that the
// product or sum before them applies to its result.
func (w *writer) functionsOf(o schedule.Op, own bool) (list []hostir.Function) {
	from := w.Schedule.MadeFrom(o)
	for j, f := range o.Then {
		if op, then := w.Origin(o, j); !f.Joins && own == (j >= from) {
			list = append(list, hostir.Function{Op: op, Then: then})
		}
	}
	return list
}

package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

func (w *writer) called(on hostir.StreamRef, o schedule.Op, l hostir.Launch) hostir.Step {
	var operands []hostir.View
	for _, name := range o.In {
		operands = append(operands, w.whole(name))
	}
	return hostir.CallOf(on, o.Call, l, w.whole(w.MadeIn(o.Out)), operands...)
}

// sumOf is a sum of partial results and of the tensors that are added to it, with the formulas behind; rows is the view
// of the result that it belongs to, wherever it is made.
func (w *writer) sumOf(on hostir.StreamRef, s *stage, dst, rows hostir.View, terms ...hostir.View) hostir.Step {
	added, finish := w.finish(s, rows)
	sum := hostir.Reduce(on, dst, append(terms, added...)...).Finishing(finish)
	if w.Widens(s.Stage) {
		sum.By = hostir.WidenKernel
	}
	return sum.Applying(w.functionsOf(s.Last(), false))
}

// allRows are those of all ranks, which lie one rank's after another's where Bind says how many each has.
func (w *writer) allRows(s *stage) piece {
	if counted := !w.program.At(s.here()).Counts.IsZero(); counted && !s.Own || w.Uneven(s.Sums) {
		return piece{rank: zero, ranks: hostir.Size}
	}
	return piece{}
}

// operations are operations of a stage on a piece of the rows.
func (w *writer) operations(on hostir.StreamRef, s *stage, ops []schedule.Op, p piece) []hostir.Node {
	before, made := w.partials(on, s, ops, p)
	return append(before, made...)
}

// partials are the products that make the partial result of a piece, and the operations before them. Where no product
// makes it there are none.
func (w *writer) partials(on hostir.StreamRef, s *stage, ops []schedule.Op, p piece) (before, made []hostir.Node) {
	if s.whole {
		return nil, nil // one product has made them
	}
	for _, o := range ops {
		if nodes := w.operation(on, s, o, p); o.Out == s.Sums && s.Given == "" {
			made = nodes
		} else {
			before = append(before, nodes...)
		}
	}
	return before, made
}

// operation is an operation of a stage on a piece, with the functions that a kernel of their own makes.
func (w *writer) operation(on hostir.StreamRef, s *stage, o schedule.Op, p piece) (nodes []hostir.Node) {
	x, given := p.from, s.Given != "" && o.Out == s.Sums
	switch {
	case x.Buffer != "":
	case p.rank.IsZero():
		x = hostir.Whole(s.here())
	default:
		x = w.at(s.here(), p)
	}
	switch {
	case o.Call != "":
		return []hostir.Node{w.called(on, o, s.launch)}
	case s.AddsShares():
		return w.shareOf(on, s, p, x)
	case given: // codes of a piece of what a product has made, or the input is; none where the caller gives these
		if o = s.Summand; !s.Bare() {
			x = w.at(o.In[0], p)
		}
	case o.In[0] != s.Input:
		x = w.at(o.In[0], p)
	}
	if o.Multiplies() {
		if !s.inKernel(o) {
			nodes = w.products(on, s, o, p, x)
		}
		x = w.at(o.Out, p)
	}
	return append(nodes, w.make(on, o, p, x)...)
}

// product is the product of an operation, with a bias and the functions that it applies.
func (w *writer) product(on hostir.StreamRef, o schedule.Op, p piece, x hostir.View) hostir.Step {
	with, made := w.Schedule.With(o), w.at(o.Out, p)
	if o.Name() == schedule.GradientWord { // whose rows are columns of an operand
		made = hostir.Whole(w.MadeIn(o.Out))
	}
	n := hostir.Multiply(on, indices[o.Name()], made, x, w.weight(o), hostir.Whole(with.Bias()))
	for _, f := range with.Then {
		if e := f.Epilogue(); e != "" {
			n = n.Then(e)
		}
	}
	return n.Applying(w.functionsOf(o, false))
}

// partialOf is a product whose result is partial: biases and functions are applied to the sum. Columns that are summed
// are rows of the weight.
func (w *writer) partialOf(on hostir.StreamRef, s *stage, o schedule.Op, p piece, x hostir.View) hostir.Step {
	weight := w.weight(o)
	if s.Left.Columns() {
		x, weight = hostir.Whole(x.Buffer), hostir.Chunk(weight.Buffer, p.rank)
	}
	return hostir.Multiply(on, indices[o.Name()], w.at(w.named(partial, s.Sums), p), x, weight)
}

// whole is all of a buffer: of rows by counts the parts of all ranks, if it has these.
func (w *writer) whole(buffer string) hostir.View {
	if w.program.At(buffer).Counts.Equal(hostir.Var(countChunk)) {
		return hostir.Chunks(buffer, zero, hostir.Size)
	}
	return hostir.Whole(buffer)
}

// rowsAt are a rank's rows of the step's batch in a buffer of all ranks' rows.
func (w *writer) rowsAt(buffer string, rank hostir.Expr) hostir.View {
	return w.at(buffer, ofRank(rank))
}

// at is a piece of the step's batch in a buffer of all ranks' rows.
func (w *writer) at(buffer string, p piece) hostir.View {
	if buffer = w.MadeIn(buffer); p.rank.IsZero() {
		return hostir.Whole(buffer)
	}
	fine := parts{n: w.fine[buffer]}
	axes := w.program.At(buffer).Tensor.Axes
	if fine.n == 0 && w.Order != stages.BatchInRound && len(axes) > 0 { // where each batch has rows of all ranks
		if batches := w.batchesOf(axes[0].Extent); batches.n > 1 {
			p.rank = hostir.Add(hostir.Mul(batches.part(), hostir.Size), p.rank)
		}
	}
	first := fine.all(p.rank)
	switch {
	case !p.ranks.IsZero():
		return hostir.Chunks(buffer, first, fine.all(p.ranks))
	case fine.n > 0 && !p.part.IsZero():
		return hostir.Chunk(buffer, hostir.Add(first, p.part))
	case fine.n > 0:
		return hostir.Chunks(buffer, first, hostir.Const(fine.n))
	}
	return hostir.View{Buffer: buffer, Index: p.rank, Count: p.ranks}
}

// Partial results of several products meet in one sum: each rank makes the first of them, and the others add to it.

// products returns the product of an operation. Where it adds to other products, these come first.
func (w *writer) products(on hostir.StreamRef, s *stage, o schedule.Op, p piece, x hostir.View) (nodes []hostir.Node) {
	if o.Out != s.Sums {
		return w.onto(o, w.product(on, o, p, x))
	}
	for _, t := range s.Terms {
		term := w.partialOf(on, s, t, p, w.at(t.In[0], p))
		if len(nodes) > 0 {
			term = term.Accumulated()
		}
		nodes = append(nodes, term)
	}
	product := w.partialOf(on, s, o, p, x)
	if len(nodes) == 0 {
		return append(nodes, product)
	}
	var adds []hostir.Function // that add partial results
	for _, t := range append(slices.Clone(w.Schedule.Terms(o)), o) {
		for j, f := range t.Then {
			if op, then := w.Origin(t, j); f.Joins {
				adds = append(adds, hostir.Function{Op: op, Then: then})
			}
		}
	}
	return append(nodes, product.Accumulated().Described("to what is there").Applying(adds))
}

// into are products with another result.
func into(to hostir.View, products []hostir.Node) []hostir.Node {
	return hostir.ChangeSteps(products, func(s hostir.Step) hostir.Step { return s.Into(to) })
}

// weight is all that a rank has of the weight of a product: its own, or all that it has fetched.
func (w *writer) weight(o schedule.Op) hostir.View {
	if w.Fetched(o.In[1]) {
		return hostir.Whole(o.In[1] + hostir.GatheredSuffix)
	}
	return w.whole(o.In[1])
}

// shareOf adds the share of a rank's rows to the sum, the own rows first, or makes the sum of all rows.
func (w *writer) shareOf(on hostir.StreamRef, s *stage, p piece, rows hostir.View) []hostir.Node {
	o, views := s.Ops[0], map[string]hostir.View{s.Input: rows, s.Whole(): w.at(s.Whole(), p)}
	product := hostir.Multiply(on, hostir.Gradient, hostir.Whole(o.Out), views[o.In[0]], views[o.In[1]])
	if p.rank.IsZero() || p.rank.Equal(hostir.Rank) {
		return w.onto(o, product.Applying(w.functionsOf(o, false)))
	}
	return []hostir.Node{product.Accumulated()}
}

// onto is the first product of an operation. Where that is a gradient and adds a tensor, it adds to that.
func (w *writer) onto(o schedule.Op, product hostir.Step) []hostir.Node {
	added := w.Schedule.With(o).Added()
	if added == "" {
		return []hostir.Node{product}
	}
	before := hostir.Set(product.Stream, product.Result(), w.at(added, piece{}))
	return []hostir.Node{before, product.Accumulated()}
}

// indices are those of products in programs.
var indices = map[string]string{schedule.LinearWord: hostir.Linear, schedule.MatmulWord: hostir.Matmul,
	schedule.GradientWord: hostir.Gradient}

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
	list, word := w.Trees(behind)
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

// make is what the formulas behind an operation make of x, on a piece of the rows, if there are any.
func (w *writer) make(on hostir.StreamRef, o schedule.Op, p piece, x hostir.View) []hostir.Node {
	own := w.Schedule.Own(o)
	if len(own) == 0 {
		return nil
	}
	list, word := w.Trees(own)
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

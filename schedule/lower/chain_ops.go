package lower

import (
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// sumOf is a sum of partial results and of the tensors that are added to it, with the formulas behind; rows is the view
// of the result that it belongs to, wherever it is made.
func (w *writer) sumOf(on hostir.StreamRef, s *stage, dst, rows hostir.View, terms ...hostir.View) hostir.Step {
	added, finish := w.finish(s, rows)
	sum := hostir.Reduce(on, dst, append(terms, added...)...)
	sum = hostir.Changed(sum, func(x *hostir.Sum) { x.Finish = finish })
	if w.widens(s) {
		sum.By = hostir.WidenKernel
	}
	return sum.Applying(w.functionsOf(s.last(), false))
}

// onAll does the operations of a stage on all rows at once.
func (w *writer) onAll(s *stage) []hostir.Node {
	if counted := !w.program.At(s.here()).Counts.IsZero(); counted && !s.own || w.uneven(s.sums) {
		all := piece{rank: hostir.Const(0), ranks: hostir.Size}
		return w.operations(mainRef, s, s.ops, all, w.at(s.here(), all))
	}
	return w.operations(mainRef, s, s.ops, piece{}, hostir.Whole(s.here()))
}

// operations are operations of a stage on a piece of the rows; here is where the stage's input has them.
func (w *writer) operations(on hostir.StreamRef, s *stage, ops []schedule.Op, p piece,
	here hostir.View) (nodes []hostir.Node) {
	for _, o := range ops {
		x, given := here, s.given != "" && o.Out == s.sums
		switch {
		case o.Call != "":
			nodes = append(nodes, w.called(on, o, s.launch))
			continue
		case given && s.summand.Out == "": // the caller has done it
			continue
		case s.addsShares():
			nodes = append(nodes, w.shareOf(on, s, p, here)...)
			continue
		case given: // codes of a piece of what a product has made, or the input is
			if o = s.summand; !s.bare() {
				x = w.at(o.In[0], p)
			}
		case o.In[0] != s.input:
			x = w.at(o.In[0], p)
		}
		if multiplies(o) {
			if !s.inKernel(o) {
				nodes = append(nodes, w.products(on, s, o, p, x)...)
			}
			x = w.at(o.Out, p)
		}
		nodes = append(nodes, w.make(on, o, p, x)...)
	}
	return nodes
}

// product is the product of an operation. Biases and functions of partial results are applied to their sum.
func (w *writer) product(on hostir.StreamRef, s *stage, o schedule.Op, p piece, x hostir.View) hostir.Step {
	if o.Out == s.sums {
		return w.partialOf(on, s, o, p, x)
	}
	with := w.schedule.With(o)
	var bias []hostir.View
	if with.Bias() != "" {
		bias = []hostir.View{hostir.Whole(with.Bias())}
	}
	n := hostir.Multiply(on, indices[kind(o.Name())], w.at(o.Out, p), x, w.weight(o), bias...)
	for _, f := range with.Then {
		if e := f.Epilogue(); e != "" {
			n = n.Then(e)
		}
	}
	return n.Applying(w.functionsOf(o, false))
}

// partialOf is a product whose result is partial. Columns that are summed are rows of the weight.
func (w *writer) partialOf(on hostir.StreamRef, s *stage, o schedule.Op, p piece, x hostir.View) hostir.Step {
	weight := w.weight(o)
	if s.left.Columns() {
		x, weight = hostir.Whole(x.Buffer), hostir.Chunk(weight.Buffer, p.rank)
	}
	return hostir.Multiply(on, indices[kind(o.Name())], w.at(w.named(partial, s.sums), p), x, weight)
}

// rowsAt are a rank's rows of the step's batch in a buffer of all ranks' rows.
func (w *writer) rowsAt(buffer string, rank hostir.Expr) hostir.View {
	return w.at(buffer, ofRank(rank))
}

// at is a piece of the step's batch in a buffer of all ranks' rows.
func (w *writer) at(buffer string, p piece) hostir.View {
	if buffer = w.madeIn(buffer); p.rank.IsZero() {
		return hostir.Whole(buffer)
	}
	cut := hostir.Const(w.fine[buffer])
	switch fine := w.fine[buffer] > 0; {
	case fine && !p.ranks.IsZero():
		return hostir.Chunks(buffer, hostir.Mul(p.rank, cut), hostir.Mul(p.ranks, cut))
	case fine && !p.part.IsZero():
		return hostir.Chunk(buffer, hostir.Add(hostir.Mul(p.rank, cut), p.part))
	case fine:
		return hostir.Chunks(buffer, hostir.Mul(p.rank, cut), cut)
	case !p.ranks.IsZero():
		return hostir.Chunks(buffer, p.rank, p.ranks)
	}
	return hostir.Chunk(buffer, w.chunk(p.rank))
}

// Partial results of several products meet in one sum: each rank makes the first of them, and the others add to it.

// addsTerm says that a function adds partial results, which a product does.
func (d *draft) addsTerm(f schedule.Func) bool {
	return d.schedule.IsTerm(f.Adds())
}

// term finds where such an operation leaves its result. The stage of the other one makes it.
func (c *chain) term(d *draft, i int, path string, o schedule.Op) error {
	if c.widened(o.In[0]) {
		return d.behindColumns(path+".In[0]", o.In[0], o.Out)
	}
	done, err := c.edges.Step(i)
	c.at[o.Out] = done.Made
	return err
}

// products returns the product of an operation. Where it adds to other products, these come first.
func (w *writer) products(on hostir.StreamRef, s *stage, o schedule.Op, p piece, x hostir.View) (nodes []hostir.Node) {
	product := w.product(on, s, o, p, x)
	if o.Out != s.sums && kind(o.Name()) == gradient {
		return w.onto(o, product)
	}
	if o.Out != s.sums {
		return []hostir.Node{product}
	}
	for _, t := range s.terms {
		term := w.partialOf(on, s, t, p, w.at(t.In[0], p))
		if len(nodes) > 0 {
			term = term.Accumulated()
		}
		nodes = append(nodes, term)
	}
	if len(nodes) == 0 {
		return append(nodes, product)
	}
	var adds []hostir.Function // that add partial results
	for _, t := range append(slices.Clone(w.schedule.Terms(o)), o) {
		for i, declared := range w.original.Ops {
			for j, f := range declared.Then {
				if w.addsTerm(f) && (declared.Out == t.Out || w.sumsOnly[declared.Out].sum == t.Out) {
					adds = append(adds, hostir.Function{Op: i, Then: j})
				}
			}
		}
	}
	return append(nodes, product.Accumulated().Described("to what is there").Applying(adds))
}

func into(to hostir.View, products []hostir.Node) (nodes []hostir.Node) {
	for _, n := range products {
		nodes = append(nodes, onStep(n, func(s hostir.Step) hostir.Step { return s.Into(to) }))
	}
	return nodes
}

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
